"""Compaction: keeping a conversation within the model's window."""
