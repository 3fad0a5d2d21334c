"""An event of another program is told in the chat for which it is meant, once, and whatever is in it is no command."""

import asyncio
import json
import time
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.plugins.hooks import route, table
from gateway.plugins.hooks.plugin import HooksPlugin
from gateway.plugins.hooks.senders import TOLERANCE, WINDOW
from gateway.plugins.hooks.table import DAY
from gateway.web.rate_limit import RateLimit
from tests.clock import OffsetClock
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import copy_home
from tests.gateway.tasking import rows
from tests.plugins.hooks.sending import SIGN, Hook, added, limited, of_grafana_without_time, sent

PUSH = {
    "action": "opened",
    "repository": {"full_name": "ann/garden"},
    "sender": {"login": "bob"},
    "head_commit": {"message": "Water the *plants*"},
}


async def test_an_event_is_told_with_who_set_the_webhook(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "github")

    answer = await sent(bot, hook, PUSH, {"X-GitHub-Delivery": "1"})

    assert (answer.status, answer.body) == (200, b"taken")
    told = bot.screen[-1]
    assert told.startswith("**GitHub: push** opened · ann/garden · bob\nWater the \\*plants\\*")
    assert told.endswith("_webhook builds, set by Ann_")


@pytest.mark.parametrize("sender", SIGN)
async def test_what_each_sender_signs_is_taken_and_anything_else_is_not(start_bot: StartBot, sender: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook, body = await added(bot, sender), {"id": "evt_1", "message": "hello", "title": "hello"}
    before = len(bot.screen)

    forged = Hook(sender, hook.address, "d2hzZWNfd3Jvbmc=")
    unknown = Hook(sender, "0" * 32, hook.secret)
    for wrong in (forged, unknown):
        assert (await sent(bot, wrong, body)).status == 401
    for other in SIGN.keys() - {sender}:
        if other != "standard":
            assert (await sent(bot, hook, body, sign=SIGN[other])).status == 401, other
    assert (await sent(bot, hook, body, sign=lambda *_: {})).status == 401
    assert len(bot.screen) == before

    assert (await sent(bot, hook, body)).status == 200
    assert len(bot.screen) == before + 1


async def test_a_delivery_that_comes_again_is_told_once_for_good(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot, "github")

    for number in range(3):
        answer = await sent(bot, hook, {**PUSH, "number": number}, {"X-GitHub-Delivery": "the same"})
        assert answer.status == 200
        clock.ahead += 40 * 86_400
        await bot.restart()

    assert sum("ann/garden" in each for each in bot.screen) == 1


async def test_a_body_that_was_caught_is_not_told_again_under_another_id(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot, "github")

    for delivery in ("1", "2"):
        assert (await sent(bot, hook, PUSH, {"X-GitHub-Delivery": delivery})).status == 200
        clock.ahead += 86_400

    assert sum("ann/garden" in each for each in bot.screen) == 1


async def test_a_body_that_was_caught_is_not_told_again_as_another_event(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "github")

    for event in ("push", "ping", "release"):
        named = {"X-GitHub-Delivery": event, "X-GitHub-Event": event}
        assert (await sent(bot, hook, PUSH, named)).status == 200

    assert sum("ann/garden" in each for each in bot.screen) == 1


async def test_what_was_caught_with_a_time_is_refused_without_it(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "grafana")
    timed = f"{int(time.time()) - 86_400}:".encode() + b'{"title": "Disk full"}'

    answer = await sent(bot, hook, timed, sign=of_grafana_without_time)

    assert answer.status == 401
    assert not any("Disk full" in each for each in bot.screen)


async def test_repetitions_take_no_room_from_new_events_and_leave_nothing_behind(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), settings=limited(a_minute=5))
    hook = await added(bot, "github")

    for number in range(20):
        assert (await sent(bot, hook, PUSH, {"X-GitHub-Delivery": f"again {number}"})).status == 200

    assert rows(bot.home, "SELECT count(*) FROM hooks_seen") == [(2,)]
    assert (await sent(bot, hook, {"action": "closed"}, {"X-GitHub-Delivery": "a new one"})).status == 200
    assert "closed" in bot.screen[-1]


@pytest.mark.parametrize(("later", "times"), [(WINDOW - 60, 1), (WINDOW + 60, 2)])
async def test_the_same_alarm_is_told_again_only_once_it_is_news(start_bot: StartBot, later: float, times: int) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot, "grafana")

    for _ in range(2):
        assert (await sent(bot, hook, {"title": "Disk full"}, sign=of_grafana_without_time)).status == 200
        clock.ahead += later

    assert sum("Disk full" in each for each in bot.screen) == times


@pytest.mark.parametrize("sender", ["stripe", "grafana", "standard"])
@pytest.mark.parametrize("off", [-TOLERANCE - 60, TOLERANCE + 60])
async def test_an_old_signature_is_refused(start_bot: StartBot, sender: str, off: float) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot, sender)

    answer = await sent(bot, hook, {"id": "evt_1"}, at=clock.time() + off)

    assert answer.status == 401


@pytest.mark.parametrize("stamp", ["", "x", "-1", "9" * 400, "1e9", "١٢٣"])
async def test_a_time_that_is_none_is_refused(start_bot: StartBot, stamp: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, "stripe")

    answer = await sent(bot, hook, {}, sign=lambda *_: {"Stripe-Signature": f"t={stamp},v1={'0' * 64}"})

    assert answer.status == 401


async def test_a_template_shows_values_and_nothing_of_them_is_markdown_or_code(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    await bot.hears(
        "/hook post builds **{{ name }}**: {{list.1.x}} {{gone.at.all}} {{list.9}} {{flag}} {{event}} {{name.x}}"
    )

    await sent(bot, hook, {"name": "[x](https://evil.example) {{list}}", "list": [1, {"x": {"y": 2}}], "flag": True})

    told = bot.screen[-1].partition("\n")[0]
    assert told == r'**\[x\](https://evil.example) {{list}}**: {"y": 2} true'


@pytest.mark.parametrize("line", ["\n", "\r", "\r\n", "\n\n", "\u2028", "\v"])
async def test_no_line_of_a_value_becomes_a_heading_or_a_list(start_bot: StartBot, line: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    await bot.hears("/hook post builds {{message}}")

    words = line.join(("- first", "# head", "1. one", "  + plus", "2) two", "under", "===", "---", "#1 of 3"))
    await sent(bot, hook, {"message": words})
    await bot.hears("/hook post builds")
    await sent(bot, hook, words.encode(), {"Content-Type": "text/plain"})

    for told in (bot.screen[-3], bot.screen[-1]):
        kinds = {each.type for each in MarkdownIt().parse(told.partition("\n\n_webhook")[0])}
        assert kinds == {"paragraph_open", "inline", "paragraph_close"}
        assert told.startswith("\\- first")


@pytest.mark.parametrize(
    ("body", "headers", "shows"),
    [
        (b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", {}, r"\[\[\["),
        (b"\xff\xfe not UTF-8 \x00", {}, "not UTF-8"),
        (b"plain words", {"Content-Type": "text/plain"}, "plain words"),
        (b"a=1&b=two+words", {"Content-Type": "application/x-www-form-urlencoded"}, "two words"),
        (b"payload=%7B%22a%22%3A1%7D", {"Content-Type": "application/x-www-form-urlencoded"}, '"a": 1'),
        (
            b"&".join(b"a%d=1" % number for number in range(5_000)),
            {"Content-Type": "application/x-www-form-urlencoded"},
            "a1=1",
        ),
        (b"", {}, "without any words"),
        (b"9" * 10_000, {}, "999"),
        (b'{"a": NaN, "a": 1e999}', {}, "NaN"),
        (b'"just a text"', {}, "just a text"),
    ],
    ids=[
        "nested 10,000 deep",
        "not UTF-8",
        "text",
        "form",
        "form with JSON",
        "many fields",
        "empty",
        "digits",
        "NaN",
        "text in JSON",
    ],
)
async def test_whatever_comes_is_told_or_shown_in_short(
    start_bot: StartBot, body: bytes, headers: dict[str, str], shows: str
) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)

    assert (await sent(bot, hook, body, headers)).status == 200
    assert shows in bot.screen[-1]
    await bot.hears("/hook post builds {{a}} {{a.b.c}} {{x.0.y}} .")
    assert (await sent(bot, hook, body + b" ", headers)).status == 200
    assert "set by Ann" in bot.screen[-1]


HALVES = rb'{"a": "\ud800 x", "id": "\udfff", "type": "\ud800", "object_kind": "\ud800"}'


@pytest.mark.parametrize("sender", SIGN)
async def test_halves_of_characters_are_no_obstacle(start_bot: StartBot, sender: str) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot, sender)
    await bot.hears("/hook post builds {{a}} {{event}} {{id}}")

    signed = {
        "X-Event": "\udcff",
        "X-GitHub-Event": "\udcff",
        "X-GitHub-Delivery": "\udcff",
        "Idempotency-Key": "\udcff",
    }
    assert (await sent(bot, hook, HALVES, signed)).status == 200
    assert bot.screen[-1].startswith("? x")


@pytest.mark.parametrize("deep", [200, 900, 960, 990, 1_500])
async def test_what_is_nested_deep_is_told(start_bot: StartBot, deep: int) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    await bot.hears("/hook post builds value: {{a}}")

    nested = b'{"a": ' + b"[" * deep + b"]" * deep + b"}"
    assert (await sent(bot, hook, nested)).status == 200
    assert bot.screen[-1].startswith("value:")
    form = b"payload=" + nested
    assert (await sent(bot, hook, form, {"Content-Type": "application/x-www-form-urlencoded"})).status == 200
    assert bot.screen[-1].startswith("value:")


async def test_a_template_with_many_values_makes_one_message(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    await bot.hears(f"/hook post builds {'{{body}} ' * 200}")
    before = len(bot.screen)

    await sent(bot, hook, {"a": "x" * 1_000})

    assert len(bot.screen) <= before + 2


async def test_a_flood_is_refused_with_when_to_come_again(start_bot: StartBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "RateLimit", lambda now: RateLimit(lambda: 0.0))  # which gives no room back meanwhile
    bot = await start_bot(plugins=(HooksPlugin,), settings=limited(a_minute=5))
    hook = await added(bot)

    answers = [await sent(bot, hook, {"number": number}) for number in range(8)]

    assert [each.status for each in answers] == [200] * 5 + [429] * 3
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    wrong = [(await sent(bot, Hook("other", "0" * 32, "x"), {})).status for _ in range(70)]
    assert wrong == [401] * 60 + [429] * 10


async def test_more_than_a_day_takes_is_refused_and_taken_when_it_comes_again(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock, settings=limited(a_day=2))
    hook = await added(bot)

    assert [(await sent(bot, hook, {"number": number})).status for number in range(3)] == [200, 200, 429]
    clock.ahead += 86_500
    assert (await sent(bot, hook, {"number": 2})).status == 200
    assert sum('"number": 2' in each for each in bot.screen) == 1


async def test_more_bytes_than_a_day_takes_are_refused(start_bot: StartBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_BYTES_A_DAY", 2_500)
    clock = OffsetClock()
    bot = await start_bot(plugins=(HooksPlugin,), clock=clock)
    hook = await added(bot)

    assert [(await sent(bot, hook, str(number) * 1_000)).status for number in range(3)] == [200, 200, 429]
    assert (await sent(bot, hook, "short")).status == 200
    clock.ahead += DAY + 100
    assert (await sent(bot, hook, "2" * 1_000)).status == 200


async def test_after_a_kill_an_event_that_was_answered_is_told_once(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(HooksPlugin,), channel=MemoryChannel(limits=NO_PACE))
    hook = await added(bot)
    raw = json.dumps({"number": 1}).encode()
    signed = SIGN["other"](hook.secret, raw, 0.0)
    answer = await bot.requests("/hooks", "POST", raw, name=hook.address, headers=signed)
    assert answer.status == 200
    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)  # what a kill leaves
    await bot.stop()
    next_life = Bot(image, (), BotOptions(channel=bot.channel, plugins=(HooksPlugin,)))
    await next_life.start()

    try:
        assert (await sent(next_life, hook, raw)).body == b"taken before"
        assert sum("number" in each for each in next_life.screen) == 1
    finally:
        await next_life.stop()


async def test_an_event_for_a_chat_that_is_gone_waits(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)
    gone = ChatKey(platform="gone", account="x", chat="1")
    plugin = next(each for each in bot.made.plugins if isinstance(each, HooksPlugin))
    await plugin._hooks.write(  # noqa: SLF001
        lambda connection: connection.execute("UPDATE hooks SET chat = ?, person = ?", (str(gone), "memory:ann"))
    )

    assert (await sent(bot, hook, {"number": 1})).status == 200
    assert [each.chat for each in await bot.made.base.store.owed.left()] == [gone]


async def test_when_the_right_of_who_set_it_ends_the_sender_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    await bot.hears("/role memory:bob admin")
    hook = await added(bot, by="bob")
    assert (await sent(bot, hook, {"number": 1})).status == 200

    await bot.hears("/role memory:bob member")

    assert (await sent(bot, hook, {"number": 2})).status == 403
    assert not any('"number": 2' in each for each in bot.screen)


async def test_a_secret_in_an_event_is_masked(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    bot.made.base.secrets.add("sk-very-secret-1234")
    hook = await added(bot)

    await sent(bot, hook, {"key": "sk-very-secret-1234"})

    assert "very-secret" not in bot.screen[-1]
    assert "very-secret" not in str(rows(bot.home, "SELECT body FROM hooks_events"))


async def test_the_origin_of_what_is_told_is_the_webhook(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(HooksPlugin,))
    hook = await added(bot)

    await sent(bot, hook, {"say": "yes"})

    assert rows(bot.home, "SELECT origin FROM outbox WHERE key LIKE 'hook-event%'") == [("hook:builds",)]
