"""The doctor on Slack, with a fix for each problem."""

import pytest
from pydantic import SecretStr

from channels.slack.config import SCOPES
from channels.slack.doctor import look
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import config_for


async def test_all_is_well(slack: SlackEmulator) -> None:
    findings = (await look(config_for(slack))).findings

    assert [(finding.mark, finding.what) for finding in findings] == [
        ("ok", "slack: the app is @parley_bot in Emulated"),
        ("ok", "slack: Socket Mode answers"),
    ]
    assert slack.hub.opened == 0


async def test_each_missing_scope_is_named_with_what_it_is_for(slack: SlackEmulator) -> None:
    slack.scopes.difference_update(("files:write", "im:history"))
    problems = [finding for finding in (await look(config_for(slack))).findings if finding.mark == "problem"]

    assert [finding.what for finding in problems] == [
        f"slack: the app lacks the scope {scope}, to {SCOPES[scope]}" for scope in ("files:write", "im:history")
    ]
    assert all("reinstall" in finding.fix for finding in problems)


@pytest.mark.parametrize(
    ("token", "value", "what", "fix"),
    [
        ("bot_token", "xoxb-1-2-wrong", "rejects the bot token (invalid_auth)", "SLACK_BOT_TOKEN"),
        ("app_token", "xapp-1-A1-wrong", "rejects the app-level token (invalid_auth)", "SLACK_APP_TOKEN"),
    ],
)
async def test_a_refused_token_is_told_from_which_setting(
    slack: SlackEmulator, token: str, value: str, what: str, fix: str
) -> None:
    findings = (await look(config_for(slack).model_copy(update={token: SecretStr(value)}))).findings
    (problem,) = [finding for finding in findings if finding.mark == "problem"]

    assert what in problem.what
    assert fix in problem.fix
    assert value not in problem.what + problem.fix


async def test_nobody_there(slack: SlackEmulator, unused_tcp_port: int) -> None:
    config = config_for(slack).model_copy(update={"base_url": f"http://127.0.0.1:{unused_tcp_port}/api/"})
    (problem,) = (await look(config)).findings

    assert (problem.mark, "could not reach" in problem.what) == ("problem", True)


async def test_something_else_there(slack: SlackEmulator) -> None:
    slack.faults.fail("auth.test")
    (problem,) = (await look(config_for(slack))).findings

    assert "does not respond like Slack" in problem.what
