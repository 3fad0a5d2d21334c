"""Skill scripts run with our interpreter in the chat's workspace; no name leads out of the skill's folder."""

import shutil
import sys
from pathlib import Path

import pytest

from agent_core.clock import SystemClock
from agent_core.messages import JsonObject, text_of
from agent_core.models.scripted import calls
from agent_core.sandbox.probe import NAMES
from agent_core.sandbox.process import ProcessSandbox
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.tools.skills import python, run_skill_script_tool
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment, ToolFailed
from tests.agent_core.kit import start_agent
from tests.agent_core.loop.test_permissions import Desk
from tests.agent_core.sandbox.running import LAUNCHERS, RecordingLauncher, launcher_called
from tests.process import REPOSITORY

pytestmark = pytest.mark.in_turn("launcher", LAUNCHERS, indirect=True)

NEEDS = '# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#   "pandas",\n# ]\n# ///\nprint(1)\n'


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    scripts = tmp_path / "skills" / "greet" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "hello.py").write_text("import sys, words\nprint(words.HELLO, sys.argv[1:], sys.executable)\n")
    (scripts / "words.py").write_text("HELLO = 'hello'\n")
    (scripts / "here.sh").write_text('pwd; echo "$1"\n')
    (tmp_path / "skills" / "greet" / "SKILL.md").write_text("---\ndescription: Greets.\n---\nGreet.\n")
    return tmp_path / "skills"


@pytest.fixture
def workspace(skills: Path) -> Path:
    folder = skills.parent / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
async def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecordingLauncher:
    return RecordingLauncher(await launcher_called(request.param, tmp_path_factory.mktemp("scratch")))


@pytest.fixture
def run_skill_script(launcher: RecordingLauncher) -> Tool:
    return run_skill_script_tool(ProcessSandbox(launcher, SystemClock()))


def shelf_of(*roots: Path) -> ChatSkills:
    """Return a chat_skills with every available skill loaded."""
    chat_skills = ChatSkills(SkillLibrary([(root, Origin.SHIPPED) for root in roots]))
    for entry in chat_skills.entries():
        chat_skills.load(entry.name)
    return chat_skills


async def run(
    tool: Tool, workspace: Path, skill: str, script: str, *args: str, chat_skills: ChatSkills | None = None
) -> str:
    """Run a script; without a chat_skills, that of the `skills` folder beside the workspace."""
    context = ToolContext(
        "1", ToolEnvironment("s", workspace, skills=chat_skills or shelf_of(workspace.parent / "skills"))
    )
    arguments = tool.validate({"skill": skill, "script": script, "args": list(args)})
    return text_of((await tool.execute(arguments, context)).content)


@pytest.mark.parametrize("script", ["hello.py", "scripts/hello.py"])
async def test_a_python_script_runs_with_our_interpreter_and_finds_its_modules(
    run_skill_script: Tool, workspace: Path, script: str
) -> None:
    text = await run(run_skill_script, workspace, "greet", script, "a b", "--c")

    assert f"hello ['a b', '--c'] {python()}" in text
    assert python().is_file()
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in python().name


async def test_a_module_in_the_workspace_is_not_taken_for_one_of_python(
    run_skill_script: Tool, skills: Path, workspace: Path
) -> None:
    (workspace / "json.py").write_text("raise SystemExit('planted')")
    (skills / "greet" / "scripts" / "uses.py").write_text("import json; print(json.dumps([1]))")

    assert (await run(run_skill_script, workspace, "greet", "uses.py")).endswith("[1]")


async def test_our_packages_are_not_there_for_scripts(run_skill_script: Tool, skills: Path, workspace: Path) -> None:
    (skills / "greet" / "scripts" / "path.py").write_text("import sys; print(sys.path, sys.prefix)")

    text = await run(run_skill_script, workspace, "greet", "path.py")

    assert sys.prefix == sys.base_prefix or sys.prefix not in text


async def test_a_shell_script_runs_in_the_workspace(run_skill_script: Tool, workspace: Path) -> None:
    text = await run(run_skill_script, workspace, "greet", "here.sh", "$HOME *")

    assert text.endswith(f"\n{workspace}\n$HOME *")


async def test_any_other_script_runs_if_it_is_executable(run_skill_script: Tool, skills: Path, workspace: Path) -> None:
    script = skills / "greet" / "scripts" / "count"
    script.write_text("#!/usr/bin/env -S awk -f\nBEGIN { print 6 * 7 }\n")
    with pytest.raises(ToolFailed, match="not executable"):
        await run(run_skill_script, workspace, "greet", "count")
    script.chmod(0o755)

    assert (await run(run_skill_script, workspace, "greet", "count")).endswith("42")


async def test_the_script_may_read_its_skill_and_nothing_else_of_ours(
    run_skill_script: Tool, launcher: RecordingLauncher, skills: Path, workspace: Path
) -> None:
    await run(run_skill_script, workspace, "greet", "here.sh")
    await run(run_skill_script, workspace, "greet", "hello.py")

    shell, ours = launcher.launched
    assert shell.workspace == workspace
    assert shell.readable == ours.readable == (skills / "greet",)
    assert not shell.network


async def test_a_skill_of_the_chat_opens_no_folder_to_its_scripts(
    run_skill_script: Tool, launcher: RecordingLauncher, skills: Path, workspace: Path
) -> None:
    """The folder may be replaced with a link to anything before the script runs."""
    own = workspace / "skills" / "mine"
    shutil.copytree(skills / "greet", own)
    chat_skills = ChatSkills(own=workspace / "skills")
    chat_skills.load("mine", held=True)

    for _ in range(2):  # the first run leaves nothing behind that was not approved
        assert "hello []" in await run(run_skill_script, workspace, "mine", "hello.py", chat_skills=chat_skills)
    assert launcher.launched[0].readable == ()


@pytest.mark.in_turn("launcher", NAMES, indirect=True)
async def test_a_script_cannot_read_the_house_nor_change_its_skill(
    run_skill_script: Tool, launcher: RecordingLauncher, skills: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    workspace = home / "workspaces" / "chat"
    workspace.mkdir(parents=True)
    (home / ".env").write_text("TOKEN=secret")
    (home / "parley.db").write_text("secret")
    (workspace / "link").symlink_to(home / ".env")
    (skills / "greet" / "scripts" / "steal.py").write_text("import sys; print(open(sys.argv[1]).read())")
    (skills / "greet" / "scripts" / "change.sh").write_text('echo changed >>"$0"; echo "said $?"')

    for path in ("../../.env", str(home / ".env"), str(home / "parley.db"), "link"):
        text = await run(run_skill_script, workspace, "greet", "steal.py", path, chat_skills=shelf_of(skills))
        assert "Error" in text
        assert "secret" not in text
    assert "said 0" not in await run(run_skill_script, workspace, "greet", "change.sh", chat_skills=shelf_of(skills))
    assert "changed\n" not in (skills / "greet" / "scripts" / "change.sh").read_text()


async def test_the_first_root_that_has_the_skill_wins(
    run_skill_script: Tool, skills: Path, tmp_path: Path, workspace: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(skills / "greet", other / "greet")
    shutil.copytree(skills / "greet", skills / "part")
    (other / "greet" / "scripts" / "words.py").write_text("HELLO = 'other'\n")
    chat_skills = shelf_of(tmp_path / "missing", other, skills)

    assert "other" in await run(run_skill_script, workspace, "greet", "hello.py", chat_skills=chat_skills)  # S1-28
    assert "hello" in await run(run_skill_script, workspace, "part", "hello.py", chat_skills=chat_skills)


async def test_only_scripts_of_what_is_loaded_run(run_skill_script: Tool, skills: Path, workspace: Path) -> None:
    chat_skills = ChatSkills(SkillLibrary([(skills, Origin.SHIPPED)]))

    with pytest.raises(ToolFailed) as failure:
        await run(run_skill_script, workspace, "greet", "hello.py", chat_skills=chat_skills)
    assert failure.value.fact == "the skill greet is not loaded"
    assert failure.value.advice == "load it with load_skill first"
    chat_skills.load("greet")
    assert "hello" in await run(run_skill_script, workspace, "greet", "hello.py", chat_skills=chat_skills)
    chat_skills.unload("greet")
    with pytest.raises(ToolFailed):
        await run(run_skill_script, workspace, "greet", "hello.py", chat_skills=chat_skills)


async def test_a_script_that_an_installer_linked_to_its_cache_runs(
    run_skill_script: Tool, skills: Path, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "cached").hardlink_to(skills / "greet" / "scripts" / "here.sh")

    assert (await run(run_skill_script, workspace, "greet", "here.sh", "ran")).endswith("ran")


@pytest.mark.parametrize(
    ("skill", "script"),
    [
        ("..", "secret.py"),
        ("../outside", "secret.py"),
        ("", "secret.py"),
        (".", "secret.py"),
        ("greet/scripts", "hello.py"),
        ("greet", "../../../outside/scripts/secret.py"),
        ("greet", "/bin/sh"),
        ("greet", "linked.py"),
        ("greet", "linked/secret.py"),
        ("greet", ""),
        ("greet", "."),
        ("greet", ".."),
        ("greet", "hello.py/"),
        ("greet", "hello.py\0"),
        ("greet\0", "hello.py"),
        ("linked", "secret.py"),
        ("greet", "missing.py"),
        ("greet", "pipe"),
    ],
)
async def test_no_name_and_no_link_leads_out(  # S2-35
    run_skill_script: Tool,
    launcher: RecordingLauncher,
    skills: Path,
    workspace: Path,
    skill: str,
    script: str,
) -> None:
    outside = skills.parent / "outside" / "scripts"
    outside.mkdir(parents=True)
    (outside / "secret.py").write_text("print('secret')")
    scripts = skills / "greet" / "scripts"
    (scripts / "linked.py").symlink_to(outside / "secret.py")
    (scripts / "linked").symlink_to(outside)
    (skills / "linked").symlink_to(outside.parent)
    (scripts / "pipe").symlink_to("/dev/null")

    with pytest.raises(ToolFailed):
        await run(run_skill_script, workspace, skill, script)

    assert launcher.launched == []


async def test_nobody_is_asked_for_a_script_that_cannot_run(run_skill_script: Tool, skills: Path) -> None:
    script: JsonObject = {"skill": "greet", "script": "hello.py"}
    chat_skills = ChatSkills(SkillLibrary([(skills, Origin.SHIPPED)]))
    desk, wanted = Desk("deny"), calls(("run_skill_script", script))
    talk = start_agent(
        wanted, "Not yet.", wanted, "No.", tools=[run_skill_script], permissions=desk, skills=chat_skills
    )

    await talk.says("Greet me.")
    assert desk.proposals == []
    chat_skills.load("greet")
    await talk.says("Greet me now.")
    assert [proposal.call.name for proposal in desk.proposals] == ["run_skill_script"]


async def test_the_example_skill_draws_into_the_workspace(run_skill_script: Tool, workspace: Path) -> None:
    chat_skills = ChatSkills(SkillLibrary([(REPOSITORY / "skills", Origin.SHIPPED)]))
    chat_skills.load("chart")
    (workspace / "sales.csv").write_text("month,revenue\nJan,100\nFeb,120\n")

    text = await run(
        run_skill_script, workspace, "chart", "chart.py", "sales.csv", "sales.png", chat_skills=chat_skills
    )

    assert text.endswith("sales.png: bar chart of revenue 100 to 120 by month, 2 rows")
    assert (workspace / "sales.png").read_bytes().startswith(b"\x89PNG")


async def test_what_there_is_is_told_where_something_is_missing(run_skill_script: Tool, workspace: Path) -> None:
    with pytest.raises(ToolFailed) as failure:
        await run(run_skill_script, workspace, "greet", "bye.py")
    assert failure.value.fact == "the skill greet has no script bye.py"
    assert failure.value.advice == "it has: hello.py, here.sh, words.py"
    with pytest.raises(ToolFailed) as failure:
        await run(run_skill_script, workspace, "meet", "bye.py")
    assert failure.value.advice == "use one of: greet"


async def test_packages_are_refused_where_they_cannot_be_had(
    run_skill_script: Tool, skills: Path, workspace: Path
) -> None:
    (skills / "greet" / "scripts" / "needs.py").write_text(NEEDS)

    with pytest.raises(ToolFailed, match=r"needs packages \(pandas\)"):
        await run(run_skill_script, workspace, "greet", "needs.py")


@pytest.mark.parametrize("network", [True, False])
async def test_packages_come_by_uv_where_there_is_a_network(
    launcher: RecordingLauncher, skills: Path, tmp_path: Path, workspace: Path, *, network: bool
) -> None:
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\necho "uv $*"; echo "$UV_PYTHON"\n')
    uv.chmod(0o755)
    script = skills / "greet" / "scripts" / "needs.py"
    script.write_text(NEEDS)
    tool = run_skill_script_tool(ProcessSandbox(launcher, SystemClock()), network=network, uv=uv)

    if network:
        text = await run(tool, workspace, "greet", "needs.py", "x")
        assert text.endswith(f"uv run --script {script} x\n{python()}")
        assert uv in launcher.launched[0].readable
    else:
        with pytest.raises(ToolFailed, match="needs packages"):
            await run(tool, workspace, "greet", "needs.py")


@pytest.mark.parametrize("dependencies", ["[]", None])
async def test_a_script_that_declares_no_packages_needs_none(
    run_skill_script: Tool, skills: Path, workspace: Path, dependencies: str | None
) -> None:
    line = f"# dependencies = {dependencies}\n" if dependencies else ""
    script = f'# /// script\n# requires-python = ">=3.11"\n{line}# ///\nprint("ran")\n'
    (skills / "greet" / "scripts" / "none.py").write_text(script)

    assert (await run(run_skill_script, workspace, "greet", "none.py")).endswith("ran")


async def test_a_broken_declaration_is_told(run_skill_script: Tool, skills: Path, workspace: Path) -> None:
    (skills / "greet" / "scripts" / "broken.py").write_text("# /// script\n# dependencies = [\n# ///\n")

    with pytest.raises(ToolFailed, match="no TOML"):
        await run(run_skill_script, workspace, "greet", "broken.py")


def test_people_see_the_whole_call(run_skill_script: Tool) -> None:
    describe = run_skill_script.describe

    assert describe({"skill": "chart", "script": "chart.py"}) == "Running chart/chart.py"
    assert (
        describe({"skill": "chart", "script": "chart.py", "args": ["my data.csv", "--line"]})
        == "Running chart/chart.py 'my data.csv' --line"
    )
    assert describe({}) == "run_skill_script"
    assert (run_skill_script.name, run_skill_script.acts, run_skill_script.untrusted) == (
        "run_skill_script",  # D-05
        "exec",
        False,
    )
