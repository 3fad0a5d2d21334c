"""Outgoing messages: the outbox, rate limits, progress and typing."""
