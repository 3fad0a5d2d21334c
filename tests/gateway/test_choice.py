"""Menus of lists: which entries they have, that their pages reach all of them, and what a choice does."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import ScriptedLlm
from channels.buttons import MOST_ENTRIES, Choice, Entry
from gateway.commands.choice import Asked
from gateway.permissions.roles import People
from gateway.runs.model_set import ModelMenu
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_skill_commands import library, write_skill

ANN = frozenset({"memory:ann"})
OTHERS = frozenset(f"memory:person-{number}" for number in range(400))


def models(count: int) -> ModelMenu:
    return ModelMenu(
        tuple(
            Candidate(ModelInfo(id=f"lab/model-{number}", context_window=8_000), ScriptedLlm(f"I am {number}."))
            for number in range(count)
        )
    )


def menu(bot: Bot) -> Choice:
    """Return the menu of the newest message."""
    made = bot.channel.posts[-1][1].choice
    assert made is not None
    return made


async def walked(bot: Bot) -> list[str]:
    """Go through all pages of the menu, and return the commands of its entries."""
    found: list[str] = []
    while True:
        *entries, last = menu(bot).entries
        assert len(entries) < MOST_ENTRIES
        found += [entry.action for entry in entries]
        if last.label.startswith("Back to the first page"):
            return found
        await bot.channel.presses(last.action)
        await bot.app.settled()


async def test_each_of_400_models_is_on_one_page_of_the_menu_and_can_be_chosen(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=models(400))

    await bot.hears("/model")
    found = await walked(bot)
    assert [each for each in found if "lab/" in each] == [f"/model lab/model-{number}" for number in range(400)]
    assert len(bot.screen) == 1  # each page replaces the one before
    await bot.channel.presses("/model lab/model-398")
    await bot.app.settled()
    await bot.hears("hello")
    assert bot.screen[-1] == "I am 398."


async def test_a_short_list_of_models_has_them_all_and_the_way_back(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=models(3))
    await bot.hears("/model lab/model-1")
    await bot.hears("/model")

    assert [entry.action for entry in menu(bot).entries][-1] == "/model default"
    assert "/model lab/model-1" not in [entry.action for entry in menu(bot).entries]
    assert menu(bot).rows == len(bot.channel.posts[-1][1].buttons)


async def test_members_may_turn_the_pages_of_models_where_they_may_not_choose(start_bot: StartBot) -> None:
    bot = await start_bot("Default.", models=models(100), people=People(frozenset(), ANN))
    await bot.hears("/model", group="team")
    await bot.hears("/model more 2", group="team")
    assert "lab/model-25" in bot.screen[-1]


async def test_each_of_400_people_is_on_one_page_of_the_menu(start_bot: StartBot) -> None:
    bot = await start_bot(people=People(ANN, OTHERS))
    await bot.hears("/people")
    found = await walked(bot)
    assert sorted(found) == sorted(f"/person {who}" for who in OTHERS)
    assert menu(bot).entries[0].about == "Member"
    await bot.hears("/people person-39")
    assert len(menu(bot).entries) == 11


async def test_the_menu_of_skills_shows_the_one_that_is_chosen(start_bot: StartBot, tmp_path: Path) -> None:
    for number in range(60):
        write_skill(tmp_path, f"skill-{number:02}", description=f"Does {number}. And more.")
    bot = await start_bot(skills=library(tmp_path))
    await bot.hears("/skills")
    assert menu(bot).entries[0] == Entry(label="○ skill-00", action="/skill skill-00", about="Does 0.")
    assert await walked(bot) == [f"/skill skill-{number:02}" for number in range(60)]
    await bot.channel.presses("/skill skill-59")
    await bot.app.settled()
    assert "Does 59" in bot.screen[-1]


async def test_the_menu_of_conversations_goes_back_to_one(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")
    await bot.hears("/new")
    await bot.hears("second")
    await bot.hears("/sessions")
    (entry,) = menu(bot).entries
    await bot.channel.presses(entry.label)
    await bot.app.settled()
    assert bot.screen[-1].startswith("Back in **first**")


def test_an_entry_is_a_command_and_no_words() -> None:
    with pytest.raises(ValidationError, match="is no command"):
        Entry(label="Yes", action="I agree to everything")


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("", ("", 1)),
        ("more 2", ("", 2)),
        ("flight more 12", ("flight", 12)),
        ("更多 3", ("", 3)),
        ("more", ("more", 1)),
        ("more 0", ("more 0", 1)),
        ("more 2x", ("more 2x", 1)),
        ("anymore 2", ("anymore 2", 1)),
    ],
)
def test_the_page_is_the_last_of_what_is_typed(typed: str, asked: tuple[str, int]) -> None:
    assert Asked.parse(typed) == asked
