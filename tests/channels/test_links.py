"""The text of a link never shows another address than its target, on any channel."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import ChatKey, OutboundMessage
from channels.discord import render as discord
from channels.links import show_link_targets
from channels.memory import MemoryChannel
from channels.slack import render as slack
from channels.telegram import render as telegram
from channels.web import render as web
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets

EVIL = "https://evil.example"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"[https://bank.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[http://192.168.0.1:80/x]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[www.bank.example/login]({EVIL}/a_b)", rf"[{EVIL}/a\_b]({EVIL}/a_b)"),
        (f"[bank.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[Log in at bank.example now]({EVIL}/a)", f"[Log in at bank.example now (evil.example)]({EVIL}/a)"),
        (f"[**https://bank**.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[https://ba\u200bnk.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[h&#116;tps://bank.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[https\\://bank.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f'[https://bank.example]({EVIL} "a (title")', f'[{EVIL}]({EVIL} "a (title")'),
        (f"[https://bank.example]({EVIL}/((x)))", f"[{EVIL}/((x))]({EVIL}/((x)))"),
        (f"[https://bank.example\n](<{EVIL}>)", f"[{EVIL}](<{EVIL}>)"),
        (f"![https://bank.example]({EVIL}/i.png)", f"![{EVIL}/i.png]({EVIL}/i.png)"),
        (f"[![bank.example]({EVIL}/i.png)]({EVIL})", f"[{EVIL}]({EVIL})"),
        ("[https://bank.example](mailto:x@evil.example)", "[mailto:x@evil.example](mailto:x@evil.example)"),
        (f"[https://bank.example](https://bank.example@{EVIL[8:]})", "[https://bank.example@evil.example]"),
        (f"[https://bank.example][1]\n\n[1]: {EVIL}", f"[{EVIL}](<{EVIL}>)\n\n[1]: {EVIL}"),
        (f"[bank.example][]\n\n[bank.example]: {EVIL}", f"[{EVIL}](<{EVIL}>)\n\n[bank.example]: {EVIL}"),
        (f"[bank.example]\n\n[bank.example]: {EVIL}", f"[{EVIL}](<{EVIL}>)\n\n[bank.example]: {EVIL}"),
        (f"a \\` [https://bank.example]({EVIL}) `", f"a \\` [{EVIL}]({EVIL}) `"),
        (f"a ` b\nc ` [https://bank.example]({EVIL}) ` d", f"a ` b\nc ` [{EVIL}]({EVIL}) ` d"),
        (f"[bank.example {'x' * 2_000}]({EVIL})", f"{'x' * 2_000} (evil.example)]({EVIL})"),
    ],
)
def test_words_that_claim_another_address_show_the_real_one(said: str, shown: str) -> None:
    assert shown in show_link_targets(said)
    assert show_link_targets(show_link_targets(said)) == show_link_targets(said)


@pytest.mark.parametrize(
    "said",
    [
        f"[click here]({EVIL})",
        "[https://bank.example](https://bank.example/login)",
        "[bank.example](https://www.bank.example/login) and [WWW.Bank.Example](http://bank.example)",
        "[README.md](https://github.com/a/b/README.md), [e.g. 3.11](https://docs.python.org)",
        "[bank.example](mailto:ann@bank.example)",
        "[https://bank.example](notes.md)",
        f"`[https://bank.example]({EVIL})`",
        f"```\n[https://bank.example]({EVIL})\n```",
        f"words\n\n~~~md\n[bank.example]({EVIL})\n~~~\n\nmore ``[bank.example]({EVIL})``",
        f"[https://bank.example] ({EVIL})",
        f"https://bank.example and {EVIL}",
        "",
    ],
)
def test_everything_else_stays_as_it_is(said: str) -> None:
    assert show_link_targets(said) == said


PIECES = [*'[]()a `\n\\<>!"', "](", "bank.example", EVIL, "```\n", "[1]: "]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_what_is_honest_stays_as_it_is(said: str) -> None:
    assert show_link_targets(show_link_targets(said)) == show_link_targets(said)


async def test_every_channel_shows_the_real_address() -> None:
    channel, chat = MemoryChannel(), ChatKey(platform="memory", account="here", chat="ann")
    voice = MaskedChannel(channel, Secrets([]))
    lie = OutboundMessage(markdown=f"Your bank: [https://bank.example]({EVIL})")

    posted = await voice.post(chat, lie, "1")
    [part] = voice.split(lie)
    assert channel.screen_of(chat) == [part.markdown]
    await voice.rewrite(posted, lie.model_copy(update={"markdown": f"Your [bank.example]({EVIL})"}))
    assert channel.screen_of(chat) == [f"Your [{EVIL}]({EVIL})"]

    text, entities = telegram.render(part.markdown)
    assert text == f"Your bank: {EVIL}"
    assert {"type": "text_link", "offset": 11, "length": 20, "url": EVIL}.items() <= dict(entities[0]).items()
    assert slack.mrkdwn(part.markdown) == f"Your bank: <{EVIL}|{EVIL}>"
    assert f'<a href="{EVIL}"' in web.render(part.markdown)
    assert f">{EVIL}</a>" in web.render(part.markdown)
    assert discord.render(part.markdown) == f"Your bank: {EVIL}"
