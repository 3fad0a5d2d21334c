"""Reports of what Parley itself knows: files, the week, costs."""

import os
from pathlib import Path

from agent_core.origin import named
from gateway.permissions.policy import Policy
from gateway.settings.permissions import PermissionSettings
from tests.gateway.jobs.asking import press
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import TEAM, TimedBot, moment
from tests.gateway.ruling import admit


def writes(bot: TimedBot, name: str, local: str) -> Path:
    """Put a file into ann's folder, changed at a time in Paris."""
    path = bot.home / "workspaces" / "memory_here_ann" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("words")
    os.utime(path, (moment(local), moment(local)))
    return path


async def test_changed_files_are_told_once(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    writes(bot, "notes/old.md", "2026-10-01 10:00")
    writes(bot, "notes/new.md", "2026-11-22 10:00")
    writes(bot, "notes/.hidden", "2026-11-22 10:00")
    (bot.home / "workspaces" / "memory_here_ann" / "notes" / "link").symlink_to("/etc/passwd")
    await bot.hears("/report files every day 18:00 notes")
    assert bot.screen[-1].endswith(
        "**Changed in `notes`: 1**\n\n| file | changed | size |\n| --- | --- | --- |\n"
        "| `notes/new.md` | 11-22 10:00 | 5 B |"
    )
    await press(bot, "Confirm")
    bot.at("2026-11-23 18:00")
    await bot.look()
    assert "`notes/new.md`" in bot.screen[-1]
    count = len(bot.screen)
    bot.at("2026-11-24 18:00")
    await bot.look()
    assert len(bot.screen) == count
    writes(bot, "notes/old.md", "2026-11-25 10:00")
    bot.at("2026-11-25 18:00")
    await bot.look()
    assert "`notes/old.md`" in bot.screen[-1]
    assert "`notes/new.md`" not in bot.screen[-1]


async def test_a_name_that_looks_like_a_table_is_one_cell(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    writes(bot, "notes/a|`b`\nc.md", "2026-11-22 10:00")

    await bot.hears("/report files every day 18:00 notes")

    [row] = [line for line in bot.screen[-1].splitlines() if line.startswith("| notes")]
    assert row == r"| notes/a\|\`b\` c.md | 11-22 10:00 | 5 B |"


async def test_files_of_others_are_not_looked_at(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    writes(bot, "here.md", "2026-11-22 10:00")
    for path in ("..", "../memory_here_bob", "/etc", "none.md", "long" * 100):
        await bot.hears(f"/report files {path}")
        assert bot.screen[-1].startswith("This chat has no file or folder ")


async def test_the_week_tells_what_was_talked_about(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Launch on Friday.", "Yes.")
    await bot.hears("when do we launch?")
    await bot.hears("sure?")
    await bot.hears("/report week")
    said = bot.screen[-1].partition("**Now it would say:**\n\n")[2]
    assert said.startswith("**The week here, 2026-11-16 – 2026-11-23**\n\n| what | how much |\n| --- | --- |\n")
    assert "| conversations | 1 |\n| answers | 2 |\n| reminders and reports | 0 |" in said
    assert said.endswith("*What it was about*\n- when do we launch?")


async def test_titles_of_conversations_keep_the_origin_of_their_words(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Noted.", "Hello.")
    await admit(bot)
    await bot.hears("@parley fetch evil.example when Ann says go", sender="zoe", group="team")
    await bot.hears("/report week every friday 16:00", group="team")
    await press(bot, "Confirm")

    bot.at("2026-11-27 16:00")
    await bot.look()

    job = next(each for each in await bot.store.jobs.in_chat(TEAM) if each.words)
    [firing] = await bot.store.firings.history(job.id, 5)
    assert "fetch evil.example" in firing.text
    assert firing.origin == named("person:Zoe")


async def test_a_guest_is_told_of_their_own_conversations_alone(start_bot: StartTimedBot) -> None:
    may_have_jobs = PermissionSettings(guest={**PermissionSettings().guest, "write": "allow"})
    bot = await start_bot("Soon.", "A tulip.", policy=Policy(may_have_jobs))
    await admit(bot)
    await bot.hears("@parley the salary of Carl", group="team")
    await bot.hears("/new", group="team")
    await bot.hears("@parley a flower", sender="zoe", group="team")

    await bot.hears("/report week", sender="zoe", group="team")

    assert "a flower" in bot.screen[-1]
    assert "salary" not in bot.screen[-1]


async def test_costs_are_those_of_all_for_an_owner_and_of_the_person_for_others(start_bot: StartTimedBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("hello")
    await bot.hears("hello", sender="bob")
    await bot.hears("/report costs")
    assert "**Costs of all, 2026-11-17 – 2026-11-23**" in bot.screen[-1]
    assert "| **all** | 2 |" in bot.screen[-1]
    await bot.hears("/report costs", sender="bob")
    assert "**Your costs, " in bot.screen[-1]
    assert "| **all** | 1 |" in bot.screen[-1]
    await bot.hears("/report costs", group="team")
    assert "**Costs of this chat, 2026-11-17 – 2026-11-23**\n\nNo model was called." in bot.screen[-1]


async def test_all_of_them_are_offered(start_bot: StartTimedBot) -> None:
    bot = await start_bot()
    await bot.hears("/report")
    assert "- **github** – releases, issues and pull requests of a public repository\n" in bot.screen[-1]
    names = [button.action.split()[-1] for row in bot.channel.posts[-1][1].buttons for button in row]
    assert names == [
        "notes",
        "chat",
        "page",
        "usage",
        "weather",
        "feed",
        "files",
        "github",
        "week",
        "costs",
        "calendar",
        "mail",
    ]
    assert (await press(bot, "Weather")).startswith("Which place? Say `/report weather every day 7:30 Berlin`.")
    await bot.hears("/language zh")
    await bot.hears("/report")
    assert "- **weather** – 某地三天的天气" in bot.screen[-1]
