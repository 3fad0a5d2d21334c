"""Chats: sessions, conversations, mailboxes and prompts."""
