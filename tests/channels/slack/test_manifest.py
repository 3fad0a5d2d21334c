"""The manifest asks for what the code declares, and the declared is what is used; nothing more on either side."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from channels.slack.interactions import ASK
from channels.slack.scopes import EVENTS, SCOPES

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs" / "platforms"


@pytest.fixture
def manifest() -> dict[str, JsonValue]:
    loaded: dict[str, JsonValue] = json.loads((DOCS / "slack-manifest.json").read_text())
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


def test_every_scope_is_explained_to_who_installs_it() -> None:
    page = (DOCS / "slack.md").read_text()

    assert [scope for scope in SCOPES if f"`{scope}`" not in page] == []
