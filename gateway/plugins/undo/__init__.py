"""Taking back what tool calls changed: the command /undo, and what the model is told of it."""
