"""Commands and buttons of the emulated Discord through the real SDK."""

import discord as sdk
import pytest
from discord import app_commands

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_sdk import Ear, listening
from parley.testing.emulators.discord_state import Person


def refused(code: int) -> "pytest.RaisesExc[sdk.HTTPException]":
    return pytest.raises(sdk.HTTPException, match=rf"error code: {code}\b")


async def register(ear: Ear) -> None:
    """Register /status with an optional argument."""
    arguments = {"type": 3, "name": "arguments", "description": "More words", "required": False}
    command = {
        "name": "status",
        "description": "What goes on",
        "description_localizations": {"de": "Was los ist"},
        "options": [arguments],
    }
    assert ear.application_id is not None
    await ear.http.bulk_upsert_global_commands(ear.application_id, [command])


async def invoked(ear: Ear, chat: Chat, person: Person, text: str) -> "sdk.Interaction[sdk.Client]":
    count = len(ear.interactions)
    await chat.says(person, text)
    await ear.until(lambda: len(ear.interactions) > count)
    return ear.interactions[-1]


async def test_a_registered_command_is_invoked_and_an_unknown_one_is_text(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann", language="de")
    chat = discord.group("Team", [ann])
    async with listening(discord) as ear:
        await register(ear)
        interaction = await invoked(ear, chat, ann, "/status all of it")
        await chat.says(ann, "/unknown thing")
        await ear.until(lambda: len(ear.messages) == 1)

        assert discord.commands == {"status": "What goes on"}
        data = dict(interaction.data or {})
        assert data["name"] == "status"
        assert data["options"] == [{"name": "arguments", "type": 3, "value": "all of it"}]
        assert interaction.locale is sdk.Locale.german
        assert ear.messages[0].content == "/unknown thing"
        assert [each.text for each in chat.messages] == ["/unknown thing"]


async def test_a_first_answer_is_seen_and_there_is_only_one(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        await register(ear)
        interaction = await invoked(ear, chat, ann, "/status")
        said = await interaction.response.send_message("all **well**")
        assert chat.screen == ["all well"]
        assert said.message_id == int(chat.bot_messages[0].id)
        again = sdk.http.Route(
            "POST", "/interactions/{id}/{token}/callback", id=interaction.id, token=interaction.token
        )
        with refused(40060):
            await ear.http.request(again, json={"type": 5})
        await interaction.edit_original_response(content="better")
        await interaction.followup.send("and more")
        assert chat.screen == ["better", "and more"]
        await interaction.delete_original_response()
        assert chat.screen == ["and more"]


async def test_a_deferred_answer_shows_nothing_until_it_is_filled(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    async with listening(discord) as ear:
        await register(ear)
        interaction = await invoked(ear, chat, ann, "/status")
        await interaction.response.defer(ephemeral=True)
        assert (chat.screen, [each.action for each in chat.actions]) == ([], ["thinking"])
        await interaction.followup.send("only you see it")
        assert chat.screen == ["only you see it"]
        assert chat.bot_messages[0].ephemeral
        assert chat.bot_messages[0].history == ["only you see it"]
        seen = [each async for each in ear.get_partial_messageable(int(chat.id)).history()]
        assert seen == []


async def test_an_answer_after_three_seconds_or_fifteen_minutes_is_too_late() -> None:
    now = 0.0
    async with DiscordEmulator(clock=lambda: now) as discord, listening(discord) as ear:
        ann = discord.person("Ann")
        chat = discord.private(ann)
        await register(ear)
        late = await invoked(ear, chat, ann, "/status")
        now += 3.1
        with refused(10062):
            await late.response.defer()
        interaction = await invoked(ear, chat, ann, "/status")
        await interaction.response.defer()
        now += 901
        with refused(50027):
            await interaction.edit_original_response(content="sorry")
        assert discord.violations == []


class Choices(sdk.ui.View):
    """Buttons that the tests answer themselves."""

    def __init__(self, *labels: str) -> None:
        super().__init__(timeout=None)
        for each in labels:
            self.add_item(sdk.ui.Button(label=each, custom_id=f"choose:{each}"))


async def test_a_pressed_button_is_answered_by_changing_its_message(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    async with listening(discord) as ear:
        await chat.says(ann, "ask me")
        await ear.until(lambda: len(ear.messages) == 1)
        await ear.messages[0].reply("Sure?", view=Choices("Yes", "No"))
        assert [[each.text for each in row] for row in chat.bot_messages[0].buttons] == [["Yes", "No"]]
        press = await chat.presses(ann, "Yes")
        assert not press.answered
        await ear.until(lambda: len(ear.interactions) == 1)
        (interaction,) = ear.interactions
        assert interaction.message is not None
        assert interaction.message.content == "Sure?"
        await interaction.response.edit_message(content="Sure: yes", view=None)

        assert press.answered
        assert chat.screen == ["Sure: yes"]
        assert chat.bot_messages[0].buttons == []


async def test_a_button_can_be_acknowledged_first_and_a_message_follow(discord: DiscordEmulator) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    async with listening(discord) as ear:
        await chat.says(ann, "ask me")
        await ear.until(lambda: len(ear.messages) == 1)
        await ear.messages[0].channel.send("Sure?", view=Choices("Yes"))
        press = await chat.presses(ann, "Yes")
        await ear.until(lambda: len(ear.interactions) == 1)
        await ear.interactions[0].response.defer()
        assert press.answered
        await ear.interactions[0].followup.send("done", ephemeral=True)
        assert chat.screen == ["Sure?", "done"]


async def test_commands_are_listed_with_or_without_their_words_in_other_languages(discord: DiscordEmulator) -> None:
    async with listening(discord) as ear:
        await register(ear)
        tree = app_commands.CommandTree(ear)
        (command,) = await tree.fetch_commands()
        # The SDK does not ask for them.
        assert command.description_localizations == {}
        assert [each.name for each in command.options] == ["arguments"]
        (full,) = await ear.http.request(_listing(discord), params={"with_localizations": "true"})
        assert full["description_localizations"] == {"de": "Was los ist"}
        tree.clear_commands(guild=None)
        await tree.sync()
        assert discord.commands == {}


def _listing(discord: DiscordEmulator) -> sdk.http.Route:
    application = int(discord.application_id)
    return sdk.http.Route("GET", "/applications/{application_id}/commands", application_id=application)
