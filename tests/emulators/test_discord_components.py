"""Messages of components, menus and modals of the emulated Discord, through the real SDK."""

import io
from collections.abc import AsyncIterator

import discord as sdk
import pytest
from discord import ui
from pydantic import JsonValue

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_sdk import Ear, listening
from parley.testing.emulators.discord_state import Json, Person

LAYOUT = 1 << 15


@pytest.fixture
async def ear(discord: DiscordEmulator) -> AsyncIterator[Ear]:
    async with listening(discord) as connected:
        yield connected


def text(words: str) -> Json:
    return {"type": 10, "content": words}


async def refused(ear: Ear, chat: Chat, body: Json) -> sdk.HTTPException:
    """Post a message that Discord refuses, and return the refusal."""
    route = sdk.http.Route("POST", "/channels/{channel_id}/messages", channel_id=int(chat.id))
    with pytest.raises(sdk.HTTPException) as refusal:
        await ear.http.request(route, json={"allowed_mentions": {"parse": []}, **body})
    assert refusal.value.code == 50035
    return refusal.value


def view(*items: ui.Item[ui.LayoutView]) -> ui.LayoutView:
    made = ui.LayoutView()
    for item in items:
        made.add_item(item)
    return made


async def test_a_message_of_components_shows_its_texts_pictures_and_files(discord: DiscordEmulator, ear: Ear) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    picture, report = sdk.File(io.BytesIO(b"PNG"), "chart.png"), sdk.File(io.BytesIO(b"PDF"), "report.pdf")
    box: ui.Container[ui.LayoutView] = ui.Container(
        ui.TextDisplay("It is **391**."),
        ui.Separator(),
        ui.MediaGallery(sdk.MediaGalleryItem(picture)),
        ui.File(report),
    )
    channel = ear.get_partial_messageable(int(chat.id))
    sent = await channel.send(view=view(box), files=[picture, report])

    assert chat.screen == ["[chart.png] [report.pdf] It is 391."]
    assert (sent.content, sent.attachments, sent.flags.components_v2) == ("", [], True)
    (shown,) = sent.components
    assert isinstance(shown, sdk.Container)
    assert [each.type.name for each in shown.children] == ["text_display", "separator", "media_gallery", "file"]
    read = await channel.fetch_message(sent.id)
    (box_read,) = read.components
    assert isinstance(box_read, sdk.Container)
    gallery = box_read.children[2]
    assert isinstance(gallery, sdk.MediaGalleryComponent)
    assert gallery.items[0].media.url.startswith(f"{discord.url}/attachments/")


async def test_a_plain_message_becomes_one_of_components_and_never_goes_back(
    discord: DiscordEmulator, ear: Ear
) -> None:
    chat = discord.private(discord.person("Ann"))
    channel = ear.get_partial_messageable(int(chat.id))
    sent = await channel.send("Working on it")
    with pytest.raises(sdk.HTTPException, match="IS_COMPONENTS_V2"):
        await sent.edit(view=view(ui.TextDisplay("Done")))
    await sent.edit(content=None, view=view(ui.TextDisplay("Done")))
    assert chat.screen == ["Done"]
    with pytest.raises(sdk.HTTPException, match="'content' field cannot be used"):
        await sent.edit(content="Back again", view=None)
    assert chat.bot_messages[0].history == ["Working on it", "Done"]


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"flags": LAYOUT, "content": "x", "components": [text("y")]}, "content", "LEGACY_FIELDS"),
        ({"flags": LAYOUT, "embeds": [{"title": "x"}], "components": [text("y")]}, "embeds", "LEGACY_FIELDS"),
        ({"components": [text("y")]}, "components.0.type", "must be one of (1,)."),
        ({"flags": LAYOUT, "components": [text("y")] * 41}, "components", "between"),
        (
            {"flags": LAYOUT, "components": [{"type": 17, "components": [text("y")] * 39}, text("z")]},
            "components",
            "total number of components exceeds 40",
        ),
        ({"flags": LAYOUT, "components": [text("y" * 2001)] * 2}, "components", "maximum size of 4000"),
        ({"flags": LAYOUT, "components": [text("")]}, "components.0.content", "at least 1 character"),
        (
            {"flags": LAYOUT, "components": [{"type": 17, "components": [{"type": 17, "components": []}]}]},
            "components.0.components.0.type",
            "must be one of (1, 9, 10, 12, 13, 14)",
        ),
        (
            {"flags": LAYOUT, "components": [{"type": 9, "components": [text("y")]}]},
            "components.0.accessory.type",
            "must be one of (2, 11)",
        ),
        (
            {"flags": LAYOUT, "components": [{"type": 13, "file": {"url": "attachment://none.pdf"}}]},
            "components.0.file.url",
            "attachment://none.pdf not found",
        ),
    ],
)
async def test_a_message_of_components_against_the_rules_is_refused(
    discord: DiscordEmulator, ear: Ear, body: Json, path: str, code: str
) -> None:
    chat = discord.private(discord.person("Ann"))
    refusal = await refused(ear, chat, body)
    assert f"In {path}" in refusal.text
    assert code.replace("LEGACY_FIELDS", "cannot be used when") in refusal.text
    assert chat.screen == []


def menu(options: list[JsonValue], **more: JsonValue) -> Json:
    row: Json = {"type": 3, "custom_id": "which", "options": options, **more}
    return {"content": "Which?", "components": [{"type": 1, "components": [row]}]}


def options(count: int) -> list[JsonValue]:
    return [{"label": f"Entry {number}", "value": str(number)} for number in range(count)]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (menu(options(26)), "components.0.components.0.options"),
        (menu([]), "components.0.components.0.options"),
        (
            menu([{"label": "a", "value": "x"}, {"label": "b", "value": "x"}]),
            "components.0.components.0.options.1.value",
        ),
        (menu([{"label": "a" * 101, "value": "x"}]), "components.0.components.0.options.0.label"),
        (menu([{"label": "a", "value": "x", "description": "d" * 101}]), "components.0.components.0.options.0"),
        (menu(options(2), max_values=3), "components.0.components.0.max_values"),
        (menu(options(2), placeholder="p" * 151), "components.0.components.0.placeholder"),
    ],
)
async def test_a_menu_against_the_rules_is_refused(discord: DiscordEmulator, ear: Ear, body: Json, path: str) -> None:
    chat = discord.private(discord.person("Ann"))
    assert f"In {path}" in (await refused(ear, chat, body)).text


async def test_a_choice_in_a_menu_arrives_with_its_value(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    made: ui.View = ui.View()
    made.add_item(ui.Select(custom_id="which", options=[sdk.SelectOption(label="Small", value="s")]))
    await ear.get_partial_messageable(int(chat.id)).send("Which?", view=made)
    await chat.picks(ann, "Small")
    await ear.until(lambda: bool(ear.interactions))

    (interaction,) = ear.interactions
    assert interaction.type is sdk.InteractionType.component
    assert dict(interaction.data or {})["values"] == ["s"]
    await interaction.response.edit_message(content="Small it is", view=None)
    assert chat.screen == ["Small it is"]


class Questions(ui.Modal, title="Remind"):
    when: ui.Label[ui.Modal] = ui.Label(text="When", component=ui.TextInput(custom_id="when", max_length=20))
    what: ui.Label[ui.Modal] = ui.Label(
        text="What", component=ui.TextInput(custom_id="what", required=False, default="call")
    )
    file: ui.Label[ui.Modal] = ui.Label(text="File", component=ui.FileUpload(custom_id="file", required=False))


async def asked(discord: DiscordEmulator, ear: Ear, chat: Chat, ann: Person) -> None:
    """Let Ann give a command that is answered by a modal."""
    assert ear.application_id is not None
    await ear.http.bulk_upsert_global_commands(ear.application_id, [{"name": "remind", "description": "Remind"}])
    await chat.says(ann, "/remind")
    await ear.until(lambda: bool(ear.interactions))
    await ear.interactions[0].response.send_modal(Questions(custom_id="remind"))


async def test_a_modal_is_filled_in_and_submitted_once(discord: DiscordEmulator, ear: Ear) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await asked(discord, ear, chat, ann)
    form = chat.form(ann)
    assert form.title == "Remind"
    with pytest.raises(AssertionError, match="lets nobody send 0 characters"):
        await chat.submits(ann, form, {})
    await chat.submits(ann, form, {"When": "in 5m", "File": ("plan.txt", b"milk", "text/plain")})
    await ear.until(lambda: len(ear.interactions) == 2)

    submitted = ear.interactions[1]
    assert submitted.type is sdk.InteractionType.modal_submit
    data = dict(submitted.data or {})
    parts = data["components"]
    assert [each["component"].get("value") for each in parts[:2]] == ["in 5m", "call"]  # type: ignore[index]
    await submitted.response.send_message("noted")
    assert chat.screen == ["noted"]
    with pytest.raises(AssertionError, match="sees no modal"):
        chat.form(ann)
    again = sdk.http.Route("POST", "/interactions/{id}/{token}/callback", id=submitted.id, token=submitted.token)
    with pytest.raises(sdk.HTTPException, match="40060"):
        await ear.http.request(again, json={"type": 6})


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"title": "t" * 46, "custom_id": "x"}, "data.title"),
        ({"title": "t", "custom_id": "x" * 101}, "data.custom_id"),
        ({"title": "t", "custom_id": "x", "components": []}, "data.components"),
        ({"title": "t", "custom_id": "x", "components": [{"type": 17}]}, "data.components.0.type"),
        (
            {"title": "t", "custom_id": "x", "components": [{"type": 18, "label": "l" * 46, "component": {}}]},
            "data.components.0.label",
        ),
    ],
)
async def test_a_modal_against_the_rules_is_refused(discord: DiscordEmulator, ear: Ear, data: Json, path: str) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    assert ear.application_id is not None
    await ear.http.bulk_upsert_global_commands(ear.application_id, [{"name": "remind", "description": "Remind"}])
    await chat.says(ann, "/remind")
    await ear.until(lambda: bool(ear.interactions))
    interaction = ear.interactions[0]
    route = sdk.http.Route("POST", "/interactions/{id}/{token}/callback", id=interaction.id, token=interaction.token)
    body: Json = {
        "components": [{"type": 18, "label": "l", "component": {"type": 4, "custom_id": "c", "style": 1}}],
        **data,
    }
    with pytest.raises(sdk.HTTPException) as refusal:
        await ear.http.request(route, json={"type": 9, "data": body})
    assert f"In {path}" in refusal.value.text
