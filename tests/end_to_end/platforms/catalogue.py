"""The platforms, and marks that select on which of them a test runs."""

from collections.abc import Callable

import pytest

from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.platform import Facts, Platform
from tests.end_to_end.platforms.slack import Slack, SlackPane
from tests.end_to_end.platforms.telegram import Telegram
from tests.end_to_end.platforms.terminal import Terminal
from tests.end_to_end.platforms.web import Web

KINDS: dict[str, Callable[[], Platform]] = {
    "telegram": Telegram,
    "slack": Slack,
    "slack in the pane": SlackPane,
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
    """Return a mark that restricts a test or module to platforms with this property. Several marks combine. On other
    platforms the test is not collected, rather than skipped."""
    return pytest.mark.where.with_args(condition)


def only(*names: str) -> pytest.MarkDecorator:
    """Return a mark for tests of single platforms, or for slow tests that run on a few of them."""
    return where(lambda facts: facts.name in names)
