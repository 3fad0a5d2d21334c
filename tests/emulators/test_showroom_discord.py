"""Discord in the showroom: boxes, menus and forms, as the page gets them."""

import time
from collections.abc import AsyncIterator

import discord as sdk
import pytest
from discord import ui

from parley.testing.emulators.discord_sdk import Ear, listening
from tests.emulators.showroom.discord import DiscordExhibit
from tests.emulators.showroom.exhibit import Said, direct

HERE = direct("Ann")
SIZES = [sdk.SelectOption(label="Small", value="s")]


@pytest.fixture
async def exhibit(patient: None) -> AsyncIterator[DiscordExhibit]:
    made = DiscordExhibit(time.time)
    async with made.discord:
        yield made


@pytest.fixture
async def ear(exhibit: DiscordExhibit) -> AsyncIterator[Ear]:
    async with listening(exhibit.discord) as connected:
        yield connected


class Questions(ui.Modal, title="Remind"):
    when: ui.Label[ui.Modal] = ui.Label(text="When", component=ui.TextInput(custom_id="when"))
    what: ui.Label[ui.Modal] = ui.Label(text="What", component=ui.TextInput(custom_id="what", required=False))


async def test_a_form_is_shown_to_its_person_and_filled_in_by_lines(exhibit: DiscordExhibit, ear: Ear) -> None:
    assert ear.application_id is not None
    await ear.http.bulk_upsert_global_commands(ear.application_id, [{"name": "remind", "description": "Remind"}])
    await exhibit.say(HERE, "Ann", Said("/remind"))
    await ear.until(lambda: bool(ear.interactions))
    await ear.interactions[0].response.send_modal(Questions(custom_id="form"))

    (form,) = exhibit.show(HERE).messages
    assert form.only_for == "Ann"
    assert form.parts[0].text.startswith("**Remind**\nWhen:\nWhat:\n")
    await exhibit.say(HERE, "Ann", Said("When: tomorrow\nWhat:\ncall Bob\nand Eve"))
    await ear.until(lambda: len(ear.interactions) == 2)
    submitted = str(dict(ear.interactions[1].data or {})["components"])
    assert "'value': 'tomorrow'" in submitted
    assert "'value': 'call Bob\\nand Eve'" in submitted
    await ear.interactions[1].response.send_message("noted")
    assert [each.only_for for each in exhibit.show(HERE).messages] == [None]


async def test_a_box_is_framed_and_an_entry_of_a_menu_is_pressed(exhibit: DiscordExhibit, ear: Ear) -> None:
    view = ui.LayoutView()
    menu: ui.Select[ui.LayoutView] = ui.Select(custom_id="menu", placeholder="Size", options=SIZES)
    view.add_item(ui.Container(ui.TextDisplay("Which size?"), ui.ActionRow(menu)))
    await ear.get_partial_messageable(int(exhibit.rooms[HERE].id)).send(view=view)

    (shown,) = exhibit.show(HERE).messages
    assert [(part.text, part.role) for part in shown.parts] == [("Which size?", "embed")]
    (drawn,) = shown.menus
    (entry,) = drawn.entries
    assert (drawn.label, entry.label) == ("Size", "Small")
    await exhibit.press(HERE, "Ann", shown.id, entry.label, entry.data)
    await ear.until(lambda: bool(ear.interactions))
    assert dict(ear.interactions[0].data or {})["values"] == ["s"]
    await ear.interactions[0].response.edit_message()
