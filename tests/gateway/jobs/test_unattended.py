"""An unattended run may do what the rules allow, and run the scripts that a user has approved."""

from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import BaseModel

from agent_core.loop.permissions import Answer, Permissions, Proposal
from agent_core.messages import JsonObject, ToolCall, UserMessage
from agent_core.models.llm import ToolSpec
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN, named
from agent_core.skills.library import SkillLibrary
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Acts, Tool, ToolContext, Traits, tool
from agent_core.workspace.provenance import FileLedger
from channels.memory import MemoryChannel
from gateway.permissions.access import Access
from gateway.permissions.addresses import given_in
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Role, Roles
from gateway.permissions.rules import Rules
from gateway.permissions.unattended import UnattendedPermissions
from gateway.permissions.workspaces import Versions
from gateway.store.job import FiringState, Report
from gateway.store.rule import Once
from tests.agent_core.skills.making import library_of, write_skill
from tests.clock import FakeClock
from tests.gateway.bot import PEOPLE
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, a_job, moment
from tests.messages import user

NINE = Once(at=moment("2026-11-23 09:00"))


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    for name in ("chart", "feed"):
        write_skill(tmp_path / "library", name, f"HOW TO {name.upper()}")
    return library_of(tmp_path / "library")


def permissions(library: SkillLibrary, *scripts: str, given: Collection[str] = ()) -> UnattendedPermissions:
    rules = Rules(Policy(), Access(Roles(PEOPLE), [MemoryChannel()], [], FakeClock()))
    versions = Versions(Path("/dev/null"), FakeClock())
    return UnattendedPermissions(rules, versions, library, scripts, given, FileLedger(), most=Role.OWNER)


def a_tool(acts: Acts) -> Tool:
    @tool(acts=acts)
    async def work(skill: str = "") -> str:
        """Work."""
        return "worked"

    return work


def proposal(
    name: str, acts: Acts, *, skill: str = "", person: str = "ann", heard: UserMessage | None = None
) -> Proposal:
    return Proposal(
        call=ToolCall(id="c1", name=name, arguments={"skill": skill}),
        tool=a_tool(acts),
        workspace=Path("/nowhere"),
        session_id="job-abc123",
        chat_id=str(ANN),
        user_id=person,
        messages=[heard or user("report")],
    )


STRANGERS = user("report").model_copy(update={"origin": named("page:a.example")})


@pytest.mark.parametrize(
    ("proposed", "behavior"),
    [
        (proposal("read_file", "read"), "allow"),
        (proposal("web_fetch", "net"), "deny"),
        (proposal("web_fetch", "net", heard=STRANGERS), "deny"),
        (proposal("run_command", "exec"), "deny"),
        (proposal("run_skill_script", "exec", skill="chart"), "allow"),
        (proposal("run_skill_script", "exec", skill="chart", heard=STRANGERS), "allow"),
        (proposal("run_skill_script", "exec", skill="feed"), "deny"),
        (proposal("run_skill_script", "exec", skill="made-up"), "deny"),
        (proposal("run_command", "exec", skill="chart"), "deny"),
        (proposal("run_skill_script", "exec", skill="chart", person="dora"), "deny"),
    ],
)
async def test_what_would_be_asked_is_denied(library: SkillLibrary, proposed: Proposal, behavior: str) -> None:
    decision = await permissions(library, "chart", "made-up").decide(proposed)

    assert decision.behavior == behavior
    assert not decision.request_id


@pytest.mark.parametrize(
    ("url", "name", "behavior"),
    [
        ("https://a.example/feed", "web_fetch", "allow"),
        ("https://A.example/feed#top", "web_fetch", "allow"),
        ("http://a.example/feed", "web_fetch", "deny"),
        ("https://a.example/feed?d=secret", "web_fetch", "deny"),
        ("https://b.example/feed", "web_fetch", "deny"),
        ("https://a.example/feed", "send_to", "deny"),
    ],
)
async def test_what_strangers_had_a_word_in_reads_addresses_that_people_gave(
    library: SkillLibrary, url: str, name: str, behavior: str
) -> None:
    given = given_in("Watch https://a.example/feed and b.example/feed.", [user("watch https://a.example/feed, please")])
    asked = proposal(name, "net", heard=STRANGERS)
    asked = replace(asked, call=ToolCall(id="c1", name=name, arguments={"url": url}))

    assert (await permissions(library, given=given).decide(asked)).behavior == behavior


class Others(Tool):
    """A tool of an external MCP server."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="", parameters={})

    def validate(self, arguments: JsonObject) -> BaseModel:
        return BaseModel()

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        return ToolResult.of("ran", CLEAN)


async def test_what_others_call_by_the_name_of_ours_is_not_approved(library: SkillLibrary) -> None:
    ours = proposal("run_skill_script", "exec", skill="chart")
    theirs = replace(ours, tool=Others(ours.tool.name, Traits(acts="exec")))

    assert (await permissions(library, "chart").decide(theirs)).behavior == "deny"


async def test_why_is_said_to_the_model(library: SkillLibrary) -> None:
    decision = await permissions(library).decide(proposal("run_command", "exec"))

    assert decision.reason.startswith("It runs a program. Nobody can be asked in a scheduled run")


async def test_there_is_never_a_question(library: SkillLibrary) -> None:
    unattended = permissions(library)
    keeps: Permissions = unattended

    assert await keeps.answer("q1", proposal("run_command", "exec")) is Answer.EXPIRED
    await keeps.withdraw("q1")


async def test_the_skill_of_a_job_is_loaded_from_the_start(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot("Drawn.", skills=library)
    await bot.has(a_job(Report(instructions="Draw.", skill="chart"), NINE))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert "HOW TO CHART" in bot.llm.requests[0].system
    assert bot.screen == ["**Report: chart**\n\nDrawn."]


async def test_what_a_chat_has_loaded_is_no_matter_of_its_jobs(start_bot: StartTimedBot, library: SkillLibrary) -> None:
    bot = await start_bot(calls(("load_skill", {"name": "feed"})), "Loaded.", "Drawn.", "Yes.", skills=library)
    await bot.hears("load the feed")
    await bot.has(a_job(Report(instructions="Draw.", skill="chart"), NINE))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert "HOW TO FEED" not in bot.llm.requests[-1].system
    await bot.hears("go on")
    assert "HOW TO FEED" in bot.llm.requests[-1].system
    assert "HOW TO CHART" not in bot.llm.requests[-1].system


async def test_a_skill_of_the_chat_s_own_folder_is_none_that_a_job_follows(
    start_bot: StartTimedBot, library: SkillLibrary
) -> None:
    """Anyone who can write there could change its instructions before each run."""
    bot = await start_bot(skills=library)
    write_skill(bot.home / "workspaces" / "memory_here_ann" / "skills", "own", "OWN")
    await bot.has(a_job(Report(instructions="Draw.", skill="own"), NINE))
    bot.at("2026-11-23 09:00")
    await bot.look()

    assert (await bot.firing("abc123")).state is FiringState.FAILED
    assert "The skill `own` that it follows cannot be used any more." in bot.screen[0]
