"""Menus on Discord: their entries, what a choice is, and that none breaks Discord's limits."""

from channels.base import Addressed, Button, OutboundMessage
from channels.buttons import Choice, Entry
from channels.discord.adapter import DiscordChannel
from channels.discord.layout import split
from channels.discord.render import rows_of
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_components import check_message
from tests.channels.discord.conftest import Inbox, key_of


async def test_a_menu_stands_for_its_rows_of_buttons_and_a_choice_is_a_press(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    entries = tuple(Entry(label=f"Model {number}", action=f"/model {number}", about="free") for number in range(25))
    rows = tuple((Button(label=entry.label, action=entry.action),) for entry in entries[:3])
    more = Button(label="More", action="/models more")
    menu = Choice(prompt="Choose a model", entries=entries, rows=3)
    (part,) = channel.split(OutboundMessage(markdown="Which?", buttons=(*rows, (more,)), choice=menu))
    assert channel.split(part) == (part,)
    posted = await channel.send(key_of(chat), part, "k")

    (message,) = chat.bot_messages
    assert [[each.text for each in row] for row in message.buttons] == [["More"]]
    assert (message.menus[0].placeholder, len(message.menus[0].options)) == ("Choose a model", 25)
    await chat.picks(ann, "Model 24")
    press = await inbox.press()
    assert (press.action, press.message_id, press.addressed) == ("/model 24", posted.message_id, Addressed.REPLY)
    await channel.edit(posted, OutboundMessage(markdown="It is 24"))
    assert chat.bot_messages[0].menus == []


def test_a_menu_with_odd_entries_and_too_many_rows_keeps_discords_limits() -> None:
    entries = (Entry(label="x" * 300, action="/a", about="y" * 300), Entry(label=" ", action="/b"))
    menu = Choice(prompt="p" * 300, entries=(*entries, entries[0]))
    buttons = tuple((Button(label=str(number), action=f"/{number}"),) for number in range(30))
    (part,) = split(OutboundMessage(markdown="Which?", buttons=buttons, choice=menu))
    check_message(rows_of(part), 0)
    assert len(rows_of(part)) == 5
