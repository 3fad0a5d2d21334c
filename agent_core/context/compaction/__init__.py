"""Keeping a conversation within the model's window: when, by what means, and in which words."""
