"""Rules for every skill that ships with Parley."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from agent_core.models.tokens import estimate
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from tests.skills.kit import NAMES, SKILLS, run

MOST_TOKENS = 1_500
MOST_TOLD = 200
"""Limit for a description in characters, because every request includes it."""


def header(name: str) -> dict[str, object]:
    words = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    found = yaml.safe_load(words.split("---\n")[1])
    assert isinstance(found, dict)
    return found


def test_they_are_those_that_were_promised() -> None:
    assert NAMES == [
        "book-flight",
        "chart",
        "chat-digest",
        "daily-report",
        "page-watch",
        "reminders",
        "skill-author",
        "standup",
        "summarise-thread",
        "usage-report",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_short_and_says_when_to_use_it(name: str) -> None:  # S1-27
    words = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    about = header(name)

    assert about["name"] == name
    assert len(str(about["description"])) <= MOST_TOLD
    assert "Use it " in str(about["description"])
    assert estimate(words) <= MOST_TOKENS
    for reference in (SKILLS / name).glob("ref*/*.md"):
        assert estimate(reference.read_text(encoding="utf-8")) <= 3_000


@pytest.mark.parametrize("name", NAMES)
async def test_each_passes_the_check_that_it_asks_of_others(name: str, tmp_path: Path) -> None:
    done = await run("skill-author", "check.py", str(SKILLS / name), cwd=tmp_path)

    assert (done.code, done.err, done.out) == (0, "", f"OK: {name} can be loaded\n")


def test_all_can_be_loaded_at_once_without_a_complaint() -> None:
    chat_skills = ChatSkills(SkillLibrary([(SKILLS, Origin.SHIPPED)]))
    for name in NAMES:
        chat_skills.load(name)

    assert chat_skills.names == tuple(NAMES)
    assert (chat_skills.problems, chat_skills.library.diagnostics) == ((), ())
    assert [entry.name for entry in chat_skills.entries() if entry.reason] == []
    assert chat_skills.load_reference("book-flight", "reference.md").changed


def test_the_list_names_them_all() -> None:
    listed = (SKILLS / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| \[([\w-]+)\]\(\1/SKILL\.md\) \| ", listed, re.MULTILINE) == NAMES


def test_scripts_need_nothing_but_python() -> None:
    scripts = [path for path in SKILLS.glob("*/scripts/*.py") if path.is_file()]

    assert len(scripts) >= 8
    for script in scripts:
        assert "# /// script" not in script.read_text(encoding="utf-8")


def test_the_reference_of_flights_has_the_cities_of_the_timetable() -> None:
    flights = SKILLS / "book-flight"
    with (flights / "assets" / "cities.csv").open(encoding="utf-8", newline="") as file:
        cities = list(csv.reader(file))[1:]
    with (flights / "assets" / "timetable.csv").open(encoding="utf-8", newline="") as file:
        timetable = list(csv.reader(file))[1:]
    table = (flights / "reference.md").read_text(encoding="utf-8").partition("### Unknown")[0]

    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    assert rows == cities
    served = {code for flight in timetable for code in flight[1:3]}
    assert served == {code for _, _, code, _ in cities}
    assert len({flight[0] for flight in timetable}) == len(timetable)
