"""The model gets head and tail of a long tool result; the whole is kept in a file it can read (C-24, S3-15)."""

import re
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent import Agent
from agent_core.clock import Runtime
from agent_core.context.context import ContextManager
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.limits import LoopLimits
from agent_core.loop.repeats import MOST, note_on
from agent_core.loop.results import ResultRoom, fitted
from agent_core.messages import JsonObject, ToolResultMessage, text_of
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import ScriptedLlm, calls
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult
from agent_core.tools.catalogue import file_tools
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import Tool, ToolEnvironment, tool
from agent_core.workspace.outputs import FOLDER, KEPT, MOST_BYTES, keep_text, next_output
from agent_core.workspace.provenance import FileSources
from tests.agent_core.kit import MakeModel
from tests.clock import FakeClock

ROOMY = ModelInfo(id="roomy", context_window=200_000)


def agent_in(
    workspace: Path, *tools: Tool, turns: int = 1, model: ModelInfo = ROOMY, over: MakeModel = ScriptedLlm
) -> Agent:
    """Return an agent whose first answer calls every tool `turns` times."""
    registry = ToolRegistry(tools)
    wanted: list[tuple[str, JsonObject | str]] = [
        (item.name, {"number": number}) for item in tools for number in range(turns)
    ]
    context = ContextManager(registry)
    setup = ToolSetup(registry, redact=lambda text: text.replace("hunter2", "[secret]"))
    loop = AgentLoop(Models(over(calls(*wanted), "ok"), model), context, setup, runtime=Runtime(FakeClock()))
    return Agent(loop, context, ToolEnvironment("chat", workspace))


async def told(agent: Agent) -> list[str]:
    """Return the tool results that the model has read."""
    end = await agent.prompt("go")
    return [text_of(message.content) for message in end.messages if isinstance(message, ToolResultMessage)]


def saying(text: str) -> Tool:
    @tool(execution="parallel")
    async def say(number: int = 0) -> str:
        """Say much."""
        return text

    return say


async def test_a_result_within_its_room_stays_as_it_is_and_leaves_no_file(tmp_path: Path) -> None:  # C-24
    assert await told(agent_in(tmp_path, saying("x" * 20_000))) == ["x" * 20_000]
    assert not (tmp_path / FOLDER).exists()


async def test_a_longer_one_keeps_head_and_tail_and_names_the_file_of_the_whole(
    model_of: MakeModel, tmp_path: Path
) -> None:
    # C-24, S3-15, S0-30
    whole = "head " + "x" * 30_000 + " tail"

    [text] = await told(agent_in(tmp_path, saying(whole), over=model_of))

    assert text.startswith("head x")
    assert text.endswith("x tail")
    assert "[... 10,074 characters cut; the whole is in .output/1.txt ...]" in text
    assert (tmp_path / ".output/1.txt").read_text() == whole


async def test_the_model_reads_the_rest_with_its_own_tool(model_of: MakeModel, tmp_path: Path) -> None:  # S3-15
    [read_file, *_] = [item for item in file_tools() if item.name == "read_file"]
    registry = ToolRegistry([saying("".join(f"line {number}\n" for number in range(5_000))), read_file])
    context = ContextManager(registry)
    reads = calls(("read_file", {"path": ".output/1.txt", "offset": 3_000, "limit": 1}))
    llm = model_of(calls(("say", {})), reads, "ok")
    loop = AgentLoop(Models(llm, ROOMY), context, ToolSetup(registry), runtime=Runtime(FakeClock()))

    told_by = await told(Agent(loop, context, ToolEnvironment("chat", tmp_path)))

    assert "line 2999\n" not in told_by[0]
    assert told_by[1].startswith("line 2999\n")


async def test_all_results_of_one_answer_share_60_000_characters_evenly(tmp_path: Path) -> None:  # C-24
    texts = await told(agent_in(tmp_path, saying("y" * 20_000), turns=10))

    assert sum(map(len, texts)) <= 60_000
    assert all(5_990 < len(text) <= 6_000 for text in texts)
    names = [found[1] for text in texts if (found := re.search(r"the whole is in (\S+)", text))]
    assert len(set(names)) == 10
    assert {(tmp_path / name).read_text() for name in names} == {"y" * 20_000}


async def test_where_the_window_is_small_a_result_is_shorter(tmp_path: Path) -> None:  # C-24
    [text] = await told(agent_in(tmp_path, saying("x" * 20_000), model=ModelInfo(id="small", context_window=8_192)))

    assert len(text) <= 4_096


async def test_five_megabytes_are_kept_and_a_sane_part_is_shown(tmp_path: Path) -> None:  # S3-15
    [text] = await told(agent_in(tmp_path, saying("line\n" * 1_000_000)))

    assert len(text) <= 20_000
    assert (tmp_path / ".output/1.txt").stat().st_size == 5_000_000


async def test_what_no_model_may_see_is_not_in_the_file_either(tmp_path: Path) -> None:  # C-24
    await told(agent_in(tmp_path, saying("a" * 20_000 + "hunter2" + "b" * 20_000)))

    kept = (tmp_path / ".output/1.txt").read_text()
    assert "hunter2" not in kept
    assert "[secret]" in kept


async def test_the_first_thing_in_a_workspace_may_be_a_long_result(tmp_path: Path) -> None:  # S3-15
    [text] = await told(agent_in(tmp_path / "chats" / "new", saying("x" * 30_000)))

    assert "the whole is in .output/1.txt" in text
    assert (tmp_path / "chats/new/.output/1.txt").stat().st_size == 30_000


async def test_a_workspace_that_cannot_be_loses_the_file_and_nothing_else(tmp_path: Path) -> None:  # S3-15
    (tmp_path / "taken").touch()

    [text] = await told(agent_in(tmp_path / "taken", saying("x" * 30_000)))

    assert "[... 10,034 characters cut ...]" in text


async def test_a_link_in_the_place_of_the_folder_leads_nowhere(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (workspace / FOLDER).symlink_to(outside)

    await told(agent_in(workspace, saying("x" * 30_000)))

    assert not list(outside.iterdir())
    assert (workspace / ".output/1.txt").is_file()


def test_results_and_outputs_of_commands_share_numbers_and_the_oldest_go(tmp_path: Path) -> None:  # S3-15
    names = [keep_text(tmp_path, "a") if number % 2 else next_output(tmp_path) for number in range(KEPT + 5)]

    assert names == [f"{FOLDER}/{number}.txt" for number in range(1, KEPT + 6)]
    assert len(list((tmp_path / FOLDER).iterdir())) == KEPT


def test_of_a_text_that_nobody_could_read_whole_the_start_is_kept(tmp_path: Path) -> None:
    assert (tmp_path / keep_text(tmp_path, "好" * 3_000_000)).stat().st_size == MOST_BYTES


@given(size=st.integers(0, 100_000), times=st.integers(1, MOST))
async def test_a_note_on_repetition_takes_its_share_of_the_room(size: int, times: int) -> None:  # C-24
    limits = LoopLimits()
    with tempfile.TemporaryDirectory() as folder:
        result = await fitted(
            ToolResult.of("x" * size, CLEAN),
            ResultRoom(limits, 1),
            Path(folder),
            FileSources(Path(folder)),
            note_on(times),
        )

    assert len(text_of(result.content)) <= min(limits.result_chars, limits.turn_result_chars)
    assert text_of(result.content).endswith(note_on(times))


@given(st.lists(st.integers(0, 1_000_000), min_size=1, max_size=10))
def test_the_room_is_never_more_than_there_is_and_nobody_gets_less_than_an_equal_part(sizes: list[int]) -> None:  # C-24
    limits = LoopLimits()
    room = ResultRoom(limits, len(sizes))

    granted = [room.granted(size) for size in sizes]

    assert sum(granted) <= limits.turn_result_chars
    part = min(limits.result_chars, limits.turn_result_chars // len(sizes))
    assert all(given >= min(size, part) for given, size in zip(granted, sizes, strict=True))
