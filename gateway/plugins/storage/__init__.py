"""The screen of storage."""
