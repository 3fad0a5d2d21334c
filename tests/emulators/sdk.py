"""The real SDKs, unmodified, pointed at the emulators."""

from telegram import Bot

from tests.emulators.telegram import TelegramEmulator


def telegram_bot(telegram: TelegramEmulator) -> Bot:
    """Enter it (`async with`) to connect; it asks `getMe` then."""
    return Bot(telegram.token, base_url=telegram.bot_url, base_file_url=telegram.file_url)
