"""Webhooks: events of other programs that are told in a chat, or looked at by an agent."""
