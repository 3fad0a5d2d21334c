"""Chats as files: the command /export, and `parley export`."""
