"""What the simulator says on each wire."""
