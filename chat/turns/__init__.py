"""A running turn: the loop, tool execution, recording, the runner that owns its tasks."""
