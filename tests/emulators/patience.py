"""Platforms that wait for an answer as long as a busy machine may take, for tests of something else."""

import pytest

from parley.testing.emulators import discord_interactions, slack_world

PATIENCE = 60.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Discord and Slack wait a minute instead of three seconds for the answer to what somebody presses."""
    monkeypatch.setattr(discord_interactions, "FIRST_ANSWER_SECONDS", PATIENCE)
    monkeypatch.setattr(slack_world, "TRIGGER_SECONDS", PATIENCE)
