"""Where the platforms and the agent meet: sessions, progress, delivery, commands, the store."""
