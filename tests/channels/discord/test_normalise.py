"""Discord's payloads, in their documented shapes, become events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
)
from channels.discord.cache import MOST_CHANNELS, RecentMessages, Servers
from channels.files import MIB
from channels.values import Standing
from tests.channels.discord.payloads import (
    ANN,
    BEN,
    BOT,
    DM,
    FILE,
    GENERAL,
    GUILD,
    OTHER_BOT,
    SERVER,
    THREAD,
    Json,
    acted,
    changed,
    from_history,
    heard,
    interaction,
    message,
    spoken,
    typed,
)

REPLY_TO_US: Json = {
    "type": 19,
    "message_reference": {"type": 0, "channel_id": GENERAL, "message_id": "999", "guild_id": GUILD},
    "referenced_message": message(author=BOT, id="999", content="At ten.", guild_id=None),
}


def test_a_direct_message() -> None:
    event = heard(DM, content="hello")

    assert event == MessageReceived(
        event_id="discord:1000",
        chat=ChatKey(platform="discord", account="@me", chat=DM),
        sender=event.sender,
        at=1795309200.25,
        addressed=Addressed.DIRECT,
        text="hello",
        message_id="1000",
    )
    assert (event.sender.id, event.sender.name, event.sender.language) == ("7", "Ann Lee", None)


@pytest.mark.parametrize(
    ("content", "text", "addressed"),
    [
        ("<@42> hi", "hi", Addressed.MENTION),
        ("<@!42>, hi", "hi", Addressed.MENTION),
        ("hi <@42>!", "hi!", Addressed.MENTION),
        ("so <@42> what", "so what", Addressed.MENTION),
        ("one\n<@42> two", "one\ntwo", Addressed.MENTION),
        ("<@42>", "", Addressed.MENTION),
        ("<@&66> hi", "hi", Addressed.MENTION),
        ("<@&67> hi", "@Cooks hi", Addressed.AMBIENT),
        ("<@8> hi", "@ben hi", Addressed.AMBIENT),
        ("<@555> hi", "<@555> hi", Addressed.AMBIENT),
        ("@everyone hi", "@everyone hi", Addressed.AMBIENT),
        ("see <#901> and <#5>", "see #general and <#5>", Addressed.AMBIENT),
        ("ha <:lol:123> <a:wave:9>", "ha :lol: :wave:", Addressed.AMBIENT),
        ("try </help:77>", "try /help", Addressed.AMBIENT),
    ],
)
def test_marks_become_words(content: str, text: str, addressed: Addressed) -> None:
    event = heard(content=content, mentions=[BEN], mention_everyone="@everyone" in content)
    assert (event.text, event.addressed) == (text, addressed)


def test_a_name_in_a_server_is_the_one_that_people_see_there() -> None:
    assert heard(content="hi", member={"nick": "Boss"}).sender.name == "Boss"


def test_a_thread_is_a_chat_of_its_own() -> None:
    assert str(heard(THREAD, content="hi").chat) == f"discord:{GUILD}:{GENERAL}:{THREAD}"
    assert str(heard(GENERAL, content="hi").chat) == f"discord:{GUILD}:{GENERAL}"


@pytest.mark.parametrize(
    ("thread_channels", "content", "chat"),
    [
        (GENERAL, "<@42> hi", f"{GENERAL}:1000"),
        ("all", "<@42> hi", f"{GENERAL}:1000"),
        ("5, 6", "<@42> hi", GENERAL),
        (GENERAL, "hi", GENERAL),
    ],
)
def test_a_conversation_gets_a_thread_where_the_channel_is_set_so(
    thread_channels: str, content: str, chat: str
) -> None:
    event = spoken(message(content=content), thread_channels)
    assert event is not None
    assert str(event.chat) == f"discord:{GUILD}:{chat}"
    inside = spoken(message(THREAD, content=content), thread_channels)
    assert inside is not None
    assert str(inside.chat) == f"discord:{GUILD}:{GENERAL}:{THREAD}"


def test_a_reply_to_us_is_one_whether_it_pings_or_not() -> None:
    quiet = heard(content="thanks", **REPLY_TO_US)
    pinging = heard(content="thanks", mentions=[BOT], **REPLY_TO_US)

    assert quiet.addressed is pinging.addressed is Addressed.REPLY
    assert (quiet.reply_to, quiet.quoted) == ("999", "parley_bot: At ten.")


def test_a_reply_to_somebody_brings_their_words_and_files() -> None:
    theirs = message(author=BEN, id="999", content="my <@8> notes", mentions=[BEN], attachments=[FILE])
    event = heard(content="<@42> read this", **{**REPLY_TO_US, "referenced_message": theirs})

    assert event.quoted == "ben: my @ben notes [notes.txt]"
    assert [file.name for file in event.attachments] == ["notes.txt"]


def test_a_reply_to_a_message_that_is_gone_quotes_nothing() -> None:
    event = heard(content="what", **{**REPLY_TO_US, "referenced_message": None})
    assert (event.reply_to, event.quoted, event.addressed) == ("999", None, Addressed.AMBIENT)


def test_files_keep_where_they_come_from() -> None:
    (file,) = heard(DM, attachments=[FILE]).attachments
    assert (file.name, file.mime_type, file.size) == ("notes.txt", "text/plain", 12)
    assert file.reference.startswith(f"{DM} 1000 5001 https://cdn.discordapp.com/")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"sticker_items": [{"id": "1", "name": "Wave", "format_type": 1}]}, "[sticker: Wave]"),
        (
            {"poll": {"question": {"text": "Tea?"}, "answers": [{"answer_id": 1, "poll_media": {"text": "Yes"}}]}},
            "Poll: Tea?\n- Yes",
        ),
        (
            {
                "message_reference": {"type": 1, "channel_id": "5", "message_id": "6"},
                "message_snapshots": [{"message": {"content": "old news", "embeds": [{"title": "T"}]}}],
            },
            "Forwarded:\nold news\nT",
        ),
        ({"content": "look", "embeds": [{"type": "link", "title": "A preview", "url": "https://a.org"}]}, "look"),
    ],
)
def test_other_contents_in_words(content: Json, text: str) -> None:
    event = heard(DM, **content)
    assert (event.words, event.reply_to) == (text, None)
    assert not event.text.startswith("Forwarded"), "what others say is not what the person says"


@pytest.mark.parametrize(
    ("content", "name", "arguments"),
    [("/help", "help", ""), ("/Model  fast one", "model", "fast one"), ("<@42> /stop", "stop", "")],
)
def test_a_command_may_be_typed(content: str, name: str, arguments: str) -> None:
    event = typed(content=content)
    assert (event.name, event.arguments, event.respond) == (name, arguments, None)
    assert event.addressed is (Addressed.MENTION if "<@" in content else Addressed.AMBIENT)


def test_a_path_is_no_command_nor_is_one_for_another_bot() -> None:
    assert heard(content="/usr/bin is full").text == "/usr/bin is full"
    assert spoken(message(content="/help@other_bot")) is None


def test_an_edit() -> None:
    event = changed(message(content="<@42> better", edited_timestamp="2026-11-22T01:05:00.000000+00:00"))

    assert isinstance(event, MessageEdited)
    assert event.event_id == "discord:1000:edited:2026-11-22T01:05:00+00:00"
    assert event.at == 1795309500.0
    assert (event.text, event.addressed) == ("better", Addressed.MENTION)


def test_a_preview_that_discord_adds_is_no_edit() -> None:
    assert changed(message(content="https://a.org", embeds=[{"title": "A"}])) is None
    assert changed(message(author=BOT, content="mine", edited_timestamp="2026-11-22T01:05:00+00:00")) is None


def test_a_slash_command() -> None:
    options: JsonValue = [{"name": "arguments", "type": 3, "value": " a b "}]
    event = acted(interaction(data={"id": "1", "name": "help", "type": 1, "options": options}))

    assert isinstance(event, CommandInvoked)
    assert event.event_id == "discord:interaction:1303000000000000000"
    assert (event.name, event.arguments, event.addressed) == ("help", "a b", Addressed.MENTION)
    assert event.respond == "1303000000000000000/aW50ZXJhY3Rpb246"
    assert (event.sender.id, event.sender.name, event.sender.language) == ("7", "Annie", "zh-CN")
    assert 1.7e9 < event.at < 1.8e9


def test_a_slash_command_in_a_thread_and_in_a_direct_message() -> None:
    inside, alone = acted(interaction(THREAD)), acted(interaction(DM))
    assert isinstance(inside, CommandInvoked)
    assert isinstance(alone, CommandInvoked)
    assert inside.chat.thread == THREAD
    assert (alone.chat.account, alone.addressed) == ("@me", Addressed.DIRECT)


def test_a_pressed_button() -> None:
    pressed = interaction(type=3, data={"custom_id": "stop:1", "component_type": 2}, message={"id": "77", "flags": 64})
    event = acted(pressed)

    assert isinstance(event, ButtonPressed)
    assert (event.message_id, event.action, event.addressed) == ("77", "stop:1", Addressed.REPLY)


def test_history_has_other_bots_with_their_embeds_and_not_us() -> None:
    embed: Json = {
        "title": "Build 7",
        "url": "https://ci.example.org/7",
        "description": "It failed.",
        "fields": [{"name": "branch", "value": "main"}],
        "footer": {"text": "CI"},
    }
    event = from_history(message(author=OTHER_BOT, embeds=[embed]))

    assert isinstance(event, MessageReceived)
    assert event.sender.is_bot
    assert event.text == "Build 7 (https://ci.example.org/7)\nIt failed.\nbranch: main\nCI"
    assert from_history(message(author=BOT, content="mine")) is None


def test_history_and_the_gateway_make_the_same_of_a_message() -> None:
    raw = message(content="<@42> hi", mentions=[BOT])
    now, then = spoken(raw), from_history(raw)
    assert now is not None
    assert then is not None
    assert (now.event_id, now.chat, now.addressed) == (then.event_id, then.chat, then.addressed)


NOTHING_FOR_US: list[Json] = [
    message(author=BOT, content="mine"),
    message(author=OTHER_BOT, content="<@42> beep"),
    message(content="webhook", webhook_id="5"),
    message(content=""),
    message(type=7),
    message(type=6, content="pinned"),
    message(type=18, content="Thread name"),
    message(type=21),
    message(author=None, content="x"),
    message(id="x", content="x"),
    message(timestamp="yesterday", content="x"),
    {"id": "1"},
]


@pytest.mark.parametrize("raw", NOTHING_FOR_US)
def test_what_does_not_concern_us_is_nothing(raw: Json) -> None:
    assert spoken(raw) is None


NO_INTERACTION_FOR_US: list[Json] = [
    interaction(type=4),
    interaction(data={"id": "1", "name": "Report", "type": 3, "target_id": "5"}),
    interaction(type=3, data={"custom_id": "x"}),
    interaction(member=None),
    interaction(channel_id=None),
    interaction(token=""),
    {"type": 1},
]


@pytest.mark.parametrize("raw", NO_INTERACTION_FOR_US)
def test_an_interaction_that_we_do_not_offer_is_nothing(raw: Json) -> None:
    assert acted(raw) is None


def test_lone_surrogates_do_no_harm() -> None:
    heard(content="\ud83d <@42> \ude00", author={**ANN, "global_name": "A\ud83d"}).model_dump_json().encode()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({*message(), "message_reference", "referenced_message", "message_snapshots", "poll", "sticker_items"})


@given(st.sampled_from(FIELDS), ANYTHING)
def test_no_malformed_field_raises(field: str, content: JsonValue) -> None:
    spoken({**message(content="hi"), field: content})
    changed({**message(content="hi"), field: content})


@given(st.sampled_from(sorted(interaction())), ANYTHING)
def test_no_malformed_interaction_raises(field: str, content: JsonValue) -> None:
    acted({**interaction(), field: content})


@given(
    st.sampled_from(["GUILD_CREATE", "THREAD_CREATE", "CHANNEL_DELETE", "GUILD_DELETE", "THREAD_LIST_SYNC"]), ANYTHING
)
def test_no_malformed_server_raises(event: str, raw: JsonValue) -> None:
    Servers().update(event, raw)


def test_places_know_what_servers_tell() -> None:
    servers = Servers()
    servers.update("GUILD_CREATE", SERVER)
    assert (servers.parent(THREAD), servers.parent(GENERAL), servers.name(GENERAL)) == (GENERAL, None, "general")
    assert (servers.file_limit(GUILD), servers.file_limit("@me")) == (50 * MIB, 10 * MIB)

    servers.update(
        "THREAD_LIST_SYNC", {"guild_id": GUILD, "threads": [{"id": "903", "type": 12, "parent_id": GENERAL}]}
    )
    assert servers.parent("903") == GENERAL
    assert servers.file_limit(GUILD) == 50 * MIB
    servers.update("GUILD_DELETE", {"id": GUILD, "unavailable": True})
    assert servers.knows(GENERAL)
    servers.update("CHANNEL_DELETE", {"id": GENERAL, "type": 0})
    assert not servers.knows(THREAD), "a channel takes its threads along"
    servers.update("GUILD_CREATE", SERVER)
    servers.update("GUILD_DELETE", {"id": GUILD})
    assert not servers.knows(GENERAL)
    assert servers.file_limit(GUILD) == 10 * MIB


def test_a_deleted_message_is_known_by_what_was_heard() -> None:
    recent = RecentMessages()
    recent.keep(heard(content="<@42> hi"))

    gone = recent.deleted("1000", 5.0)
    assert gone is not None
    assert (gone.event_id, gone.sender.id, gone.addressed) == ("discord:1000:deleted", "7", Addressed.MENTION)
    assert recent.deleted("1000", 6.0) is None
    assert recent.deleted("1", 5.0) is None


def test_threads_of_which_nothing_is_told_any_more_are_forgotten_and_channels_are_not() -> None:
    servers = Servers()
    servers.learn({"id": "1", "type": 0, "name": "general"}, "9")
    for number in range(2, MOST_CHANNELS + 3):
        servers.learn({"id": str(number), "type": 11, "parent_id": "1"}, "9")

    assert [servers.knows(each) for each in ("1", "2", "3", "4")] == [True, False, False, True]


def test_a_message_tells_its_authors_roles_and_one_from_history_does_not() -> None:
    assert heard(content="hi", member={"roles": ["67", "66"]}).sender.standing == Standing(roles=("67", "66"))
    past = from_history(message(content="hi"))
    assert past is not None
    assert past.sender.standing is None


def test_a_press_tells_the_roles_of_who_pressed() -> None:
    pressed = acted(interaction(member={"user": ANN, "roles": ["67"]}))
    assert pressed is not None
    assert pressed.sender.standing == Standing(roles=("67",))


def test_malformed_roles_do_not_cost_the_message() -> None:
    assert heard(content="hi", member={"roles": [None, "67"]}).sender.standing == Standing(roles=("67",))
    assert heard(content="hi", member={"roles": None}).sender.standing == Standing()


def test_roles_are_listed_by_server_and_follow_changes() -> None:
    servers = Servers()
    servers.update("GUILD_CREATE", SERVER)
    servers.update("GUILD_ROLE_CREATE", {"guild_id": GUILD, "role": {"id": "68", "name": "Waiters"}})
    servers.update("GUILD_ROLE_UPDATE", {"guild_id": GUILD, "role": {"id": "67", "name": "Chefs"}})
    servers.update("GUILD_ROLE_DELETE", {"guild_id": GUILD, "role_id": "66"})
    assert servers.roles(GUILD) == {GUILD: "@everyone", "67": "Chefs", "68": "Waiters"}
    assert servers.roles("901") == {}
