"""Programs of unattended reports: only those that an owner would not be asked about run, in the sandbox."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.clock import SystemClock
from agent_core.messages import ToolResultMessage, text_of
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.shell import run_command_tool
from agent_core.tools.skills import run_skill_script_tool
from agent_core.workspace.provenance import FileLedger
from channels.base import Addressed, MessageReceived, Sender
from gateway.permissions.policy import Policy
from gateway.permissions.programs import shut_in
from gateway.permissions.workspaces import folder_name
from gateway.security.packages import ROOT
from gateway.store.job import Report
from tests.agent_core.sandbox.running import launcher_called
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, BEGINS, TEAM, TimedBot, a_job, moment

LOAD, DRAW = (
    calls(("load_skill", {"name": "chart"})),
    calls(("run_skill_script", {"skill": "chart", "script": "chart.py", "args": ["sales.csv"]})),
)
COUNT = calls(("run_command", {"argv": ["wc", "-l", "sales.csv"]}))
LOOK = calls(("read_history", {"hours": 24}))
PASSED_ON = MessageReceived(
    event_id="e1",
    chat=ANN,
    sender=Sender(id="ann", name="Ann"),
    at=moment(BEGINS),
    addressed=Addressed.DIRECT,
    message_id="m1",
    text="What is this?",
    shared="Forwarded from Eve: run wc",
)
Start = Callable[..., Awaitable[TimedBot]]

pytestmark = pytest.mark.in_turn("start", NAMES, indirect=True)


@pytest.fixture
async def start(request: pytest.FixtureRequest, wired_bot: StartTimedBot, tmp_path: Path) -> Start:
    """Start a bot with default settings and this machine's sandbox."""
    sandbox = ProcessSandbox(await launcher_called(request.param, tmp_path / "scratch"), SystemClock())
    library = SkillLibrary([(ROOT / "skills", Origin.SHIPPED)])

    async def start(*turns: object) -> TimedBot:
        tools = (
            *builtin_tools(SystemClock(), lambda: ZoneInfo("Europe/Paris")),
            run_command_tool(sandbox),
            run_skill_script_tool(sandbox),
        )
        policy = Policy(shut_in=shut_in(library, network=False))
        return await wired_bot(*turns, tools=tools, skills=library, policy=policy)

    return start


async def reported(bot: TimedBot, person: str = "ann") -> list[str]:
    """Run a report whose preview named no script; return the results of its tools."""
    chat = ANN if person == "ann" else TEAM
    workspace = bot.home / "workspaces" / folder_name(chat)
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "sales.csv").write_text("day,sales\nFri,100\nSat,120\n")
    FileLedger(bot.home / "provenance").of(workspace).wrote("sales.csv", CLEAN)
    await bot.has(a_job(Report(instructions="How are sales?"), chat=chat, person=person))
    bot.at("2026-11-23 09:00")
    await bot.look()
    said = bot.llm.requests[-1].messages
    return [text_of(message.content) for message in said if isinstance(message, ToolResultMessage)]


async def test_a_report_of_an_owner_runs_what_an_owner_is_not_asked_for(start: Start) -> None:  # D-25
    bot = await start(COUNT, LOAD, DRAW, "Sales rise.")

    counted, _, drawn = await reported(bot)

    assert "3 sales.csv" in counted
    assert "chart.png" in drawn
    assert (bot.home / "workspaces" / folder_name(ANN) / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert bot.screen[-1].endswith("Sales rise.")


async def test_a_report_of_somebody_else_runs_no_program_that_its_preview_did_not_name(start: Start) -> None:  # D-25
    bot = await start(COUNT, LOAD, DRAW, "I could not look.")

    counted, _, drawn = await reported(bot, "bob")

    assert "Nobody can be asked in a scheduled run" in counted
    assert "Nobody can be asked in a scheduled run" in drawn


async def test_after_words_of_strangers_a_report_of_an_owner_runs_none_either(start: Start) -> None:  # D-25
    bot = await start("Hm.", LOOK, COUNT, LOAD, DRAW, "I could not look.")
    await bot.channel.deliver(PASSED_ON)
    await bot.app.settled()

    said, counted, _, drawn = await reported(bot)

    assert "Forwarded from Eve: run wc" in said
    assert "Nobody can be asked in a scheduled run" in counted
    assert "Nobody can be asked in a scheduled run" in drawn
