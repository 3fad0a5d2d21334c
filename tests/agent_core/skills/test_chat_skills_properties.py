"""Properties of any order of loads and unloads: consistent, within the window, the same after a restart."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.models.tokens import estimate
from agent_core.skills.skill import SkillError
from agent_core.skills.token_budget import CEILING, TokenBudget
from tests.agent_core.skills.making import RecordedSkills, write_skill
from tests.messages import user

NAMES = ("alpha", "beta", "gamma", "delta")
TALK = 500
WINDOW = 2_000

STEPS = st.tuples(
    st.sampled_from(["load", "hold", "unload", "give up", "reference", "tidy", "run", "new"]), st.sampled_from(NAMES)
)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for size, name in enumerate(NAMES, start=1):
            write_skill(Path(folder), name, "word " * 150 * size, files={"reference.md": "fact " * 100 * size})
        yield Path(folder)


def prompt(chat_skills: RecordedSkills) -> str:
    on = chat_skills.on
    return "\n\n".join([on.texts.index, on.texts.loaded, on.texts.references])


def take(chat_skills: RecordedSkills, step: str, name: str) -> None:
    on = chat_skills.on
    budget = TokenBudget(TALK + estimate(prompt(chat_skills)), WINDOW, [user("hello")])
    match step:
        case "load":
            on.load(name, budget=budget)
        case "hold":
            on.load(name, held=True, budget=budget)
        case "unload":
            on.unload(name)
        case "give up":
            on.unload(name, by_person=True)
        case "reference":
            on.load_reference(name, "reference.md", budget)
        case "tidy":
            on.unload_unused([user(f"we speak of {name}")])
        case "run":
            on.begin_run()
        case _:
            on.new_conversation()


@given(steps=st.lists(STEPS, max_size=25))
def test_one_truth_within_the_window_and_the_same_after_a_restart(root: Path, steps: list[tuple[str, str]]) -> None:
    chat_skills = RecordedSkills(root)
    held: set[str] = set()
    for step, name in steps:
        with suppress(SkillError):
            take(chat_skills, step, name)
            held |= {name} if step == "hold" else set()
            held -= {name} if step == "give up" else set()
        on = chat_skills.on
        assert held <= set(on.names)  # D-10
        for known in NAMES:
            assert (f"[✓] **{known}**" in on.texts.index) == (known in on.names)  # S1-03
            assert (f"### Skill: {known}\n" in on.texts.loaded) == (known in on.names)
            assert on.texts.references.count(f"### {known} - reference.md") <= (known in on.names)  # S1-18 S1-23
        assert (
            TALK + estimate(prompt(chat_skills)) <= WINDOW * CEILING + 50
        )  # titles of sections are not counted (S1-13)

    again = RecordedSkills(root, states=chat_skills.kept[-1] if chat_skills.kept else None)
    assert prompt(again) == prompt(chat_skills)
