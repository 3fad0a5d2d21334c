"""Words within many quotations or lists arrive on each platform."""

from collections.abc import Callable

import pytest

from channels.base import OutboundMessage
from channels.discord import render as discord
from channels.slack import render as slack
from channels.telegram import render as telegram
from channels.terminal import text as terminal
from channels.web.render import render


def said(text: str) -> OutboundMessage:
    return OutboundMessage(markdown=text)


DRAWN: dict[str, Callable[[str], object]] = {
    "Slack": lambda text: [slack.body(part) for part in slack.split(said(text))],
    "Telegram": lambda text: telegram.split(said(text)),
    "Discord": lambda text: discord.split(said(text)),
    "the page": render,
    "the terminal": lambda text: terminal.readable(said(text)),
}
DEEP = 14
QUOTED = ">" * 2 * DEEP + " the innermost"
LISTED = "\n".join(f"{'  ' * depth}- item {depth}." for depth in range(DEEP))


@pytest.mark.parametrize("platform", DRAWN)
def test_the_innermost_words_arrive(platform: str) -> None:
    assert "the innermost" in str(DRAWN[platform](QUOTED))
    drawn = str(DRAWN[platform](LISTED))
    assert [depth for depth in range(DEEP) if f"item {depth}." not in drawn.replace("\\.", ".")] == []
