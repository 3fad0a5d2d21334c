"""Jobs, the heartbeat and time zones of chats."""
