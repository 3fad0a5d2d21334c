"""A browser and Telegram, for the tests of the memory."""

from tests.end_to_end.conftest import browser, telegram

__all__ = ["browser", "telegram"]
