"""Approvals with "Always here" are bound to the shown call and to all it could run; any change ends them."""

from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.shell import run_command_tool
from agent_core.tools.tool import Tool, tool
from agent_core.workspace.provenance import FileLedger
from channels.memory import NO_PACE, MemoryChannel
from gateway.permissions.binding import MOST_ENTRIES
from gateway.permissions.programs import Runs, what_runs
from gateway.permissions.workspaces import folder_name
from tests.agent_core.sandbox.running import launcher_called
from tests.gateway.approving import asked, id_of, last_result, questions, states
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

TIDY = calls(("run_command", {"argv": ["sh", "tidy.sh"]}))


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


def programs(*, untrusted: bool = False) -> tuple[Tool, list[str]]:
    """Return a tool called `run_command` that runs nothing, and the contents of each script it was asked to run."""
    ran: list[str] = []
    where: dict[str, Path] = {}

    @tool(acts="exec", untrusted=untrusted)
    async def run(argv: list[str]) -> str:
        """Run a program."""
        script = where["workspace"] / argv[-1]
        ran.append(script.read_text() if script.exists() else argv[-1])
        return "done"

    run.name = "run_command"
    run.where = where  # type: ignore[attr-defined]
    return run, ran


async def opened(start_bot: StartBot, run: Tool, *turns: object) -> tuple[Bot, Path]:
    bot = await start_bot(*turns, tools=(run,))
    workspace = bot.home / "workspaces" / folder_name(bot.channel.chat())
    workspace.mkdir(parents=True, exist_ok=True)
    run.where["workspace"] = workspace  # type: ignore[attr-defined]
    (workspace / "tidy.sh").write_text("echo tidy")
    return bot, workspace


def labels(bot: Bot) -> list[str]:
    return [button.label for row in questions(bot)[-1].buttons for button in row]


# The approved program is the one that runs


async def test_a_script_that_changes_while_its_question_waits_is_asked_for_again(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Done.")
    request = await asked(bot)

    (workspace / "tidy.sh").write_text("rm -rf .")
    await bot.channel.hears(f"/approve {request}")
    await bot.channel.until(lambda: bool(questions(bot)) and id_of(questions(bot)[-1]) != request)

    assert ran == []
    await bot.channel.until(lambda: any("have changed since you were asked: `sh tidy.sh`" in it for it in bot.screen))
    assert "The files involved have changed since it was approved." in questions(bot)[-1].markdown
    await bot.hears("yes")
    assert ran == ["rm -rf ."]
    assert states(bot.home) == ["withdrawn", "used"]


async def test_the_words_of_a_shell_name_files_too(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(
        start_bot, run, calls(("run_command", {"argv": ["sh", "-c", "cat notes; sh tidy.sh"]})), "Done."
    )
    request = await asked(bot)

    (workspace / "tidy.sh").write_text("rm -rf .")
    await bot.channel.hears(f"/approve {request}")
    await bot.channel.until(lambda: bool(questions(bot)) and id_of(questions(bot)[-1]) != request)

    assert ran == []
    await bot.hears("no")


# Approving always


async def test_what_is_always_allowed_is_not_asked_for_again(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, _ = await opened(start_bot, run, TIDY, "Done.", TIDY, "Done again.")
    await asked(bot)
    assert labels(bot) == ["Allow once", "Always here", "Deny"]

    await bot.channel.presses("Always here")
    await bot.app.settled()
    await bot.hears("tidy up")

    assert ran == ["echo tidy", "echo tidy"]
    assert bot.screen[-1] == "Done again."
    assert states(bot.home) == ["used"]


async def test_a_rule_ends_when_the_file_changes_and_does_not_come_back(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Done.", TIDY, "Not done.", TIDY, "Nor now.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    for content in ("rm -rf .", "echo tidy"):
        (workspace / "tidy.sh").write_text(content)
        await asked(bot)
        assert "the files involved have changed since" in questions(bot)[-1].markdown or content == "echo tidy"
        await bot.hears("no")

    assert ran == ["echo tidy"]
    assert states(bot.home) == ["used", "denied", "denied"]


async def test_other_arguments_and_other_people_are_asked(start_bot: StartBot) -> None:
    run, ran = programs()
    other = calls(("run_command", {"argv": ["sh", "tidy.sh", "--all"]}))
    bot, _ = await opened(start_bot, run, TIDY, "Done.", other, "No.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    await asked(bot)
    await bot.hears("no")

    assert ran == ["echo tidy"]


async def test_a_rule_is_only_its_person_s(start_bot: StartBot) -> None:
    run, ran = programs()
    bot = await start_bot(TIDY, "Done.", TIDY, "No.", tools=(run,))
    run.where["workspace"] = bot.home  # type: ignore[attr-defined]
    await asked(bot, sender="bob", group="team")
    # The script does not exist, so its effect is unknown.
    assert labels(bot) == ["Allow once", "Deny"]
    await bot.hears("/deny", sender="bob", group="team")
    assert ran == []


async def test_after_strangers_rules_are_neither_made_nor_applied(start_bot: StartBot) -> None:
    run, ran = programs(untrusted=True)
    bot, _ = await opened(start_bot, run, TIDY, "Done.", TIDY, "Not done.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    await asked(bot)
    assert labels(bot) == ["Allow once", "Deny"]
    await bot.channel.hears(f"/approve {id_of(questions(bot)[-1])} always")
    await bot.channel.until(lambda: any(text.startswith("That can only be allowed once") for text in bot.screen))
    await bot.hears("no")

    assert ran == ["echo tidy"]


async def test_rules_are_listed_and_revoked(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, _ = await opened(start_bot, run, TIDY, "Done.", TIDY, "Not done.")
    await bot.hears("/rules")
    assert bot.screen[-1].startswith("Nothing is always allowed here.")
    request = await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    await bot.hears("/rules")
    assert f"- `{request}` `sh tidy.sh` – Ann, " in bot.screen[-1]
    await bot.channel.presses(f"Ask again: {request}")
    await bot.app.settled()
    assert bot.screen[-1].startswith("I will ask again: `sh tidy.sh`")
    await asked(bot)
    await bot.hears("no")

    assert ran == ["echo tidy"]
    assert "refused" in last_result(bot)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("helper.py", "import os"),
        ("lib/__init__.py", "1"),
        ("settings", "x"),
        ("a.pyc", "x"),
        (".local/a.pth", "1"),
    ],
)
async def test_a_rule_for_a_program_ends_when_a_file_appears_that_it_could_import_or_source(
    start_bot: StartBot, name: str, content: str
) -> None:  # D-24
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Done.", TIDY, "Done.", TIDY, "Not done.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()
    for data in ("sales.csv", "chart.png", ".output/1.txt"):
        (workspace / data).parent.mkdir(exist_ok=True)
        (workspace / data).write_text("what it reads and writes ends no rule")
    await bot.hears("tidy up")
    assert len(ran) == 2

    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text(content)
    await asked(bot)
    assert "the files involved have changed since" in questions(bot)[-1].markdown
    await bot.hears("no")
    assert len(ran) == 2


async def test_an_imported_module_that_changed_is_not_run_by_a_rule(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Done.", TIDY, "Done.", TIDY, "Not done.")
    (workspace / "helper.sh").write_text("tidy() { :; }")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()
    await bot.hears("tidy up")
    assert len(ran) == 2

    (workspace / "helper.sh").write_text("tidy() { rm -rf .; }")
    await asked(bot)
    await bot.hears("no")

    assert len(ran) == 2


@pytest.mark.in_turn("launcher", NAMES)
async def test_a_python_program_leaves_nothing_behind_that_would_end_its_own_rule(
    start_bot: StartBot, tmp_path: Path, launcher: str
) -> None:
    sandbox = ProcessSandbox(await launcher_called(launcher, tmp_path / "scratch"), SystemClock())
    tidy = calls(("run_command", {"argv": ["python3", "tidy.py"]}))
    write = calls(("write_file", {"path": "helper.py", "content": "WORDS = 'other'"}))
    bot = await start_bot(
        *(tidy, "Done.", tidy, "Done again.", write, tidy, "Not done."),
        tools=(run_command_tool(sandbox), *builtin_tools(SystemClock())),
    )
    workspace = bot.home / "workspaces" / folder_name(bot.channel.chat())
    workspace.mkdir(parents=True)
    files = FileLedger(bot.home / "provenance").of(workspace)
    for name, text in {"tidy.py": "import helper\nprint(helper.WORDS)", "helper.py": "WORDS = 'tidy'"}.items():
        (workspace / name).write_text(text)
        files.wrote(name, CLEAN)
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    await bot.hears("tidy up")
    assert bot.screen[-1] == "Done again."
    assert "tidy" in last_result(bot)
    await asked(bot)
    assert "the files involved have changed since" in questions(bot)[-1].markdown
    await bot.hears("no")


async def test_a_link_that_leads_elsewhere_ends_a_rule(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Done.", TIDY, "Not done.")
    for name in ("one", "other"):
        (workspace / name).mkdir()
        (workspace / name / "data.csv").write_text(name)
    (workspace / "lib").symlink_to("one")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()

    (workspace / "lib").unlink()
    (workspace / "lib").symlink_to("other")
    await asked(bot)
    await bot.hears("no")

    assert ran == ["echo tidy"]


async def test_no_rule_is_bound_to_more_files_than_are_looked_at(start_bot: StartBot) -> None:
    run, _ = programs()
    bot, workspace = await opened(start_bot, run, TIDY, "Not done.")
    for number in range(MOST_ENTRIES + 1):
        (workspace / f"module{number}.py").touch()

    await asked(bot)

    assert labels(bot) == ["Allow once", "Deny"]
    await bot.hears("no")


async def test_an_approval_too_holds_for_the_programs_that_could_be_run_as_they_were_shown(start_bot: StartBot) -> None:
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, calls(("run_command", {"argv": ["make", "all"]})), "Done.")
    (workspace / "Makefile").write_text("all: ;")
    request = await asked(bot)

    (workspace / "Makefile").write_text("all: ; rm -rf .")
    await bot.channel.hears(f"/approve {request}")
    await bot.channel.until(lambda: bool(questions(bot)) and id_of(questions(bot)[-1]) != request)

    assert ran == []
    await bot.hears("no")


async def test_a_tool_that_only_looks_is_bound_to_the_files_that_it_names_alone(start_bot: StartBot) -> None:
    count = calls(("run_command", {"argv": ["wc", "-l", "tidy.sh"]}))
    run, ran = programs()
    bot, workspace = await opened(start_bot, run, count, "One.", count, "One.", count, "No.")
    await asked(bot)
    await bot.channel.presses("Always here")
    await bot.app.settled()
    (workspace / "helper.py").write_text("import os")
    await bot.hears("count")
    assert len(ran) == 2

    (workspace / "tidy.sh").write_text("other")
    await asked(bot)
    await bot.hears("no")


# Knowing what a command runs


@pytest.mark.parametrize(
    "argv",
    [
        ["sh", "-c", "echo hi"],
        ["/bin/bash", "-lc", "tidy"],
        ["sh"],
        ["sh", "missing.sh"],
        ["sh", "/etc/profile"],
        ["python3", "-c", "print(1)"],
        ["python3.11", "-m", "tidy"],
        ["perl", "-e", "1"],
        ["node", "--eval", "1"],
        ["env", "X=1", "sh", "tidy.sh"],
        ["xargs", "sh"],
        ["find", ".", "-exec", "sh", "{}", ";"],
        ["awk", "BEGIN{system(1)}"],
        ["sed", "1e ls", "tidy.sh"],
        ["timeout", "5", "sh", "-c", "x"],
        ["make"],
        ["a-program-of-tomorrow", "tidy.sh"],
        ["./copied-shell", "-c", "x"],
        ["../elsewhere.sh"],
        [],
    ],
)
def test_commands_of_which_nobody_knows_what_they_run_cannot_always_be_allowed(tmp_path: Path, argv: list[str]) -> None:
    home = tmp_path / "w"
    home.mkdir()
    (home / "tidy.sh").write_text("echo tidy")
    (home / "copied-shell").write_bytes(b"\x7fELF")
    (tmp_path / "elsewhere.sh").write_text("#!/bin/sh")

    assert what_runs(argv, home) is Runs.UNKNOWN


@pytest.mark.parametrize(
    ("argv", "runs"),
    [
        (["sh", "tidy.sh"], Runs.FILE),
        (["python3", "tidy.py", "--all"], Runs.FILE),
        (["./tidy.sh"], Runs.FILE),
        (["ls", "-la"], Runs.TOOL),
        (["wc", "-l", "a"], Runs.TOOL),
    ],
)
def test_of_programs_of_the_workspace_and_tools_that_only_look_it_is_known(
    tmp_path: Path, argv: list[str], runs: Runs
) -> None:
    (tmp_path / "tidy.sh").write_text("#!/bin/sh\necho tidy")
    (tmp_path / "tidy.py").write_text("print(1)")

    assert what_runs(argv, tmp_path) is runs
