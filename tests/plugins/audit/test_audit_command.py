"""/audit lists the last actions in a chat: short, masked, with those who allowed them."""

import re
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from channels.base import Addressed
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.records.audit_actions import last_actions
from tests.gateway.approving import CHART, id_of, questions, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import until

LONG = "word " * 100
CANARY = "0123456789:canary-of-a-token"


@tool()
async def look(what: str, token: str = "") -> str:
    """Look at something."""
    return f"{what} is there"


async def listed(bot: Bot, home: Path, actions: int, words: str = "/audit") -> list[str]:
    """Return the rows of the list once so many actions are recorded."""
    await until(lambda: len(last_actions(home, 100)) >= actions)
    await bot.hears(words)
    return [row.replace("\\", "") for row in bot.screen[-1].split("\n") if row.startswith("- ")]


async def test_a_call_names_those_who_asked_for_it_and_who_allowed_it(start_bot: StartBot, tmp_path: Path) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Done.", CHART, "Not done.", tools=(run,), channel=MemoryChannel(limits=NO_PACE))
    for verb, answer in (("approve", "Done."), ("deny", "Not done.")):
        count = len(questions(bot))
        await bot.channel.hears("@ada draw it", sender=user("bob"), group="birds", addressed=Addressed.MENTION)
        await until(lambda count=count: len(questions(bot)) > count)  # type: ignore[misc]
        await bot.hears(f"/{verb} {id_of(questions(bot)[-1])}", group="birds")
        await until(lambda answer=answer: answer in bot.screen)  # type: ignore[misc]

    newest, before = await listed(bot, tmp_path, 2)
    assert re.search(r"\*\*run\*\* .*chart.py.*: refused, for memory:bob, decided by memory:ann", newest)
    assert re.search(r"\*\*run\*\* .*chart.py.*: done, for memory:bob, decided by memory:ann", before)
    assert len(ran) == 1


async def test_rows_are_short_and_hide_secrets(start_bot: StartBot, tmp_path: Path) -> None:
    hidden = calls(("look", {"what": LONG}), ("look", {"token": "abc123secret", "what": CANARY}))
    bot = await start_bot(hidden, "Fine.", tools=(look,))
    bot.made.base.secrets.add(CANARY)
    await bot.hears("look")
    await bot.hears("/config set personality concise")

    rows = await listed(bot, tmp_path, 3)
    text = "\n".join(rows)
    assert len(rows) == 3
    assert max(map(len, rows)) < 250
    assert "abc123secret" not in text
    assert "canary" not in text
    assert "**config personality** balanced → concise: changed, for memory:ann" in text


@pytest.mark.parametrize("typed", ["0", "-1", "51", "1e309", "lots", "٣", "9" * 400])
async def test_what_is_no_number_of_actions_is_answered_with_the_usage(start_bot: StartBot, typed: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/audit {typed}")
    assert bot.screen == ["Write `/audit`, or `/audit 30` for more: at most 50."]


async def test_as_many_are_listed_as_are_asked_for_newest_first(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot()
    for days in range(20):
        await bot.hears(f"/config set keep_days {days}")

    assert len(await listed(bot, tmp_path, 20)) == 15
    assert len(await listed(bot, tmp_path, 20, "/audit 18")) == 18
    [newest] = await listed(bot, tmp_path, 20, "/audit 1")
    assert "18 → 19" in newest
