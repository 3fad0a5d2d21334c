"""The prompt's sections on skills: index with marks, instructions, references."""

from pathlib import Path

import pytest

from agent_core.context.context import ContextManager
from agent_core.loop.state import QueryState
from agent_core.skills.chat_skills import ChatSkills
from agent_core.tools.registry import ToolRegistry
from tests.agent_core.kit import StartAgent
from tests.agent_core.skills.making import RecordedSkills, body_of, library_of, write_skill

GUIDE = "# Flight Booking Guide\n\nAsk for the date."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "reference.md": "# Cities\n\nBeijing PEK",
        "references/api.md": "GET /flights",
        "scripts/search_flights.py": "print()",
    }
    head = "when_to_use: When somebody wants to fly\nversion: '1.0'\nlicense: MIT\nrequired_packages: [requests]"
    write_skill(tmp_path / "skills", "book-flight", GUIDE, head=head, files=files)
    write_skill(tmp_path / "skills", "codebase-tools")
    return tmp_path / "skills"


def system(chat_skills: ChatSkills) -> str:
    context = ContextManager(ToolRegistry(), skills=chat_skills)
    return context.build_request(QueryState(run_id="r", session_id="s")).system


async def asked(starts: StartAgent, chat_skills: ChatSkills) -> str:
    """The system prompt that reaches a model."""
    talk = starts("Hello.", skills=chat_skills)
    await talk.says("Hi.")
    return talk.llm.requests[-1].system


async def test_only_what_describes_a_skill_is_told_before_it_is_loaded(
    starts: StartAgent, root: Path
) -> None:  # S1-01 S1-02 S1-03
    chat_skills = RecordedSkills(root).on

    assert chat_skills.texts.index == (
        "## Available Skills (use when needed)\n"
        "- [○] **book-flight**: Does book-flight.\n"
        "- [○] **codebase-tools**: Does codebase-tools."
    )
    assert (chat_skills.texts.loaded, chat_skills.texts.references, chat_skills.texts.always) == ("", "", "")
    told = await asked(starts, chat_skills)
    assert chat_skills.texts.index in told
    assert "Ask for the date" not in told


def test_without_skills_nothing_is_said_of_them(tmp_path: Path) -> None:  # S1-02
    chat_skills = RecordedSkills(tmp_path / "none").on

    assert not chat_skills.texts.protocol
    assert "kill" not in system(chat_skills).replace("load a skill only then", "").replace("skill or a tool", "")
    assert [
        chat_skills.texts.index,
        chat_skills.texts.protocol,
        chat_skills.texts.loaded,
        chat_skills.texts.references,
        chat_skills.texts.always,
    ] == [""] * 5


def test_the_mark_says_whether_it_is_loaded(root: Path) -> None:  # S1-03
    chat_skills = RecordedSkills(root).on

    chat_skills.load("book-flight")
    assert "- [✓] **book-flight**" in chat_skills.texts.index
    assert "- [○] **codebase-tools**" in chat_skills.texts.index
    chat_skills.unload("book-flight")
    assert "- [○] **book-flight**" in chat_skills.texts.index


async def test_instructions_are_laid_out_with_all_that_is_needed(
    starts: StartAgent, root: Path
) -> None:  # S1-04 S1-07 S1-08 S1-09 S1-10
    chat_skills = RecordedSkills(root).on
    chat_skills.load("book-flight")
    folder = root / "book-flight"

    assert (await asked(starts, chat_skills)).endswith(
        "## Loaded Skill Instructions\n\n"
        "### Skill: book-flight\n"
        "# Skill: book-flight\n\n"
        "Does book-flight.\n\n"
        "**When to use**: When somebody wants to fly\n\n"
        "## Skill Context\n"
        f"- **Skill Directory**: `{folder}`\n"
        "- **Version**: 1.0\n"
        "- **License**: MIT\n"
        "- **Required Packages**: requests\n"
        "- **Available Scripts**:\n"
        f"  - `{folder}/scripts/search_flights.py` "
        '(run with: `run_skill_script("book-flight", "search_flights.py")`)\n'
        "- **Available References** (load on errors, for examples or details of scripts, or when the person wants "
        "alternatives):\n"
        '  - `reference.md` (load with: `load_skill_reference("book-flight", "reference.md")`)\n'
        '  - `references/api.md` (load with: `load_skill_reference("book-flight", "references/api.md")`)\n\n'
        f"## Instructions\n{GUIDE}"
    )


async def test_references_stand_behind_the_instructions(starts: StartAgent, root: Path) -> None:  # S1-20 C-11 D-03
    chat_skills = RecordedSkills(root).on
    chat_skills.load("book-flight")
    chat_skills.load_reference("book-flight", "reference.md")

    said = await asked(starts, chat_skills)

    assert (
        chat_skills.texts.references
        == "## Loaded Skill References\n\n### book-flight - reference.md\n# Cities\n\nBeijing PEK"
    )
    assert said.endswith(
        f"{chat_skills.texts.protocol}\n\n{chat_skills.texts.index}\n\n{chat_skills.texts.loaded}\n\n{chat_skills.texts.references}"
    )  # S0-02


def test_how_to_load_and_unload_is_told_and_that_it_is_done_silently(root: Path) -> None:  # S0-03 S0-04
    chat_skills = RecordedSkills(root).on
    before = chat_skills.texts.protocol
    chat_skills.load("book-flight")

    assert "load_skill," in before
    assert "silently" in before
    assert "unload_skill" not in before
    for word in ("load_skill,", "load_skill_reference", "unload_skill", "error", "topic", "done", "room", "silently"):
        assert word in chat_skills.texts.protocol


def test_two_builds_without_a_change_are_the_same_bytes(root: Path) -> None:  # S1-03
    chat_skills = RecordedSkills(root).on
    chat_skills.load("book-flight")

    assert system(chat_skills) == system(chat_skills)
    assert chat_skills.texts.loaded is chat_skills.texts.loaded


async def test_a_skill_that_is_always_there_needs_no_load(starts: StartAgent, root: Path) -> None:  # S2-12
    write_skill(root, "manners", "Say please.", head="always: true", files={"reference.md": "more"})
    write_skill(root, "tools", "Use gh.", head="always: true\nrequires:\n  bins: [gh]")
    write_skill(root, "off", "No.", head="always: true\nenabled: false")
    chat_skills = RecordedSkills(root).on

    assert "## Instructions\nSay please." in chat_skills.texts.always
    assert chat_skills.texts.always in await asked(starts, chat_skills)
    assert "Use gh." not in chat_skills.texts.always
    assert "No." not in chat_skills.texts.always
    assert "manners" not in chat_skills.texts.index
    assert chat_skills.load("manners").text == "Skill 'manners' is always loaded."
    assert chat_skills.load_reference("manners", "reference.md").changed
    assert chat_skills.unload_unused(()) == ()
    assert chat_skills.names == ()


def test_skills_that_are_always_there_have_room_for_one(root: Path) -> None:  # S2-12
    for name in ("first", "second"):
        write_skill(root, name, body_of(4_001, root, name), head="always: true")
    write_skill(root, "small", head="always: true")
    chat_skills = RecordedSkills(root).on

    assert "### Skill: first" in chat_skills.texts.always
    assert "### Skill: second" not in chat_skills.texts.always
    assert "### Skill: small" in chat_skills.texts.always
    assert chat_skills.problems == (
        "second: there is no room for it among the skills that are always loaded; load it by command",
    )
    assert "[○] **second**" in chat_skills.texts.index


async def test_a_skill_that_cannot_be_used_is_not_told_of(starts: StartAgent, root: Path) -> None:  # S2-13 S1-29
    write_skill(root, "github", head="requires:\n  bins: [gh]")
    write_skill(root, "only-people", head="disable-model-invocation: true")
    write_skill(root, "off", head="enabled: false")

    index = (await asked(starts, RecordedSkills(root).on)).partition("## Available Skills")[2]

    assert "book-flight" in index
    assert "github" not in index
    assert "only-people" not in index
    assert "off" not in index


def test_the_index_is_short_however_many_there_are(tmp_path: Path) -> None:
    for number in range(105):
        write_skill(tmp_path, f"skill-{number:03}")
    write_skill(tmp_path, "long", head=f"when_to_use: x\ndescription: {'d' * 900}")

    lines = RecordedSkills(tmp_path).on.texts.index.splitlines()

    assert lines[-1] == "- 6 more: search with list_skills"
    assert len(lines) == 102
    assert len(lines[1]) < 330
    assert lines[1].endswith("d…")


def test_documents_belong_to_the_instructions_where_they_fit(tmp_path: Path) -> None:  # S1-24
    write_skill(tmp_path, "small", "Do it.", files={"style.md": "Be brief."})
    write_skill(tmp_path, "large", "Do it.", files={"style.md": "x" * 40_000})
    chat_skills = ChatSkills(library_of(tmp_path))

    chat_skills.load("small")
    chat_skills.load("large")

    assert "## style.md\nBe brief." in chat_skills.texts.loaded
    assert 'load_skill_reference("large", "style.md")' in chat_skills.texts.loaded
    assert "xxx" not in chat_skills.texts.loaded
    assert chat_skills.load_reference("large", "style.md").changed
