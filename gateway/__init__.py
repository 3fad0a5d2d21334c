"""Connects chat platforms to the agent: sessions, progress, delivery, commands and the store."""
