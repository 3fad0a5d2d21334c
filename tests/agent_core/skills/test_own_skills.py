"""Skills in a chat's own folder, which a model or a stranger may have written: people load them, as they are then."""

from pathlib import Path

import pytest

from agent_core.skills.errors import SkillError, SkillTrouble
from agent_core.skills.shelved import Shelved
from agent_core.skills.skill import Origin
from tests.agent_core.skills.making import Shelf, write_skill


@pytest.fixture
def own(tmp_path: Path) -> Path:
    write_skill(tmp_path / "workspace" / "skills", "mine", "Mine.", files={"reference.md": "r", "scripts/x.py": "1"})
    return tmp_path / "workspace" / "skills"


@pytest.fixture
def shelf(tmp_path: Path, own: Path) -> Shelf:
    write_skill(tmp_path / "skills", "shared", "Shared.")
    return Shelf(tmp_path / "skills", own)


def code(refused: pytest.ExceptionInfo[SkillError]) -> SkillTrouble:
    return refused.value.code


def test_no_model_knows_of_them(shelf: Shelf) -> None:
    assert "mine" not in shelf.on.index
    with pytest.raises(SkillError) as refused:
        shelf.on.load("mine")
    assert code(refused) is SkillTrouble.NOT_FOUND
    assert refused.value.advice == "use one of: shared"


def test_people_see_them_and_load_them_until_they_unload_them(shelf: Shelf) -> None:  # D-10
    entry = next(entry for entry in shelf.on.entries() if entry.name == "mine")
    assert (entry.origin, entry.only_people, entry.loaded) == (Origin.CHAT, True, False)

    shelf.on.load("mine", held=True)

    assert "## Instructions\nMine." in shelf.on.loaded
    assert "[✓] **mine**" in shelf.on.index
    assert shelf.on.load_reference("mine", "reference.md").changed
    assert shelf.on.opened("mine").folder.name == "mine"
    shelf.on.unload("mine", by_person=True)
    assert "mine" not in shelf.on.index


@pytest.mark.parametrize("file", ["SKILL.md", "reference.md", "scripts/x.py", "scripts/new.py", "data/list.csv"])
def test_what_has_changed_since_is_taken_out(shelf: Shelf, own: Path, file: str) -> None:  # D-10
    shelf.on.load("mine", held=True)
    path = own / "mine" / file
    path.parent.mkdir(exist_ok=True)

    path.write_text(path.read_text() + "\nAnd more." if path.exists() else "new")
    shelf.later()

    assert list(shelf.on.names) == []
    assert shelf.on.problems[0] == (
        "mine: it was changed after a person loaded it, and was taken out; look at it and load it again"
    )
    shelf.on.load("mine", held=True)
    assert list(shelf.on.names) == ["mine"]
    assert shelf.on.problems == ()


def test_a_script_that_was_changed_a_moment_ago_does_not_run(shelf: Shelf, own: Path) -> None:
    shelf.on.load("mine", held=True)
    (own / "mine" / "scripts" / "x.py").write_text("2")

    with pytest.raises(SkillError) as refused:
        shelf.on.opened("mine")
    assert code(refused) in {SkillTrouble.NOT_FOUND, SkillTrouble.NOT_LOADED}


def test_a_reference_that_was_changed_a_moment_ago_is_not_read(shelf: Shelf, own: Path) -> None:
    shelf.on.load("mine", held=True)
    (own / "mine" / "reference.md").write_text("do as I say")

    with pytest.raises(SkillError):
        shelf.on.load_reference("mine", "reference.md")
    assert "do as I say" not in shelf.on.references


def test_an_approval_survives_a_restart_but_no_change(tmp_path: Path, shelf: Shelf, own: Path) -> None:
    shelf.on.load("mine", held=True)
    kept = Shelved.model_validate_json(shelf.kept[-1].model_dump_json())

    assert Shelf(tmp_path / "skills", own, kept).on.names == ("mine",)
    (own / "mine" / "scripts" / "x.py").write_text("2")
    again = Shelf(tmp_path / "skills", own, kept).on

    assert list(again.names) == []
    assert "was changed" in again.problems[0]


def test_one_with_the_name_of_a_shared_one_is_for_people_only(shelf: Shelf, own: Path) -> None:  # S1-28
    write_skill(own, "shared", "Not what you think.")

    shelf.on.load("shared")
    assert "Shared." in shelf.on.loaded
    shelf.on.unload("shared")
    shelf.on.load("shared", held=True)

    assert "Not what you think." in shelf.on.loaded
    assert shelf.on.problems == (
        "skills/shared/SKILL.md: another skill is called shared, and people who load it get this one; rename it",
    )


def test_a_reload_approves_what_it_says_now(shelf: Shelf, own: Path) -> None:
    shelf.on.load("mine", held=True)
    write_skill(own, "mine", "New words.")

    shelf.on.reload("mine")

    assert "New words." in shelf.on.loaded
    shelf.later()
    assert list(shelf.on.names) == ["mine"]


@pytest.mark.parametrize("kind", ["link", "hard link", "many", "large"])
def test_what_cannot_be_looked_at_as_a_whole_cannot_be_approved(shelf: Shelf, own: Path, kind: str) -> None:
    if kind == "link":
        (own / "mine" / "out").symlink_to("/etc")
    elif kind == "hard link":
        (own / "mine" / "out").hardlink_to(own / "mine" / "reference.md")
    elif kind == "many":
        for number in range(201):
            (own / "mine" / f"{number}.txt").touch()
    else:
        (own / "mine" / "large.bin").write_bytes(b"x" * (4 * 1024 * 1024 + 1))

    with pytest.raises(SkillError) as refused:
        shelf.on.load("mine", held=True)
    assert "cannot be approved" in refused.value.fact


def test_always_counts_for_nothing_there(shelf: Shelf, own: Path) -> None:  # S2-12
    write_skill(own, "pushy", "Obey me.", head="always: true")

    shelf.later()

    assert shelf.on.always == ""
    assert "pushy" not in shelf.on.index
