"""The real SDKs, unmodified, connected to the emulators."""

from telegram import Bot

from parley.testing.emulators.telegram import TelegramEmulator


def telegram_bot(telegram: TelegramEmulator) -> Bot:
    """Create a bot; entering it (`async with`) connects it, with a call of `getMe`."""
    return Bot(telegram.token, base_url=telegram.bot_url, base_file_url=telegram.file_url)
