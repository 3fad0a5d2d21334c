"""Platforms on loopback, which speak the protocols of Telegram, Slack and Discord and refuse what those refuse."""
