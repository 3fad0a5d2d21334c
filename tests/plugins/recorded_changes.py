"""The changes that the audit file has, for tests of plugins."""

import json

from tests.gateway.bot import Bot


async def changes(bot: Bot) -> list[tuple[object, ...]]:
    """Return what was changed by whom, from the audit file, once the bot has ended."""
    await bot.stop()
    files = sorted((bot.home / "audit").glob("*.jsonl"))
    entries = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return [(each["what"], each["details"], each["person"]) for each in entries if each["status"] == "changed"]
