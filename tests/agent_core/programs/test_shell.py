"""The model runs programs and reads their outcome, however much they print; users see each command."""

import asyncio
import re
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue

from agent_core.agent import Agent
from agent_core.clock import Runtime, SystemClock
from agent_core.context.context import ContextManager
from agent_core.events import ToolExecutionStart
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.messages import JsonObject, text_of
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, calls
from agent_core.origin import named
from agent_core.sandbox.limits import CommandLimits
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tool_result import ToolResult
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.shell import MOST_SECONDS, RESULT_CHARS, run_command_tool
from agent_core.tools.tool import InvalidArguments, Tool, ToolContext, ToolEnvironment, ToolFailed
from agent_core.workspace.outputs import FOLDER, KEPT
from agent_core.workspace.provenance import FileSources
from tests.agent_core.kit import record, results
from tests.agent_core.sandbox.running import (
    LAUNCHERS,
    PlainLauncher,
    RecordingLauncher,
    launcher_called,
    running,
)
from tests.clock import Patient
from tests.process import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.in_turn("launcher", LAUNCHERS, indirect=True),
]

TIME = re.compile(r"\d+\.\d s")
STEPS = {
    "sh": "for n in 1 2; do echo step $n; until [ -e shown-$n ]; do sleep 0.01; done; done",
    "python3": "import os, time\nfor n in 1, 2:\n  print(f'step {n}')\n  "
    "while not os.path.exists(f'shown-{n}'): time.sleep(0.01)",
}
"""Programs that go on with the next step once the one before is shown."""


@pytest.fixture
async def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecordingLauncher:
    return RecordingLauncher(await launcher_called(request.param, tmp_path_factory.mktemp("scratch")))


@pytest.fixture
def run_command(launcher: RecordingLauncher) -> Tool:
    return run_command_tool(
        ProcessSandbox(launcher, SystemClock()), limits=lambda: CommandLimits(output_bytes=1_000_000)
    )


async def run(
    tool: Tool,
    workspace: Path,
    *argv: str,
    on_update: Callable[[ToolResult], None] = lambda _: None,
    **more: JsonValue,
) -> ToolResult:
    context = ToolContext("1", ToolEnvironment("s", workspace), on_update=on_update)
    arguments: JsonObject = {"argv": list(argv), **more}
    return await tool.execute(tool.validate(arguments), context)


def said(result: ToolResult) -> str:
    """Return the text the model reads, with all durations made equal."""
    return TIME.sub("1.0 s", text_of(result.content))


async def test_a_short_output_is_all_in_the_result(run_command: Tool, tmp_path: Path) -> None:
    result = await run(run_command, tmp_path, "echo", "Grüße", "你好")

    assert said(result) == "[exit code 0, 1.0 s]\nGrüße 你好"
    assert not result.is_error
    assert list((tmp_path / FOLDER).iterdir()) == []


async def test_a_failure_is_told_with_all_that_was_said(run_command: Tool, tmp_path: Path) -> None:  # S0-17
    result = await run(run_command, tmp_path, "sh", "-c", "echo half done; echo it broke >&2; exit 7")

    assert said(result) == "[exit code 7, 1.0 s]\nhalf done\nit broke"
    assert result.is_error


async def test_silence_is_told(run_command: Tool, tmp_path: Path) -> None:
    assert said(await run(run_command, tmp_path, "true")) == "[exit code 0, 1.0 s]\n[no output]"


async def test_what_arrives_while_a_program_runs_is_in_its_output_and_in_what_it_writes(
    run_command: Tool, tmp_path: Path
) -> None:
    files, hers = FileSources(tmp_path), named("page:eve.example")
    context = ToolContext("1", ToolEnvironment("s", tmp_path, files=files))
    copies = "echo > begun; until [ -s sent.txt ]; do sleep 0.05; done; cp sent.txt copy.txt; cat copy.txt"
    run_ = asyncio.create_task(run_command.execute(run_command.validate({"argv": ["sh", "-c", copies]}), context))
    await until((tmp_path / "begun").exists)
    (tmp_path / "sent.txt").write_text("obey")
    files.wrote("sent.txt", hers)
    result = await run_

    assert "obey" in said(result)
    assert result.origin == hers
    assert files.of(["copy.txt"]) == hers


async def test_a_workspace_that_does_not_exist_is_made(run_command: Tool, tmp_path: Path) -> None:
    result = await run(run_command, tmp_path / "chats" / "1", "pwd")

    assert said(result).endswith("/chats/1")


async def test_a_long_output_is_told_by_its_ends_and_kept_whole(run_command: Tool, tmp_path: Path) -> None:
    text = said(await run(run_command, tmp_path, "seq", "1", "20000"))

    assert len(text) <= RESULT_CHARS
    assert text.startswith("[exit code 0, 1.0 s]\n1\n2\n3\n")
    assert text.endswith("\n19999\n20000")
    assert "[... cut; the whole, 108,894 bytes, is in .output/1.txt ...]" in text
    assert (tmp_path / ".output/1.txt").read_text() == "".join(f"{number}\n" for number in range(1, 20_001))


@pytest.mark.parametrize("lines", [1500, 1550, 1600, 30_000, 100_000])
async def test_whatever_its_length_the_result_keeps_its_size(run_command: Tool, tmp_path: Path, lines: int) -> None:
    text = said(await run(run_command, tmp_path, "seq", "1", str(lines)))

    assert len(text) <= RESULT_CHARS
    assert text.endswith(str(lines))
    assert ("cut; the whole" in text) == (tmp_path / FOLDER / "1.txt").exists()


async def test_one_endless_line_is_told_by_its_ends(run_command: Tool, tmp_path: Path) -> None:
    text = said(await run(run_command, tmp_path, "sh", "-c", "head -c 900000 /dev/zero | tr '\\0' x; echo end"))

    assert len(text) <= RESULT_CHARS
    assert text.endswith("xxxend")


async def test_endless_output_is_stopped_and_told(run_command: Tool, tmp_path: Path) -> None:
    result = await run(run_command, tmp_path, "yes", "no")

    assert said(result).startswith("[killed for saying more than 1,000,000 bytes, 1.0 s]\nno\nno\n")
    assert result.is_error


async def test_a_command_that_takes_too_long_is_told_with_what_it_said(
    launcher: RecordingLauncher, tmp_path: Path
) -> None:
    def has_begun() -> bool:
        return any(each.stat().st_size for each in (tmp_path / FOLDER).glob("*.txt"))

    run_command = run_command_tool(ProcessSandbox(launcher, Patient({1: has_begun})))
    result = await run(run_command, tmp_path, "sh", "-c", "echo begun; sleep 60", seconds=1)

    assert said(result) == (
        "[killed at its time limit of 1 s, 1.0 s]\nbegun\n"
        "[Do less in one command, or give it more `seconds`, at most 600.]"
    )
    assert result.is_error


async def test_times_without_sense_become_the_nearest_that_may_be(
    run_command: Tool, launcher: RecordingLauncher, tmp_path: Path
) -> None:
    for seconds in (-5, 10**9):
        await run(run_command, tmp_path, "true", seconds=seconds)
    await run(run_command, tmp_path, "true")

    assert [command.limits.seconds for command in launcher.launched] == [1, MOST_SECONDS, CommandLimits().seconds]


@pytest.mark.parametrize(("script", "name"), [("kill -9 $$", "SIGKILL"), ("kill -SEGV $$", "SIGSEGV")])
async def test_a_signal_is_told_by_its_name(run_command: Tool, tmp_path: Path, script: str, name: str) -> None:
    result = await run(run_command, tmp_path, "sh", "-c", script)

    assert f"ended by {name}" in said(result)
    assert result.is_error


async def test_escape_sequences_and_progress_bars_are_not_told(run_command: Tool, tmp_path: Path) -> None:
    script = r"printf '\033[31mred\033[0m\n 10 %%\r 20 %%\r100 %%\n\033]0;title\007done\n'"

    assert said(await run(run_command, tmp_path, "sh", "-c", script)).endswith("\nred\n100 %\ndone")


async def test_binary_output_is_kept_and_not_told(run_command: Tool, tmp_path: Path) -> None:
    text = said(await run(run_command, tmp_path, "head", "-c", "3000", "/dev/zero"))

    assert text == "[exit code 0, 1.0 s]\n[3,000 bytes of binary output, kept in .output/1.txt]"
    assert (tmp_path / FOLDER / "1.txt").stat().st_size == 3000


async def test_output_that_is_no_utf_8_is_still_told(run_command: Tool, tmp_path: Path) -> None:
    text = said(await run(run_command, tmp_path, "printf", r"caf\351\n"))

    assert text.endswith("caf\N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize("program", STEPS)
async def test_what_it_says_is_shown_as_it_comes(run_command: Tool, tmp_path: Path, program: str) -> None:
    shown: list[str] = []

    def show(partial: ToolResult) -> None:
        shown.append(said(partial))
        (tmp_path / f"shown-{len(shown)}").touch()

    await run(run_command, tmp_path, program, "-c", STEPS[program], on_update=show)

    assert shown == ["step 1", "step 2"]


async def test_only_the_newest_outputs_are_kept(run_command: Tool, tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    for number in range(1, 31):
        (folder / f"{number}.txt").write_text("old")
    (folder / "mine.txt").write_text("not ours")

    text = said(await run(run_command, tmp_path, "seq", "1", "20000"))

    assert ".output/31.txt" in text
    kept = {path.name for path in folder.iterdir()}
    assert kept == {"mine.txt", *(f"{number}.txt" for number in range(32 - KEPT, 32))}


async def test_commands_at_once_keep_their_outputs_apart(run_command: Tool, tmp_path: Path) -> None:
    runs = [run(run_command, tmp_path, "seq", str(number), str(number + 20_000)) for number in range(4)]

    texts = [said(result) for result in await asyncio.gather(*runs)]

    for number, text in enumerate(texts):
        name = re.search(r"is in (\.output/\d+\.txt)", text)
        assert name
        assert (tmp_path / name[1]).read_text().startswith(f"{number}\n")
        assert text.endswith(f"\n{number + 20_000}")


@pytest.mark.parametrize("hostile", ["link", "file", "full"])
async def test_whatever_stands_in_place_of_the_outputs_nothing_outside_changes(
    run_command: Tool, tmp_path: Path, hostile: str
) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "1.txt").write_text("untouched")
    match hostile:
        case "link":
            (workspace / FOLDER).symlink_to(outside)
        case "file":
            (workspace / FOLDER).write_text("in the way")
        case _:
            (workspace / FOLDER).mkdir()
            (workspace / FOLDER / "999999999.txt").symlink_to(outside / "1.txt")

    for _ in range(2):
        assert said(await run(run_command, workspace, "seq", "1", "20000")).endswith("20000")

    assert {path.name: path.read_text() for path in outside.iterdir()} == {"1.txt": "untouched"}


async def test_an_output_that_the_command_swaps_for_a_link_is_not_read(run_command: Tool, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    workspace = tmp_path / "workspace"

    text = said(await run(run_command, workspace, "sh", "-c", "cd .output; rm 1.txt; ln -s ../../secret 1.txt; echo x"))

    assert text == "[exit code 0, 1.0 s]\n[the command took away or replaced the file of its output]"
    assert (tmp_path / "secret").read_text() == "secret"


async def test_a_program_that_does_not_exist(run_command: Tool, tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match=r"^there is no program no-such-program"):
        await run(run_command, tmp_path, "no-such-program", "--help")

    assert list((tmp_path / FOLDER).iterdir()) == []


@pytest.mark.parametrize("argv", [(), ("",), ("echo", "a\0b"), ("echo", "\ud800"), ("\0",)])
async def test_arguments_that_no_program_can_get_are_refused(
    run_command: Tool, launcher: RecordingLauncher, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    with pytest.raises(ToolFailed):
        await run(run_command, tmp_path, *argv)

    assert launcher.launched == []


async def test_more_arguments_than_a_program_can_get(run_command: Tool, tmp_path: Path) -> None:
    assert said(await run(run_command, tmp_path, "echo", *map(str, range(1000)))).endswith(" 998 999")
    try:
        result = await run(run_command, tmp_path, "echo", "x" * 3_000_000)
    except ToolFailed as failure:
        told = failure.fact
    else:
        told = said(result)
    assert "rgument list too long" in told


@pytest.mark.parametrize("arguments", [{}, {"argv": "echo x"}, {"argv": [["echo"]]}, {"argv": ["echo"], "shell": True}])
def test_other_shapes_of_arguments_are_refused(run_command: Tool, arguments: JsonObject) -> None:
    with pytest.raises(InvalidArguments):
        run_command.validate(arguments)


@pytest.mark.in_turn("launcher", NAMES, indirect=True)
async def test_what_stands_outside_the_workspace_is_not_there(
    run_command: Tool, launcher: RecordingLauncher, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspaces" / "chat"
    (tmp_path / ".env").write_text("TOKEN=secret")
    (tmp_path / "parley.db").write_text("secret")

    for path in ("../../.env", str(tmp_path / ".env"), str(tmp_path / "parley.db")):
        result = await run(run_command, workspace, "cat", path)
        assert result.is_error, path
        assert "secret" not in said(result)
    listed = await run(run_command, workspace, "ls", "-a", str(tmp_path))
    assert ".env" not in said(listed)


async def test_a_cancelled_command_is_gone_with_its_output(run_command: Tool, tmp_path: Path) -> None:
    marker = f"marker{uuid4().hex}"
    task = asyncio.create_task(run(run_command, tmp_path, "sh", "-c", f"echo x; sleep 60; : {marker}"))
    await until(lambda: running(marker))

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await until(lambda: not running(marker))
    assert list((tmp_path / FOLDER).iterdir()) == []


async def test_it_is_stopped_with_its_run(run_command: Tool, tmp_path: Path) -> None:
    marker = f"marker{uuid4().hex}"
    llm = ScriptedLlm(calls(("run_command", {"argv": ["sh", "-c", f"sleep 60; : {marker}"]})), "never said")
    tools, clock, ids = ToolRegistry([run_command]), SystemClock(), count()
    context = ContextManager(tools)
    runtime = Runtime(clock, lambda: f"id-{next(ids)}")
    loop = AgentLoop(Models(llm, SCRIPTED_MODEL), context, ToolSetup(tools), runtime=runtime)
    agent = Agent(loop, context, ToolEnvironment("chat", tmp_path))

    running_task = asyncio.create_task(record(agent.stream("go")))
    await until(lambda: running(marker))
    agent.abort()
    events = await asyncio.wait_for(running_task, 30)

    assert results(events) == ["Operation aborted"]
    await until(lambda: not running(marker))
    labels = [event.label for event in events if isinstance(event, ToolExecutionStart)]
    assert labels == [f"Running sh -c 'sleep 60; : {marker}'"]


def test_it_says_what_it_can_do_at_worst(run_command: Tool) -> None:
    assert (run_command.name, run_command.acts, run_command.untrusted) == ("run_command", "exec", False)  # D-05
    assert (run_command.execution, run_command.retry, run_command.idempotent) == ("sequential", "never", False)


def test_the_model_is_told_whether_there_is_a_network() -> None:
    sandbox = ProcessSandbox(PlainLauncher(), SystemClock())

    assert run_command_tool(sandbox).spec.description.endswith("No network.")
    assert "network" not in run_command_tool(sandbox, network=True).spec.description


async def test_the_network_is_granted_to_the_command(tmp_path: Path) -> None:
    launcher = RecordingLauncher(PlainLauncher())
    sandbox = ProcessSandbox(launcher, SystemClock())
    for network in (False, True):
        await run(run_command_tool(sandbox, network=network), tmp_path, "true")

    assert [command.network for command in launcher.launched] == [False, True]
