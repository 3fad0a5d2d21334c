"""The reports that ship with Parley work unattended and without any account."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.messages import JsonObject, ToolResultMessage, text_of
from agent_core.models.scripted import calls
from agent_core.origin import NOT_KNOWN
from agent_core.sandbox.process import ProcessSandbox
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.skills import run_skill_script_tool
from agent_core.tools.web.fetch import Fetcher
from agent_core.tools.web.tools import web_fetch_tool
from channels.attachments import Attachment
from channels.base import ChatKey
from gateway.permissions.addresses import given_in
from gateway.security.packages import ROOT
from gateway.store.job import FiringState, Job, Report
from tests.agent_core.sandbox.running import PlainLauncher
from tests.agent_core.web.site import Site, sends
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM, TimedBot, a_job
from tests.messages import user

NOTHING = calls(("nothing_to_report", {"why": "nothing new"}))
StartShipped = Callable[..., Awaitable[TimedBot]]


@pytest.fixture
def start_shipped(start_bot: StartTimedBot) -> StartShipped:
    """Start a bot with the skills and tools that ship with Parley, without a sandbox."""

    async def start(*turns: object, fetcher: Fetcher | None = None) -> TimedBot:
        scripts = run_skill_script_tool(ProcessSandbox(PlainLauncher(), SystemClock()))
        tools = (*builtin_tools(SystemClock()), scripts, web_fetch_tool(fetcher or Fetcher()))
        return await start_bot(*turns, tools=tools, skills=SkillLibrary([(ROOT / "skills", Origin.SHIPPED)]))

    return start


def report(skill: str, instructions: str, *scripts: str, chat: ChatKey = ANN) -> Job:
    return a_job(Report(instructions=instructions, skill=skill), chat=chat, scripts=scripts)


async def comes(bot: TimedBot, job: Job, local: str = "2026-11-23 09:00") -> None:
    bot.at(local)
    await bot.look()


def brought(bot: TimedBot) -> list[str]:
    """Return the tool results in the model's last request."""
    said = bot.llm.requests[-1].messages
    return [text_of(message.content) for message in said if isinstance(message, ToolResultMessage)]


def sent(bot: TimedBot) -> list[tuple[str, bytes]]:
    return [read(file) for _, message in bot.channel.posts for file in message.attachments]


def read(file: Attachment) -> tuple[str, bytes]:
    return file.name, Path(file.path).read_bytes()[:8]


def keep(bot: TimedBot, name: str, text: str) -> None:
    path = Path(bot.home) / "workspaces" / "memory_here_ann" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def recent(*arguments: str) -> object:
    return calls(("run_skill_script", {"skill": "daily-report", "script": "recent.py", "args": [*arguments]}))


def draws(*arguments: str) -> object:
    return calls(("run_skill_script", {"skill": "chart", "script": "chart.py", "args": [*arguments]}))


LOAD_CHART = calls(("load_skill", {"name": "chart"}))


async def test_a_report_over_notes_comes_with_a_chart_of_the_numbers_that_changed(
    start_shipped: StartShipped,
) -> None:
    bot = await start_shipped(
        recent("notes"),
        LOAD_CHART,
        draws("notes/sales.csv", "report.png"),
        calls(("send_file", {"path": "report.png"})),
        "Sales fell from 120 to 90 (notes/sales.csv).",
    )
    keep(bot, "notes/sales.csv", "day,sales\nFri,100\nSat,120\nSun,90\n")
    job = report("daily-report", "Report on the folder notes.", "daily-report", "chart")
    await bot.has(job)

    await comes(bot, job)

    assert any(line.endswith("; changed: sales 120 -> 90") for line in brought(bot)[0].splitlines())
    assert bot.screen == ["**What is new in your notes**\n\nSales fell from 120 to 90 (notes/sales.csv)."]
    assert sent(bot) == [("report.png", b"\x89PNG\r\n\x1a\n")]


async def test_a_report_over_notes_says_nothing_where_nothing_is_new(start_shipped: StartShipped) -> None:
    bot = await start_shipped(recent("notes"), NOTHING)
    keep(bot, "notes/old.md", "# Old")
    os.utime(Path(bot.home) / "workspaces/memory_here_ann/notes/old.md", (0, 0))
    job = report("daily-report", "Report on the folder notes.", "daily-report")
    await bot.has(job)

    await comes(bot, job)

    assert bot.screen == []
    assert (await bot.firing(job)).state is FiringState.NOTHING


async def test_a_digest_of_the_chat_reads_its_own_last_day(start_shipped: StartShipped) -> None:
    bot = await start_shipped("Noted.", calls(("read_history", {"hours": 24})), "**In short:** launch on Friday.")
    await bot.hears("we launch on Friday", group="team", sender="bob")
    job = report("chat-digest", "Sum up the last day.", chat=TEAM)
    await bot.has(job)

    await comes(bot, job)

    assert "Bob: we launch on Friday" in brought(bot)[0]
    assert "Parley: Noted." in brought(bot)[0]
    assert bot.channel.screen_of(TEAM)[-1] == "**What was said here**\n\n**In short:** launch on Friday."


def feed(*titles: str) -> str:
    items = (f"<item><title>{title}</title><link>/{title}</link></item>" for title in titles)
    return f"<rss><channel><title>Blog</title>{''.join(items)}</channel></rss>"


def compares(*titles: str) -> list[object]:
    lines = "".join(f"- [{title}](http://blog.example/{title})\n" for title in titles)
    compare: JsonObject = {"skill": "page-watch", "script": "new.py", "args": ["watch/blog"]}
    kept: JsonObject = {"path": "watch/blog.now", "content": lines}
    return [calls(("write_file", kept)), calls(("run_skill_script", compare))]


async def test_a_feed_is_watched_and_only_what_is_new_is_told(start_shipped: StartShipped) -> None:
    async with Site({"/feed": sends(feed("one").encode(), "application/rss+xml")}) as site:
        read = calls(("web_fetch", {"url": f"{site.url}/feed"}))
        bot = await start_shipped(
            *(read, *compares("one"), "I watch it from now on."),
            *(read, *compares("one"), NOTHING),
            *(read, *compares("two", "one"), "New: two."),
            fetcher=Fetcher(site.may_reach),
        )
        words = f"Watch {site.url}/feed and tell what is new."
        job = replace(report("page-watch", words, "page-watch"), given=given_in(words, [user(words)]))
        await bot.has(job)

        await comes(bot, job)
        assert f"- [one]({site.url}/one)" in brought(bot)[0]
        assert "First look: 1 lines are kept" in brought(bot)[-1]
        await comes(bot, job, "2026-11-24 09:00")
        site.pages["/feed"] = sends(feed("two", "one").encode(), "application/rss+xml")
        await comes(bot, job, "2026-11-25 09:00")

    assert "\n1 new:\n- [two](http://blog.example/two)\n" in brought(bot)[-1]
    assert [text.partition("\n\n")[2] for text in bot.screen] == ["I watch it from now on.", "New: two."]


async def test_a_page_that_somebody_gave_is_watched_though_strangers_had_a_word(start_shipped: StartShipped) -> None:
    async with Site({"/feed": sends(feed("one").encode(), "application/rss+xml")}) as site:
        read, elsewhere = (calls(("web_fetch", {"url": f"{site.url}/{path}"})) for path in ("feed", "else"))
        bot = await start_shipped(read, elsewhere, *compares("one"), "I watch it.", fetcher=Fetcher(site.may_reach))
        words = f"Watch {site.url}/feed and tell what is new."
        given = given_in(words, [user(words)])
        job = replace(report("page-watch", words, "page-watch"), origin=NOT_KNOWN, given=given)
        await bot.has(job)
        await comes(bot, job)

    assert f"- [one]({site.url}/one)" in brought(bot)[0]
    assert "Nobody can be asked" in brought(bot)[1]
    assert "First look" in brought(bot)[-1]


async def test_parley_s_own_usage_is_drawn(start_shipped: StartShipped) -> None:
    bot = await start_shipped(
        "Hello.",
        calls(("own_usage", {"days": 14})),
        calls(("write_file", {"path": "usage.csv", "content": "day,tokens\n2026-11-22,10\n2026-11-23,30\n"})),
        LOAD_CHART,
        draws("usage.csv", "usage.png", "--x", "day", "--y", "tokens", "--title", "Tokens a day"),
        calls(("send_file", {"path": "usage.png"})),
        "3,000 tokens.",
    )
    await bot.hears("hi")
    job = report("usage-report", "How much was used?", "chart")
    await bot.has(job)

    await comes(bot, job)

    assert "Used by Parley in all chats, 2026-11-10 to 2026-11-23 (Europe/Paris): 2 calls, " in brought(bot)[0]
    assert bot.screen[-1] == "**What I have used**\n\n3,000 tokens."
    assert sent(bot) == [("usage.png", b"\x89PNG\r\n\x1a\n")]
