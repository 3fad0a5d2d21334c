"""The text of a link never shows another address than its target, on any channel."""

import re

import pytest
from hypothesis import example, given
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
FORGE = "https://github.com"
"""Of which each project has a path."""


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
        (f"[bank\u3002example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[\u94f6\u884c\u3002\u4e2d\u56fd]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank\uff61example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank.\nexample]({EVIL})", f"[bank.\nexample (evil.example)]({EVIL})"),
        (f"[bank\n.example]({EVIL})", f"[bank\n.example (evil.example)]({EVIL})"),
        (f"[at https://\nbank\u2024\nexample now]({EVIL})", f"now (evil.example)]({EVIL})"),
        (f"[mail@bank.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        ("[boss@bank.example](mailto:x@evil.example)", "[mailto:x@evil.example](mailto:x@evil.example)"),
        ("[boss@mail.example](mailto:x@mail.example)", "[mailto:x@mail.example](mailto:x@mail.example)"),
        ("[Ask boss@mail.example](mailto:x@mail.example)", "[Ask boss@mail.example (x@mail.example)]"),
        ("[https://bank.example](https://bank.example:8443)", "[https://bank.example:8443]"),
        ("[bank.example:8080](https://bank.example)", "[https://bank.example](https://bank.example)"),
        ("[see bank.example](http://bank.example:81/x)", "[see bank.example (bank.example:81)]"),
        ("[http://bank.example:443](http://bank.example)", "[http://bank.example](http://bank.example)"),
        ("[bank.example](https://b\u0430nk.example/a)", "[https://xn--bnk-6cd.example/a]"),
        ("[b\u0430nk.example](https://b\u0430nk.example)", "(xn--bnk-6cd.example)]"),
        (f"[192.168.0.1]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[router at 10.0.0.138:8080/login]({EVIL})", f"[router at 10.0.0.138:8080/login (evil.example)]({EVIL})"),
        (f"[localhost:8080]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank\u00b7example]({EVIL}) [bank\u2027example]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[1.2/bank.example]({EVIL})", f"[1.2/bank.example (evil.example)]({EVIL})"),
        (f"[www.bank.sh]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank.example](https&colon;//{EVIL[8:]})", f"[{EVIL}]"),
        (f"[bank.example](&#104;ttps://{EVIL[8:]})", f"[{EVIL}]"),
        (f"[bank.example](https\\://{EVIL[8:]})", f"[{EVIL}]"),
        (f"[bank.example](https://bank.example\\@{EVIL[8:]})", f"[https://bank.example@{EVIL[8:]}]"),
        (f"[bank.example](<https://bank.example\\@{EVIL[8:]}>)", f"[https://bank.example@{EVIL[8:]}]"),
        ("[bank.example](www.evil.example/x) [bank.example](evil.example)", "[www.evil.example/x]"),
        ("[x@bank.example](mailto:x@bank.example?Bcc=x@evil.example)", "?Bcc=x@evil.example]"),
        ("[x@bank.example](mailto:x%40bank.example%2Cx@evil.example)", "x@evil.example]("),
        (f"[bank.example][a\\]b]\n\n[a\\]b]: {EVIL}", f"[{EVIL}](<{EVIL}>)"),
        (f"[bank.example][a\nb]\n\n[a\nb]: {EVIL}", f"[{EVIL}](<{EVIL}>)"),
        (f"[bank.example][1]\n\n- [1]: {EVIL}", f"[{EVIL}](<{EVIL}>)"),
        (f"[bank.example][1]\n\n> 1. [1]: {EVIL}", f"[{EVIL}](<{EVIL}>)"),
        (f"[bank\u200a.example]({EVIL}) [bank.\u2800example]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[bank[.]example]({EVIL}) [bank (dot) example]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[at bank dot example or bank .example]({EVIL})", f"or bank .example (evil.example)]({EVIL})"),
        (f"[bank.example-login]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank<!-- x -->.example]({EVIL})", f"[{EVIL}]({EVIL})"),
        (f"[bank\u30fbexample]({EVIL}) [bank\ua78fexample]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[bank.c0m]({EVIL}) [bank.0rg/x]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[bank.com@evil]({EVIL}) [@bank.com]({EVIL})", f"[{EVIL}]({EVIL}) [@bank.com (evil.example)]({EVIL})"),
        (f"[bank,com]({EVIL}) [bank. com]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[bank . com]({EVIL}) [bank\u02d9com]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[<https://bank.example>]({EVIL}) [<bank.example>]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[<x@bank.example>]({EVIL}) [&lt;bank.example&gt;]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[<at bank.example>]({EVIL})", f"[<at bank.example> (evil.example)]({EVIL})"),
        (f"[<!-- bank.example -->]({EVIL})", f"[<!-- bank.example --> (evil.example)]({EVIL})"),
        (f"[https:/bank.com]({EVIL}) [b\u0430nk.com]({EVIL})", f"[{EVIL}]({EVIL}) [{EVIL}]({EVIL})"),
        (f"[\u202emoc.1knab]({EVIL})", f"[moc.1knab (evil.example)]({EVIL})"),
        (f"[&#8238;moc.1knab]({EVIL})", f"[moc.1knab (evil.example)]({EVIL})"),
        (f"[\u2067moc.x\u2069]({EVIL})", f"[moc.x (evil.example)]({EVIL})"),
        (f"\u202e&#x202e;[moc.1knab]({EVIL})", f"[moc.1knab]({EVIL})"),
        (f"[github.com/good/repo]({FORGE}/evil/repo)", f"[{FORGE}/evil/repo]({FORGE}/evil/repo)"),
        (f"[{FORGE}/good]({FORGE}/good-evil)", f"[{FORGE}/good-evil]({FORGE}/good-evil)"),
        ("[t.me/bank](https://t.me/evil?x=1)", "[https://t.me/evil?x=1](https://t.me/evil?x=1)"),
        ("[@bank](https://t.me/evil)", "[https://t.me/evil](https://t.me/evil)"),
        ("[@Bank](https://telegram.me/s/evil?start=bank)", "[https://telegram.me/s/evil?start=bank]"),
        ("[@my_bank](https://t.me/mybank) [@mybank](https://t.me/my_bank)", r") [https://t.me/my\_bank]("),
        (r"[@my\_bank](https://t.me/mybank)", "[https://t.me/mybank](https://t.me/mybank)"),
        ("[@bank](https://evil.t.me)", "[https://evil.t.me](https://evil.t.me)"),
        ("[@bank](http://bank@t.me/+invite)", "[http://bank@t.me/+invite](http://bank@t.me/+invite)"),
        ("[Ask @bank, please](https://t.me/evil)", "[Ask @bank, please (https://t.me/evil)](https://t.me/evil)"),
        ("[**@b\u200bank**](https://t.me/evil)", "[https://t.me/evil](https://t.me/evil)"),
        ("[@b\u0430nk](https://t.me/bank)", "[https://t.me/bank](https://t.me/bank)"),
        (f"[Get github.com/good, now]({FORGE}/evil)", f"[Get github.com/good, now ({FORGE}/evil)]({FORGE}/evil)"),
        (f"[github.com/a/b]({FORGE}/a%2Fc)", f"[{FORGE}/a%2Fc]"),
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
        "[http://127.0.0.1:8000](http://127.0.0.1:8000/a) and [localhost](http://localhost)",
        f"[1.2.3, 1.2.3.400, 300.1.1.1]({EVIL}) by [Mae \u00b7 Bo, \u4e54\u6cbb\u00b7\u534e\u76db\u987f]({EVIL})",
        f"`[https://bank.example]({EVIL})`",
        f"```\n[https://bank.example]({EVIL})\n```",
        f"words\n\n~~~md\n[bank.example]({EVIL})\n~~~\n\nmore ``[bank.example]({EVIL})``",
        f"[https://bank.example] ({EVIL})",
        "[https://bank.example:443](https://bank.example/x), [bank.example:8443](https://bank.example:8443)",
        "[ann@bank.example](mailto:ann@bank.example?subject=x)",
        "[b\u00fccher.example](https://b\u00fccher.example), [b\u00fccher.example](https://xn--bcher-kva.example)",
        f"[\u8bf7\u770b\u6587\u6863\u3002\u70b9\u8fd9\u91cc]({EVIL})",
        f"[See the\nnotes for 3.11]({EVIL})",
        "[https://docs.python.org/3/library/os.path.html](https://docs.python.org/3/library/os.path.html)",
        "[bank.example](bank.example/login), [the .env file, polka dot dress, node.js-based](https://a.example/notes)",
        "[docs/a.md](docs/a.md#part), [ann@bank.example](mailto:ann@bank.example?subject=to%3A%20x)",
        "[e.g. Mae\u2009Bo](https://a.example), [\u30b8\u30e7\u30f3\u30fb\u30c9\u30a6](https://a.example)",
        f"[bug.h264, a.mp3, a,b, complete. Net income]({EVIL}), [Ann @ work, mail@home]({EVIL})",
        f"[github.com/a/b]({FORGE}/a/b/issues/1?q=2#x), [{FORGE}/a_b/]({FORGE}/a_b), [www.GitHub.com/A/b]({FORGE}/a/B)",
        f"[Look at github.com/a/b, please]({FORGE}/a/b)",
        f"[<{FORGE}/a/b>]({FORGE}/a/b), [<b>a/b</b>]({FORGE}/a/b), [x < y.z > w]({FORGE}/a/b)",
        f"[github.com/a/lon...]({FORGE}/a/long), [github.com/\u00e9]({FORGE}/%C3%A9)",
        "[@bank](https://t.me/bank), [@Bank_Bot](https://t.me/bank_bot?start=1), [_@bank_](https://bank.t.me)",
        r"[@Bank\_Bot](https://t.me/bank_bot), [**@bank_bot**](https://t.me/Bank_Bot/7)",
        "[@bank](https://t.me/s/Bank/12), [Ask @bank.](https://telegram.me/@bank), [the bank](https://t.me/evil)",
        "[@ann](https://github.com/ann), [@media](https://a.example/css), [@types/node](https://a.example/node)",
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


DOTS = [
    ".",
    "\u3002",
    "\uff0e",
    "\uff61",
    "\u2024",
    "&period;",
    "&#46;",
    "\\.",
    "[.]",
    "\u200b.\u200b",
    ".\n",
    "\n.",
    "<b>.</b>",
]
LIES = st.builds(
    "{}{}bank{}example{}{}".format,
    st.sampled_from(["", "Log in at ", "1.5/", "(", "\u94f6\u884c\uff1a", "**", "x\n"]),
    st.sampled_from(["", "https://", "www.", "boss@", "https:\n//", "h\u0442tps://my-"]),
    st.sampled_from(DOTS),
    st.sampled_from(["", ":8443", "/login?a=b.c", "\n", "**", "\u2060"]),
    st.sampled_from(["", " now", "!", " (safe)", "\u3002"]),
)
TARGETS = st.sampled_from(
    [EVIL, f"{EVIL}/bank", "mailto:x@evil.example", "HTTPS://EVIL.EXAMPLE", "//evil.example", "ftp://evil.example"]
)


@given(LIES, TARGETS)
def test_however_an_address_is_spelt_the_real_one_is_seen_in_every_renderer(label: str, target: str) -> None:
    safe = show_link_targets(f"Your [{label}](<{target}>) here")
    text, _ = telegram.render(safe)

    assert show_link_targets(safe) == safe
    on_slack = re.sub(r"<[^|>]*\|", "", slack.mrkdwn(safe))
    on_discord = re.sub(r"\]\([^)]*\)", "]", discord.render(safe))
    on_the_page = re.sub("<[^>]*>", "", web.render(safe))
    for seen in (text, on_slack, on_discord, on_the_page):
        assert "evil.example" in seen.lower(), seen


_LOOKS = {
    "a": "\u0430\u0251\uff41\U0001d41a\u24d0",
    "b": "\uff42\U0001d41b",
    "n": "\uff4e\U0001d427\u0578",
    "k": "\uff4b\u212a\u043a",
    "c": "\u0441\uff43\u217d\u03f2",
    "o": "0\u043e\u03bf\uff4f\u0585",
    "m": "\uff4d\u217f",
    ".": "\u3002\uff0e\uff61\u2024\u0701\u00b7",
}
LETTERS = (st.sampled_from([letter, letter, letter, *_LOOKS[letter]]) for letter in "bank.com")
LIKE_BANK = st.tuples(*LETTERS).map("".join)
_AROUND = st.sampled_from(
    ["{}", "https:/{}", "https://{}", "hxxps://{}", "{}@evil", "@{}", "{}/login", "{}:443", "\u202e{}", "**{}**"]
)


@given(LIKE_BANK, _AROUND)
@example("bank.\u03f20m", "{}")
def test_whatever_looks_like_an_address_is_seen_with_the_real_one_in_every_renderer(host: str, around: str) -> None:
    safe = show_link_targets(f"Your [{around.format(host)}]({EVIL}) here")
    text, _ = telegram.render(safe)

    on_slack = re.sub(r"<[^|>]*\|", "", slack.mrkdwn(safe))
    on_discord = re.sub(r"\]\([^)]*\)", "]", discord.render(safe))
    on_the_page = re.sub("<[^>]*>", "", web.render(safe))
    for seen in (safe.partition("](")[0], text, on_slack, on_discord, on_the_page):
        assert "evil.example" in seen, seen
        assert "\u202e" not in seen
    assert show_link_targets(safe) == safe


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


def test_discord_shows_a_host_whose_letters_look_like_others_in_ascii() -> None:
    safe = show_link_targets("[bank.com](https://b\u0430nk.com/login)")

    assert discord.render(safe) == "https://xn--bnk-6cd.com/login"
