"""The bot of `parley.testing`, by the name that our own tests have for it."""

from parley.testing.bot import PATIENCE, PEOPLE, Bot, BotOptions

__all__ = ["PATIENCE", "PEOPLE", "Bot", "BotOptions"]
