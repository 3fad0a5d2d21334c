"""All views of what was used tell the same: /usage, /status, /sessions, reports, exports."""

import asyncio
import random
from pathlib import Path

import pytest

from agent_core.models.llm import FailureCause
from agent_core.models.scripted import SCRIPTED_MODEL, Failure
from agent_core.origin import CLEAN
from agent_core.tools.tool import ToolContext, ToolEnvironment
from gateway.records.spending_report import DAYS_OF_WEEK
from gateway.store.archive import Archive
from gateway.store.job import Firing, Report
from gateway.texts.amounts import USD, Unit, amount_words
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import ANN, a_job
from tests.gateway.tasking import Cast, begins, rows

PRICED = SCRIPTED_MODEL.model_copy(update={"input_price": 3.0, "output_price": 15.0})
UNKNOWN = SCRIPTED_MODEL
STEPS = ("hello", "/new", "/btw what is it?", "task", "restart", "lost")


class Talk:
    """A conversation of random steps, each of which is answered."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot

    async def play(self, step: str) -> None:
        bot = self.bot
        match step:
            case "restart":
                await bot.restart()
            case "task":
                bot.llm.add(*Cast(begins("count", background=False), "42.", tasks={"count": ["42 files."]}).turns)
                await bot.hears("count the files")
            case "lost":
                bot.llm.add(Failure(cause=FailureCause.NETWORK, may_be_billed=True), "Here I am.")
                await bot.hears("are you there?")
            case _:
                if not step.startswith("/") or step.startswith("/btw"):
                    bot.llm.add("Well.")
                await bot.hears(step)
        await bot.app.settled()


async def own_usage(bot: Bot) -> str:
    """Return what a job reads of the chat."""
    job = a_job(Report(instructions="Report."), person="bob", chat=ANN)  # of this chat, as Bob is no owner
    tools = bot.made.jobs.tools.of(job, Firing(job=job.id, slot="now", id="f00001", chat=ANN, due=0.0, origin=CLEAN))
    tool = next(each for each in tools if each.name == "own_usage")
    context = ToolContext("call_0", ToolEnvironment("job-1", bot.home, chat_id=str(ANN)))
    result = await tool.execute(tool.validate({"days": DAYS_OF_WEEK}), context)
    return "".join(part.text for part in result.content if part.type == "text")


@pytest.mark.parametrize(("seed", "model"), [(1, PRICED), (2, UNKNOWN)], ids=["known prices", "the ceiling"])
async def test_all_views_tell_the_same(wired_bot: StartBot, seed: int, model: object) -> None:
    bot = await wired_bot(model=model)
    talk, steps = Talk(bot), [*STEPS, "hello"]
    random.Random(seed).shuffle(steps)  # noqa: S311
    for step in steps:
        await talk.play(step)

    [(calls, tokens, cost)] = rows(bot.home, "SELECT count(*), sum(tokens), sum(cost) FROM spending")
    assert isinstance(tokens, int)
    assert isinstance(cost, int)
    words = f"{amount_words(tokens, Unit.TOKENS, 'en')}, {amount_words(cost, Unit.USD, 'en')}"
    for command in ("/usage", "/usage here month"):
        await bot.hears(command)
        assert f"{calls} calls, {words}" in bot.screen[-1]
    await bot.hears("/status")
    assert f"**Used here today:** {words}" in bot.screen[-1]
    assert f": {calls} calls, {tokens:,} tokens, ${cost / USD:,.4f}" in await own_usage(bot)

    [(aside,)] = rows(bot.home, "SELECT sum(cost) FROM spending WHERE run NOT IN (SELECT run FROM runs)")
    assert isinstance(aside, int)  # of /btw, which is part of no conversation
    sessions = await bot.made.base.store.sessions.of(ANN, 100)
    assert round(sum(each.cost_usd for each in sessions) * USD) == cost - aside
    assert round(sum(await asyncio.to_thread(_archived, bot.home)) * USD) == cost - aside
    await bot.hears("/sessions")
    shown = [each.cost_usd for each in sessions[:5]]
    assert all(f"${each:.2f}" in bot.screen[-1] for each in shown if each >= 0.005)


def _archived(home: Path) -> list[float]:
    with Archive.open(home) as archive:
        return [each.cost_usd for each in archive.newest_runs(1_000)]
