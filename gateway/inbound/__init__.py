"""Inbound events: the handler, catch-up and plain-word answers."""
