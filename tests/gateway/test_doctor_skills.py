"""The doctor checks the files of skills."""

from pathlib import Path

from channels.checkup import note, ok, problem
from gateway.settings.settings import Settings
from gateway.upkeep.doctor.home import look_at_skills
from tests.agent_core.skills.making import write_skill


def look(home: Path) -> list[object]:
    return list(look_at_skills(Settings(home=home)))


def test_those_that_come_along_are_in_order(tmp_path: Path) -> None:
    assert look(tmp_path) == [ok("skills: 10 built in, 0 of yours")]


def test_what_is_wrong_is_told_with_what_to_do(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    write_skill(skills, "mine")
    write_skill(skills, "bank", head="requires:\n  env: [NO_SUCH_KEY]")
    write_skill(skills, "other").rename(skills / "renamed")
    (skills / "broken").mkdir()
    (skills / "broken" / "SKILL.md").write_text("no header")

    assert look(tmp_path)[:4] == [
        ok("skills: 10 built in, 3 of yours"),
        note("skill bank is not available: needs NO_SUCH_KEY, which is not set"),
        problem(
            "skills/broken/SKILL.md: it does not begin with YAML between two lines of ---",
            "begin it with name and description",
        ),
        note("skills/renamed/SKILL.md: it is called other, but its folder 'renamed'", "give both one name"),
    ]


def test_many_are_counted(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / "skills" / str(number)).mkdir(parents=True)
        (tmp_path / "skills" / str(number) / "SKILL.md").touch()

    assert look(tmp_path)[-1] == note("4 more files of skills need a look", "see /skills in a direct chat")
    assert len(look(tmp_path)) == 7
