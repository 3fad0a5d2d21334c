"""The manifest asks for exactly what the code declares, and the code uses all of it."""

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import Menu, OutboundMessage
from channels.slack.adapter import open_channel
from channels.slack.config import EVENTS, SCOPES
from channels.slack.interactions import ASK, ENGLISH
from channels.slack.setup import with_agent_view
from channels.values import Known
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_state import Kind
from tests.channels.slack.conftest import COMMANDS, Inbox, config_for, key_of

ROOT = Path(__file__).parents[3]
KINDS: tuple[Kind, ...] = ("channel", "group", "mpim")
DOCS = ROOT / "docs" / "platforms"


@pytest.fixture
def manifest() -> dict[str, JsonValue]:
    loaded: dict[str, JsonValue] = json.loads((ROOT / "channels" / "slack" / "manifest.json").read_text())
    return loaded


def test_it_asks_for_the_scopes_that_the_code_declares(manifest: dict[str, JsonValue]) -> None:
    assert manifest["oauth_config"] == {"scopes": {"bot": sorted(SCOPES)}}


def test_it_subscribes_to_the_events_that_the_code_declares(manifest: dict[str, JsonValue]) -> None:
    settings = manifest["settings"]
    assert isinstance(settings, dict)
    assert settings["event_subscriptions"] == {"bot_events": sorted(EVENTS)}


def test_its_shortcut_and_its_command_are_those_that_the_code_knows(manifest: dict[str, JsonValue]) -> None:
    features = json.dumps(manifest["features"])

    assert f'"callback_id": "{ASK}"' in features
    assert '"command": "/parley"' in features


def test_one_with_the_agent_view_differs_in_that_alone(manifest: dict[str, JsonValue]) -> None:
    other = with_agent_view(manifest)

    usual, changed = json.dumps(manifest), json.dumps(other)
    assert "assistant_view" in usual
    assert "assistant_" not in changed
    assert "agent_session_stopped" in changed
    features = other["features"]
    assert isinstance(features, dict)
    assert features["agent_view"] == {
        "agent_description": "Ask, and Parley answers, with the tools that its owner gave it.",
        "suggested_prompts": [{"title": title, "message": words} for title, words in ENGLISH.prompts],
    }
    assert {key for key in manifest if manifest[key] != other[key]} == {"features", "settings"}


def test_every_scope_is_explained_to_who_installs_it() -> None:
    page = (DOCS / "slack.md").read_text()

    assert [scope for scope in SCOPES if f"`{scope}`" not in page] == []


def with_file(folder: Path) -> OutboundMessage:
    (folder / "a.txt").write_bytes(b"a")
    return OutboundMessage(markdown="", attachments=(Attachment(name="a.txt", path=str(folder / "a.txt")),))


async def test_all_of_it_is_used_and_nothing_else(tmp_path: Path) -> None:
    """Use every feature once, in a workspace that grants only what the manifest asks for."""
    async with SlackEmulator(scopes=SCOPES) as slack:
        channel, inbox = open_channel(config_for(slack)), Inbox(slack)
        running = asyncio.create_task(channel.run(inbox, Menu(COMMANDS)))
        await slack.wait_for(lambda: slack.connected)
        ann = slack.person("Ann")
        rooms = {kind: slack.group("plans", [ann], kind=kind) for kind in KINDS}
        for chat in (slack.private(ann), *rooms.values()):
            await chat.says(ann, "@parley_bot look", document=("b.txt", b"b", "text/plain"))
            event = await inbox.message()
            await inbox.until(lambda _: slack.unheard == 0)
            await channel.typing(event.chat)
            await channel.history(key_of(slack, chat))
            hi, ho = OutboundMessage(markdown="hi"), OutboundMessage(markdown="ho")
            await channel.edit(await channel.send(event.chat, hi, "k"), ho)
            await channel.find_sent(event.chat, hi, "k", Known())
            assert await channel.download(event.attachments[0]) == b"b"
        assert all([await channel.is_member(key_of(slack, rooms[kind]), ann.id) for kind in ("channel", "group")])
        await channel.send(await channel.private_chat(ann.id), with_file(tmp_path), "k2")
        await chat.says(ann, "/help")
        await inbox.next()
        pane = await slack.private(ann).opens_assistant(ann)
        await pane.until(lambda shown: shown.actions[-1].action == "prompts")
        slack.uninstall()
        await asyncio.wait((running,), timeout=30)
        slack.revoke()
        await channel.close()

    assert running.exception() is not None
    assert slack.violations == []
    assert slack.scopes_used == set(SCOPES)
    assert slack.events_used == set(EVENTS)
