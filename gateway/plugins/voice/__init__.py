"""Answers that are spoken as well, in chats that ask for it."""
