"""A skill's references load only while the skill is loaded, once each, and within the window."""

from pathlib import Path

import pytest

from agent_core.models.tokens import estimate
from agent_core.skills.chat_skills import UNLIMITED, ChatSkills
from agent_core.skills.layout import reference
from agent_core.skills.skill import SkillError, SkillTrouble
from agent_core.skills.token_budget import TokenBudget
from tests.agent_core.skills.making import RecordedSkills, write_skill
from tests.messages import user

TEXT = "All cities.\n" * 100


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"reference.md": TEXT, "references/api.md": "GET", "secret.txt": "secret", "scripts/x.py": "secret"}
    write_skill(tmp_path / "skills", "alpha", files=files)
    write_skill(tmp_path / "skills", "beta")
    (tmp_path / "outside.md").write_text("secret")
    return tmp_path / "skills"


@pytest.fixture
def chat_skills(root: Path) -> ChatSkills:
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    return chat_skills


def refused(chat_skills: ChatSkills, name: str, path: str, budget: TokenBudget = UNLIMITED) -> SkillError:
    with pytest.raises(SkillError) as error:
        chat_skills.load_reference(name, path, budget=budget)
    return error.value


def test_a_reference_is_read_in_the_prompt_and_told_in_a_few_words(chat_skills: ChatSkills) -> None:  # S1-16 C-12
    added = chat_skills.load_reference("alpha", "reference.md")

    tokens = estimate(reference("alpha", "reference.md", TEXT.strip()))
    assert added.text == (
        f"Reference 'reference.md' of skill 'alpha' loaded ({tokens} tokens): read it in the system prompt."
    )
    assert chat_skills.texts.references.count("All cities.") == 100


def test_its_skill_has_to_be_loaded(chat_skills: ChatSkills) -> None:  # S1-17
    error = refused(chat_skills, "beta", "reference.md")

    assert error.code is SkillTrouble.NOT_LOADED
    assert str(error) == "the skill beta is not loaded; load it with load_skill first"
    assert refused(chat_skills, "delta", "reference.md").code is SkillTrouble.NOT_FOUND


def test_a_second_load_changes_nothing(chat_skills: ChatSkills) -> None:  # S1-18
    chat_skills.load_reference("alpha", "reference.md")
    before = chat_skills.texts.references

    added = chat_skills.load_reference("alpha", "reference.md")

    assert added.text == "Reference 'reference.md' of skill 'alpha' is already loaded."
    assert chat_skills.texts.references is before


def test_a_name_alone_is_enough_where_it_is_the_only_one(chat_skills: ChatSkills) -> None:
    assert chat_skills.load_reference("alpha", "api.md").changed
    assert "### alpha - references/api.md\nGET" in chat_skills.texts.references


@pytest.mark.parametrize(
    "path",
    [
        "../../outside.md",
        "references/../../../outside.md",
        "/etc/hostname",
        "secret.txt",
        "scripts/x.py",
        "SKILL.md",
        "",
        ".",
        "references",
        "../beta/SKILL.md",
        "linked.md",
        "reference.md\0",
    ],
)
def test_only_what_is_listed_can_be_loaded(chat_skills: ChatSkills, root: Path, path: str) -> None:  # S1-21
    (root / "alpha" / "references" / "linked.md").symlink_to(root.parent / "outside.md")
    chat_skills.refresh(now=True)

    error = refused(chat_skills, "alpha", path)

    assert error.code is SkillTrouble.BAD_REFERENCE
    assert error.advice == "it has: reference.md, references/api.md"
    assert "secret" not in chat_skills.texts.references


def test_what_has_become_a_link_is_not_followed(chat_skills: ChatSkills, root: Path) -> None:  # S1-21
    (root / "alpha" / "reference.md").unlink()
    (root / "alpha" / "reference.md").symlink_to(root.parent / "outside.md")

    assert refused(chat_skills, "alpha", "reference.md").code is SkillTrouble.BAD_REFERENCE
    assert "secret" not in chat_skills.texts.references


@pytest.mark.parametrize(("content", "why"), [(b"\xff", "not UTF-8"), (b"x" * 300_000, "larger than 256 KB")])
def test_what_no_model_could_read_is_refused(chat_skills: ChatSkills, root: Path, content: bytes, why: str) -> None:
    (root / "alpha" / "reference.md").write_bytes(content)

    assert why in str(refused(chat_skills, "alpha", "reference.md"))


def test_where_there_is_no_room_older_messages_are_shortened_first(chat_skills: ChatSkills) -> None:  # S1-19 C-13
    full = TokenBudget(used=8_900, window=10_000, messages=[user("alpha")])

    added = chat_skills.load_reference("alpha", "reference.md", budget=full)

    assert (added.changed, added.again) == (False, True)
    assert "Older messages are shortened now: call load_skill_reference once more." in added.text
    assert chat_skills.tokens_wanted == estimate(reference("alpha", "reference.md", TEXT.strip()))
    assert chat_skills.texts.references == ""
    assert chat_skills.load_reference("alpha", "reference.md", budget=TokenBudget(used=4_000, window=10_000)).changed


def test_a_skill_does_not_make_room_for_its_own_reference(chat_skills: ChatSkills) -> None:  # C-14
    chat_skills.begin_run()

    chat_skills.load_reference(
        "alpha", "reference.md", budget=TokenBudget(used=8_900, window=10_000, messages=[user("hello")])
    )

    assert chat_skills.names == ("alpha",)


def test_it_is_refused_where_that_was_in_vain(chat_skills: ChatSkills) -> None:  # S1-19
    full = TokenBudget(used=8_900, window=10_000, messages=[user("alpha")])
    chat_skills.load_reference("alpha", "reference.md", budget=full)

    error = refused(chat_skills, "alpha", "reference.md", full)

    assert error.code is SkillTrouble.NO_ROOM
    assert "unload a skill that is not needed any more" in error.advice
    assert chat_skills.texts.references == ""


def test_what_could_never_fit_is_refused_at_once(chat_skills: ChatSkills) -> None:  # S1-19
    small = TokenBudget(used=100, window=300, messages=[user("alpha")])

    assert refused(chat_skills, "alpha", "reference.md", small).code is SkillTrouble.NO_ROOM
    assert chat_skills.tokens_wanted == 0


def test_a_new_run_may_ask_for_room_again(chat_skills: ChatSkills) -> None:
    full = TokenBudget(used=8_900, window=10_000, messages=[user("alpha")])
    chat_skills.load_reference("alpha", "reference.md", budget=full)

    chat_skills.begin_run()

    assert chat_skills.tokens_wanted == 0
    assert chat_skills.load_reference("alpha", "reference.md", budget=full).again
