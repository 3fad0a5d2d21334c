"""/skills reports broken skill files, to owners only."""

from pathlib import Path

from channels.base import ChatKey
from gateway.permissions.workspaces import workspace_of
from tests.agent_core.skills.making import library_of, write_skill
from tests.gateway.conftest import StartBot


def break_skill(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    (folder / name / "SKILL.md").write_text('---\nname: "unclosed\n---\n')


async def test_what_is_wrong_with_files_is_for_owners(start_bot: StartBot, tmp_path: Path) -> None:  # S1-25
    write_skill(tmp_path / "skills", "chart")
    break_skill(tmp_path / "skills", "broken")
    bot = await start_bot(skills=library_of(tmp_path / "skills"))

    await bot.hears("/skills")
    problem = bot.screen[-1].partition("**Problems** (1, only owners see this):\n\n- ")[2]
    assert problem.startswith("skills/broken/SKILL.md")
    assert "it has no description" in problem

    await bot.hears("/skills", sender="bob")
    assert "broken" not in bot.screen[-1]


async def test_where_others_read_along_problems_are_counted(start_bot: StartBot, tmp_path: Path) -> None:
    """The problems reveal what else an owner has; files of the chat itself are open to all of its users."""
    write_skill(tmp_path / "skills", "chart")
    break_skill(tmp_path / "skills", "private-plans")
    bot = await start_bot(skills=library_of(tmp_path / "skills"))
    team = ChatKey(platform="memory", account="here", chat="#team")
    write_skill(workspace_of(bot.home, team) / "skills", "chart")

    await bot.hears("/skills", group="team")
    assert "private-plans" not in bot.screen[-1]
    assert bot.screen[-1].endswith(
        "**Problems in this chat's files** (1):\n\n"
        "- skills/chart/SKILL.md: another skill is called chart, and wins; rename this one\n\n"
        "Skill files with problems: 1. Owners can see them with `/skills` in a direct chat."
    )
    await bot.hears("/skills", group="team", language="zh")
    assert "有 1 处技能文件需要查看" in bot.screen[-1]
    await bot.hears("/skills", group="team", sender="bob")
    assert "chart/SKILL.md" not in bot.screen[-1]


async def test_where_nothing_can_be_used_it_says_why(start_bot: StartBot, tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    break_skill(tmp_path / "skills", "broken")
    bot = await start_bot(skills=library_of(tmp_path / "skills"))

    await bot.hears("/skills")

    assert "skills/broken/SKILL.md" in bot.screen[-1]


async def test_a_reason_of_any_length_is_one_line(start_bot: StartBot, tmp_path: Path) -> None:
    names = ", ".join(f"{'x' * 90}{number}" for number in range(30))
    write_skill(tmp_path / "skills", "wants", head=f"any_bins: [{names}]")
    bot = await start_bot(skills=library_of(tmp_path / "skills"))

    await bot.hears("/skills")

    assert max(map(len, bot.screen[-1].splitlines())) < 200
