"""The audit file records actions and approvals; no run waits for it or fails with it."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_core.events import ToolExecutionEnd, ToolExecutionStart
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolFailed, tool
from channels.base import OutboundMessage
from channels.memory import NO_PACE, MemoryChannel
from gateway.records.audit import LONGEST, AuditLog, without_secret_values
from gateway.security.secrets import Secrets
from gateway.store.question import Question
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock, OffsetClock
from tests.gateway.approving import CHART, RUN, asked, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import Calendar


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    """Start bots on a platform without rate limits."""

    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


CANARY = "sk-0123456789-abcdef"


@tool()
async def look(what: str) -> str:
    """Look at something."""
    return f"{what} is there"


def lines(home: Path) -> list[dict[str, object]]:
    """Return the lines of all days, oldest first."""
    files = sorted((home / "audit").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


async def written(bot: Bot, count: int) -> list[dict[str, object]]:
    """Return the lines after the program has stopped, when all of them are written."""
    await bot.stop()
    found = lines(bot.home)
    assert len(found) == count, found
    return found


async def test_a_call_is_a_line_when_it_is_to_be_made_and_one_for_how_it_came_out(wired_bot: StartBot) -> None:
    bot = await wired_bot(calls(("look", {"what": "东京"})), "There.", tools=(look,))  # S2-36
    await bot.hears("look")

    begun, ended = await written(bot, 2)
    same = {"chat": "memory:here:ann", "person": "memory:ann", "call": "call_1", "tool": "look"}
    assert {**begun, **same, "status": "pending", "arguments": '{"what": "东京"}'} == begun
    assert {**ended, **same, "status": "ok", "result": "东京 is there", "attempts": 1} == ended
    assert begun["run"] == ended["run"]
    assert datetime.fromisoformat(str(ended["at"])).tzinfo is UTC
    assert isinstance(ended["duration_ms"], int)
    [file] = (bot.home / "audit").iterdir()
    assert file.name == f"{str(ended['at'])[:10]}.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_a_call_that_fails_says_why(start_bot: StartBot) -> None:
    @tool()
    async def broken() -> str:
        """Fail."""
        raise ToolFailed("there is no such thing", "look elsewhere")

    bot = await start_bot(calls(("broken", {})), "No.", tools=(broken,))
    await bot.hears("go")

    ended = (await written(bot, 2))[1]
    assert (ended["status"], ended["failure"]) == ("error", "tool_runtime_error")  # S3-33
    assert ended["error"] == "Error: there is no such thing. Next: look elsewhere"


async def test_who_approved_a_call_and_who_denied_one_is_said(start_bot: StartBot) -> None:
    run, _ = recorder()
    bot = await start_bot(CHART, "Done.", CHART, "I leave it.", tools=(run,))
    await bot.hears(f"/approve {await asked(bot)}")
    await bot.hears(f"/deny {await asked(bot)}")

    found = await written(bot, 6)
    assert [line["status"] for line in found] == ["pending", "asked", "ok", "pending", "asked", "denied"]
    assert [(line.get("decision"), line.get("decided_by")) for line in found if "decision" in line] == [
        ("approved", "memory:ann"),
        ("denied", "memory:ann"),
    ]


async def test_what_nobody_answers_in_time_was_decided_by_nobody(start_bot: StartBot) -> None:
    clock = Calendar()
    run, _ = recorder()
    bot = await start_bot(CHART, "Then not.", tools=(run,), clock=clock)
    await asked(bot)
    clock.advance(24 * 3600)
    await bot.app.settled()

    ended = (await written(bot, 3))[2]
    assert (ended["status"], ended["decision"], ended["decided_by"]) == ("denied", "expired", "nobody")


async def test_what_nobody_has_decided_yet_is_not_said_to_be_approved(tmp_path: Path) -> None:
    asked = OutboundMessage(markdown="May I?")
    question = Question("abcdef", RUN.id, RUN.session, "c", RUN.chat, "ann", "run", "f", "it", "en", 1.0, 2.0)
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        store.runs.begin(RUN)
        await store.approvals.ask(question, asked, lambda _: asked)
        audit = AuditLog(tmp_path, store, FakeClock(), Secrets())
        audit.begin()
        stopped = ToolExecutionEnd(
            tool_call_id="c", tool_name="run", result=ToolResult.of("stopped \ud800", CLEAN), is_error=True, attempts=0
        )
        audit.ended(RUN, stopped, question.id)
        await audit.close()

    assert [line for line in lines(tmp_path) if "decision" in line or "decided_by" in line] == []
    assert len(lines(tmp_path)) == 1  # whatever the line contains


async def test_secrets_and_long_results_are_not_written_whole(start_bot: StartBot) -> None:
    @tool()
    async def tell() -> str:
        """Tell."""
        return f"{CANARY} " + "x" * 3 * LONGEST

    secrets = Secrets([CANARY])
    bot = await start_bot(calls(("tell", {}), text=CANARY), "Told.", tools=(tell,), secrets=secrets)
    await bot.hears("tell")
    await bot.stop()

    [file] = (bot.home / "audit").iterdir()
    assert CANARY not in file.read_text()
    assert "[secret]" in file.read_text()
    assert max(len(str(line.get("result", ""))) for line in lines(bot.home)) < LONGEST + 50


async def test_each_day_has_its_file_and_what_is_older_than_thirty_days_goes(start_bot: StartBot) -> None:
    clock = OffsetClock.at(datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp())
    one, two = calls(("look", {"what": "one"})), calls(("look", {"what": "two"}))
    bot = await start_bot(one, "One.", two, "Two.", tools=(look,), clock=clock)
    folder = bot.home / "audit"
    await bot.hears("one")
    await bot.stop()
    for name in ("2026-10-22.jsonl", "2026-10-25.jsonl", "notes.jsonl"):
        (folder / name).touch()
    await bot.restart()
    (folder / "2026-10-24.jsonl").touch()  # old enough tomorrow
    clock.ahead += 24 * 3600
    await bot.hears("two")
    await bot.stop()

    assert sorted(file.name for file in folder.iterdir()) == [
        "2026-10-25.jsonl",
        "2026-11-22.jsonl",
        "2026-11-23.jsonl",
        "notes.jsonl",
    ]
    assert [line.get("result") for line in lines(bot.home) if line["status"] == "ok"] == [
        "one is there",
        "two is there",
    ]


async def test_a_disk_that_takes_nothing_is_said_once_and_stops_no_call(start_bot: StartBot, tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file where the folder should be")
    one, two = calls(("look", {"what": "one"})), calls(("look", {"what": "two"}))
    bot = await start_bot(one, "One.", two, "Two.", tools=(look,))  # S2-05
    await bot.hears("look")

    assert bot.screen == ["One."]
    await bot.stop()
    (tmp_path / "audit").unlink()
    await bot.restart()
    await bot.hears("again")
    found = await written(bot, 3)
    assert [(line["status"], line.get("result")) for line in found] == [
        ("gap", None),
        ("pending", None),
        ("ok", "two is there"),
    ]


async def test_where_it_is_not_wanted_there_is_none(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        audit = AuditLog(tmp_path, store, FakeClock(), Secrets(), enabled=False)
        audit.begin()
        audit.started(RUN, ToolExecutionStart(tool_call_id="c", tool_name="look", label="", args={}))
        await audit.close()

    assert not (tmp_path / "audit").exists()


@pytest.mark.parametrize(
    "name", ["api_key", "apiKey", "X-Api-Key", "token", "access_token", "password", "client_secret", "Authorization"]
)
def test_what_stands_under_the_name_of_a_secret_is_not_written_though_nobody_knows_it(name: str) -> None:
    masked = without_secret_values({"url": "https://a.example", "headers": {name: ["q1w2e3", {"deep": "q1w2e3"}]}})

    assert "q1w2e3" not in str(masked)
    assert "https://a.example" in str(masked)


@pytest.mark.parametrize(
    "name", ["key", "max_tokens", "passenger", "monkey", "text", "tokenizer", "spinach", "keyboard"]
)
def test_what_only_sounds_like_a_secret_is_written(name: str) -> None:
    assert without_secret_values({name: "q1w2e3"}) == {name: "q1w2e3"}
