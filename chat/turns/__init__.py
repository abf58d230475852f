"""A running turn: the loop, tool execution, recording, and the runner that owns its tasks."""
