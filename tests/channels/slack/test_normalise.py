"""Slack's message events, as documented and as sent, become events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.base import (
    Addressed,
    CommandInvoked,
    MessageDeleted,
    MessageEdited,
)
from channels.slack.mentions import Person
from channels.slack.normalise import normalise, said
from channels.slack.users import person_of
from channels.slack.wire import Message
from channels.values import Standing, parse
from tests.channels.slack.payloads import (
    CHANNEL,
    COMMANDS,
    DIRECT,
    FILE,
    ME,
    ROOT,
    TS,
    Json,
    changed,
    known,
    post,
    read,
    received,
)


def test_a_direct_message() -> None:
    event = received(text="hello")

    assert event.event_id == f"slack:T1:D1:{TS}"
    assert str(event.chat) == "slack:T1:D1"
    assert (event.sender.id, event.sender.name, event.sender.language) == ("U7", "Ann", "de-DE")
    assert (event.text, event.message_id, event.at) == ("hello", TS, 1_700_000_000.0001)
    assert event.addressed is Addressed.DIRECT


def test_a_thread_of_direct_messages_is_a_chat_of_its_own() -> None:
    event = received(text="more", thread_ts=ROOT, parent_user_id="U0")

    assert (str(event.chat), event.reply_to, event.addressed) == (f"slack:T1:D1:{ROOT}", ROOT, Addressed.DIRECT)


def test_a_root_that_names_itself_is_no_reply() -> None:
    event = received(text="root", thread_ts=TS)

    assert (event.chat.thread, event.reply_to) == (None, None)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<@U0> hi", "hi"),
        ("<@U0|parley>, hi", "hi"),
        ("hi <@U0>", "hi"),
        ("hey <@U0> what now?", "hey what now?"),
        ("<@U0>", ""),
        ("<@U0> ask <@U8>", "ask @Ben"),
    ],
)
def test_a_mention_is_told_and_taken_away_and_answered_in_its_thread(text: str, left: str) -> None:
    event = received(CHANNEL, text=text)

    assert (event.text, event.addressed, event.chat.thread) == (left, Addressed.MENTION, TS)


def test_both_events_of_one_mention_are_the_same_event() -> None:
    message = received(CHANNEL, text="<@U0> hi", channel_type="channel")
    mention = received(CHANNEL, type="app_mention", text="<@U0> hi")

    assert message == mention


@pytest.mark.parametrize(
    ("content", "addressed", "thread"),
    [
        ({"text": "so"}, Addressed.AMBIENT, None),
        ({"text": "so", "thread_ts": ROOT, "parent_user_id": "U8"}, Addressed.AMBIENT, ROOT),
        ({"text": "so", "thread_ts": ROOT, "parent_user_id": "U0"}, Addressed.REPLY, ROOT),
        ({"text": "<@U0> so", "thread_ts": ROOT, "parent_user_id": "U8"}, Addressed.MENTION, ROOT),
    ],
)
def test_talk_in_a_channel(content: Json, addressed: Addressed, thread: str | None) -> None:
    event = received(CHANNEL, **content)

    assert (event.addressed, event.chat.thread) == (addressed, thread)


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("<https://a.example/?a=1&amp;b=2>", "https://a.example/?a=1&b=2"),
        ("<https://a.example|the page>", "the page (https://a.example)"),
        ("<https://a.example|a.example>", "https://a.example"),
        ("<mailto:ann@a.example|ann@a.example>", "ann@a.example"),
        ("in <#C9|general> and <#C8>", "in #general and #C8"),
        ("<@U8> and <@U9> and <@U9|cy>", "@Ben and @U9 and @cy"),
        ("<!here> <!subteam^S1|@ops> <!date^1^{date}|monday>", "@here @ops monday"),
    ],
)
def test_slacks_markup_becomes_words(text: str, read_as: str) -> None:
    assert received(text=text).text == read_as


@pytest.mark.parametrize(
    ("channel", "content"),
    [
        (DIRECT, {"text": "!help me"}),
        (CHANNEL, {"text": "<@U0> !help me"}),
        (CHANNEL, {"text": "!HELP me", "thread_ts": ROOT, "parent_user_id": "U8"}),
    ],
)
def test_a_word_with_a_bang_is_a_command(channel: str, content: Json) -> None:
    event = read(post(channel, **content))

    assert isinstance(event, CommandInvoked)
    assert (event.name, event.arguments, event.respond, event.message_id) == ("help", "me", None, TS)


@pytest.mark.parametrize(
    ("channel", "content"),
    [
        (CHANNEL, {"text": "!help me"}),
        (DIRECT, {"text": "!deploy now"}),
        (DIRECT, {"text": "!"}),
        (DIRECT, {"text": "!help", "files": [FILE]}),
    ],
)
def test_other_bangs_are_words(channel: str, content: Json) -> None:
    assert received(channel, **content).text == content["text"]


@pytest.mark.parametrize(
    "content",
    [
        {"user": "U0", "bot_id": "B0", "text": "mine"},
        {"bot_id": "B0", "subtype": "bot_message", "text": "mine"},
        {"user": "U5", "bot_id": "B5", "text": "another app's"},
        {"subtype": "bot_message", "bot_id": "B5", "username": "hook", "text": "a hook's", "user": None},
        {"user": "USLACKBOT", "text": "reminder"},
        {"subtype": "channel_join", "text": "<@U7> has joined"},
        {"subtype": "assistant_app_thread", "text": "New Assistant Thread"},
        {"subtype": "message_replied", "text": ""},
        {"text": ""},
        {"text": "no author", "user": None},
    ],
)
def test_what_is_nobodys_words_is_nothing(content: Json) -> None:
    assert read(post(CHANNEL, **content)) is None


def test_another_apps_words_are_told_in_the_history() -> None:
    message = parse(
        Message, post(CHANNEL, subtype="bot_message", bot_id="B5", username="deploys", user=None, text="ok")
    )
    assert message is not None
    event = said(message, ME, known, COMMANDS)

    assert event is not None
    assert (event.sender.id, event.sender.name, event.sender.is_bot) == ("B5", "deploys", True)


SHARED: JsonValue = [
    {
        "is_share": True,
        "author_name": "Ben",
        "text": "Ship <https://a.example|it>",
        "from_url": "https://team.slack.com/archives/C9/p1",
        "files": [{"id": "F2", "name": "a.png"}],
    }
]
CARD: JsonValue = [
    {
        "pretext": "New issue",
        "title": "Crash",
        "title_link": "https://i.example/1",
        "text": "It fell",
        "fields": [{"title": "Priority", "value": "high"}],
        "fallback": "[i/1] Crash",
    }
]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"text": "see", "attachments": SHARED}, "see\nFrom Ben:\nShip it (https://a.example)\n[a.png]"),
        ({"text": "", "attachments": CARD}, "New issue\nCrash (https://i.example/1)\nIt fell\nPriority: high"),
        ({"text": "", "attachments": [{"fallback": "only this"}]}, "only this"),
    ],
)
def test_what_is_shared_is_read_too(content: Json, text: str) -> None:
    event = received(**content)

    assert event.words == text
    assert event.text == content["text"], "what others say is not what the person says"


BLOCKS: JsonValue = [
    {"type": "header", "text": {"type": "plain_text", "text": "Build 7"}},
    {"type": "section", "text": {"type": "mrkdwn", "text": "by <@U8>"}, "fields": [{"type": "mrkdwn", "text": "ok"}]},
    {"type": "context", "elements": [{"type": "image", "alt_text": "logo"}, {"type": "mrkdwn", "text": "main"}]},
    {"type": "divider"},
    {"type": "markdown", "text": "**done**"},
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [{"type": "text", "text": "to "}, {"type": "user", "user_id": "U7"}],
            }
        ],
    },
    {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go"}}]},
]


def test_an_apps_blocks_are_read_instead_of_its_summary() -> None:
    message = parse(Message, post(CHANNEL, bot_id="B5", text="Build 7 finished", blocks=BLOCKS))
    assert message is not None
    event = said(message, ME, known, COMMANDS)

    assert event is not None
    assert getattr(event, "text", "") == "Build 7\nby @Ben\nok\n[logo] main\n**done**\nto @Ann"


def test_a_persons_blocks_only_repeat_the_text() -> None:
    assert received(text="hi <@U8>", blocks=BLOCKS).text == "hi @Ben"


def test_an_edit() -> None:
    before = post(text="helo")
    event = read(changed({**before, "text": "hello", "edited": {"user": "U7", "ts": "1700000009.000000"}}, before))

    assert isinstance(event, MessageEdited)
    assert event.event_id == f"slack:T1:D1:{TS}:edited:1700000009.000000"
    assert (event.text, event.message_id, event.sender.name) == ("hello", TS, "Ann")


def test_an_edit_keeps_what_the_message_shares_apart() -> None:
    shares: list[JsonValue] = [{"author_name": "Eve", "text": "obey"}]
    event = read(changed(post(text="see", edited=EDITED, attachments=shares), post(text="look")))

    assert isinstance(event, MessageEdited)
    assert (event.text, event.shared) == ("see", "From Eve:\nobey")


@pytest.mark.parametrize(("user", "by"), [("U7", ""), ("U8", "Ben"), ("U9", "U9"), (None, "")])
def test_a_file_names_whoever_uploaded_it_where_somebody_else_shares_it(user: str | None, by: str) -> None:
    file = received(subtype="file_share", text="read", files=[{**FILE, "user": user}]).attachments[0]

    assert file.by == by


def test_an_edit_that_names_us_stays_in_the_thread_of_its_message() -> None:
    now = post(CHANNEL, text="<@U0> hi", edited={"user": "U7", "ts": "1700000009.000000"})
    event = read(changed(now, post(CHANNEL, text="hi"), CHANNEL))

    assert isinstance(event, MessageEdited)
    assert (event.addressed, event.chat.thread, event.text) == (Addressed.MENTION, TS, "hi")


EDITED: Json = {"user": "U7", "ts": "1700000009.000000"}


@pytest.mark.parametrize(
    "change",
    [
        changed(post(text="hi", attachments=[{"text": "preview"}]), post(text="hi")),
        changed(post(text="hi", edited=EDITED, reply_count=1), post(text="hi", edited=EDITED)),
        changed(post(text="x", user="U0", bot_id="B0", edited=EDITED), post(text="…", user="U0", bot_id="B0")),
        changed(post(text="x", bot_id="B5", edited=EDITED)),
        {"type": "message", "subtype": "message_changed", "channel": DIRECT, "ts": TS},
    ],
)
def test_a_change_that_is_no_edit_of_a_person_is_nothing(change: Json) -> None:
    assert read(change) is None


def test_a_deleted_message() -> None:
    about: Json = {"subtype": "message_deleted", "channel": CHANNEL, "ts": "1700000010.000000", "deleted_ts": TS}
    event = read({"type": "message", **about, "previous_message": post(CHANNEL, text="oops")})

    assert isinstance(event, MessageDeleted)
    assert (event.event_id, event.message_id) == (f"slack:T1:C1:{TS}:deleted", TS)


def test_a_deleted_root_leaves_a_tombstone_and_is_deleted_all_the_same() -> None:
    tomb: Json = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": TS, "thread_ts": TS}
    event = read(changed(tomb, post(CHANNEL, text="<@U0> oops"), CHANNEL))

    assert isinstance(event, MessageDeleted)
    assert (event.message_id, event.chat.thread) == (TS, TS)


def test_our_own_deleted_message_is_nothing() -> None:
    about: Json = {"subtype": "message_deleted", "channel": CHANNEL, "ts": "1700000010.000000", "deleted_ts": TS}
    assert read({"type": "message", **about, "previous_message": post(CHANNEL, user="U0", text="x")}) is None


@pytest.mark.parametrize(
    "event",
    [{}, {"type": "message"}, post(ts="never"), post(ts=None), post(user=["U7"], text="hi"), post(bot_id=7, text="hi")],
)
def test_what_is_not_shaped_as_slack_documents_it_is_nothing(event: Json) -> None:
    assert read(event) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["type", "text", "elements", "rows", "user_id"]), inner)
        ),
        max_leaves=12,
    )
)
def test_no_block_can_break_it(value: JsonValue) -> None:
    read(post(blocks=[{"type": "section", "text": value}, {"type": "table", "rows": value}], text=""))


def test_only_full_members_of_this_workspace_are_told_as_such() -> None:
    def standing_of(user: Json) -> Standing | None:
        people: dict[str, Person | None] = {"U7": person_of({"user": {"name": "ann", "team_id": "T1", **user}})}
        message = parse(Message, post(text="hi"))
        event = normalise(message, ME, people.get, COMMANDS) if message else None
        return event.sender.standing if event else None

    member, other = Standing(is_full_member=True), Standing()
    assert standing_of({}) == member
    assert standing_of({"team_id": "E9", "enterprise_user": {"teams": ["T0", "T1"]}}) == member
    flags = ("is_restricted", "is_ultra_restricted", "is_stranger", "is_bot", "deleted")
    assert [standing_of({flag: True}) for flag in flags] == [other] * 5
    assert standing_of({"team_id": "T2"}) == other
    assert standing_of({"team_id": "T2", "enterprise_user": {"teams": "T1"}}) == other
    assert standing_of({"name": ""}) is None


def test_who_is_not_known_yet_has_no_standing() -> None:
    assert received(user="U999", text="hi").sender.standing is None


@pytest.mark.parametrize(
    ("emoji", "told"),
    [
        ({"name": "now_run_all_of_it"}, ":emoji:"),
        ({"name": "party_parrot"}, ":party_parrot:"),
        ({"name": "slightly_smiling_face", "unicode": "1f642"}, ":slightly_smiling_face:"),
    ],
)
def test_an_emoji_of_a_workspace_tells_no_more_than_a_name(emoji: dict[str, JsonValue], told: str) -> None:
    typed: list[JsonValue] = [{"type": "text", "text": "nice "}, {"type": "emoji", **emoji}]
    blocks: list[JsonValue] = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": typed}]}]

    assert received(text=f"nice :{emoji['name']}:", blocks=blocks).text == f"nice {told}"
    assert received(text="", blocks=blocks).text == f"nice {told}"
