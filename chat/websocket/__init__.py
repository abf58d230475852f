"""The websocket: consumer, frame parsing, one handler per frame."""
