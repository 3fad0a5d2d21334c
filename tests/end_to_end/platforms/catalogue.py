"""Which platforms there are, and on which of them a test runs."""

from collections.abc import Callable

import pytest

from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.platform import Facts, Platform
from tests.end_to_end.platforms.slack import Slack
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.platforms.terminal import Terminal
from tests.end_to_end.platforms.web import Web

KINDS: dict[str, Callable[[], Platform]] = {
    "telegram": Telegram,
    "slack": Slack,
    "discord": Discord,
    "web": Web,
    "terminal": Terminal,
}
FACTS: dict[str, Facts] = {
    "telegram": Telegram.facts,
    "slack": Slack.facts,
    "discord": Discord.facts,
    "web": Web.facts,
    "terminal": Terminal.facts,
}


def where(condition: Callable[[Facts], bool]) -> pytest.MarkDecorator:
    """A mark: this test, or this module, is about those platforms of which this is true. Several marks hold together;
    a test without any runs everywhere. A test that does not apply is not there, rather than skipped."""
    return pytest.mark.where.with_args(condition)


def only(*names: str) -> pytest.MarkDecorator:
    """A mark for what is one platform's own, or so slow that a few have to stand for all."""
    return where(lambda facts: facts.name in names)
