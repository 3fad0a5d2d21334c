"""Everything in a home is in a backup or left out on purpose, as docs/backup.md says."""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from gateway.store.opening import FILE
from gateway.upkeep.backup import WRITTEN
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end import forks
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with
from tests.process import REPOSITORY, until

pytestmark = [where(lambda facts: facts.name == "web"), pytest.mark.timeout(120)]

ROW = re.compile(r"^\| (`.+`) \| .+ \| (always|with|no)\b", re.MULTILINE)
MCP = f"""
[mcp.lab]
command = [{sys.executable!r}, "-m", "tests.emulators.mcp_server"]
env = {{ PYTHONPATH = "{REPOSITORY}" }}
"""
SKILL = "---\nname: mine\ndescription: Mine.\n---\nWords.\n"


def decided() -> dict[str, str]:
    """Return the decision of docs/backup.md on each entry of a home: `always`, `with` (a flag) or `no`."""
    text = (REPOSITORY / "docs" / "backup.md").read_text()
    return {name: answer for names, answer in ROW.findall(text) for name in re.findall("`([^`]+?)/?`", names)}


def decision(name: str) -> str | None:
    """Return the decision on an entry of a home, by its name or a pattern; None if nobody has decided."""
    return next((answer for pattern, answer in decided().items() if fnmatch(name, pattern)), None)


def entries_of(home: Path) -> set[str]:
    return {entry.name for entry in home.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def parley(home: Path, *arguments: str) -> None:
    done = await forks.parley(*arguments, environ={"PARLEY_HOME": str(home)})
    assert done.code == 0, done.err


@pytest.fixture
async def home(own_stage: Stage) -> Path:
    """The home of a killed Parley that had used every feature which leaves files there."""
    stage, home = own_stage, own_stage.program.home
    (home / "skills" / "mine").mkdir(parents=True)
    (home / "skills" / "mine" / "SKILL.md").write_text(SKILL)
    (home / "memory" / "web_local_main").mkdir(parents=True)
    (home / "memory" / "web_local_main" / "MEMORY.md").write_text("Ann likes tea\n")
    (home / "installed-skills").mkdir()
    (home / "installed-skills" / "approved.json").write_text("{}")
    (home / "parley.toml").write_text(MCP)
    (home / ".env").write_text("SEARCH_KEY=secret\n")
    for file in (home / "parley.toml", home / ".env"):
        file.chmod(0o600)
    stage.program.set("PARLEY_AUDIT", "on")
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(ToolUse("write_file", {"path": "note.txt", "content": "first"})),
        calls(ToolUse("edit_file", {"path": "note.txt", "old": "first", "new": "second"})),
        calls(ToolUse("send_file", {"path": "note.txt", "caption": "Here"})),
        says("Done."),
    )
    await chat.says(ann, "keep this", document=("plan.txt", b"Monday", "text/plain"))
    await chat.until(ends_with("Done."))
    await until((home / "mcp.json").exists)
    await until((home / "audit").exists)
    await stage.program.kill()
    await parley(home, "backup", str(home.parent / "small.zip"))
    await parley(home, "restore", str(home.parent / "small.zip"))
    (home / "backups").mkdir(exist_ok=True)
    await parley(home, "backup", str(home / "backups" / "parley-2026-01-01.zip"))
    return home


async def test_of_each_entry_of_a_home_that_lived_somebody_has_decided_whether_it_is_backed_up(home: Path) -> None:
    entries = entries_of(home)

    assert {name for name in entries if decision(name) is None} == set(), (
        "docs/backup.md does not name these, and gateway/upkeep/backup.py may not"
    )
    assert {name for name, answer in decided().items() if answer != "no"} == WRITTEN
    assert WRITTEN - entries == set(), "a home that lived has all of them, or this test says too little"


async def test_all_that_is_to_come_back_comes_back_on_another_machine(home: Path) -> None:
    before, other = contents(home), home.parent / "other"
    other.mkdir()
    await parley(home, "backup", str(home.parent / "all.zip"), "--files", "--secrets")
    await parley(other, "restore", str(home.parent / "all.zip"))

    after = contents(other)
    kept = {name for name in before if decision(name.partition("/")[0]) != "no"} - {FILE}
    assert {name for name in kept if after.get(name) != before[name]} == set()
    assert FILE in after
