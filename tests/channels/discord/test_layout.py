"""Messages of components: when an answer becomes one, and that none breaks Discord's limits."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import Button, OutboundMessage, Posted
from channels.discord.adapter import DiscordChannel
from channels.discord.layout import LAYOUT, MAX_CHARACTERS, layout, split
from channels.discord.render import MAX_TEXT, render
from channels.text import utf16_len
from channels.values import Known
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_components import check_message, walk
from parley.testing.emulators.discord_state import Message
from tests.channels.discord.conftest import Inbox, key_of
from tests.examples import examples

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"
TABLE = "| Item | Price |\n|---|---|\n| Tea | 3 |\n| Cake | 12 |"
STOP = Button(label="Stop", action="/stop 1")
MIME = {".png": "image/png", ".pdf": "application/pdf", ".txt": "text/plain", ".ogg": "audio/ogg", "": "x/y"}


def stored(folder: Path, *names: str, content: bytes = PNG) -> tuple[Attachment, ...]:
    made = []
    for name in names:
        (folder / name).write_bytes(content)
        mime_type = MIME[Path(name).suffix]
        made.append(Attachment(name=name, mime_type=mime_type, size=len(content), path=str(folder / name)))
    return tuple(made)


def contents(message: Message) -> list[JsonValue]:
    return [each["content"] for each in walk(message.components) if each["type"] == 10]


async def test_an_answer_with_a_table_is_a_box_with_the_table_between_the_words(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    words = f"Prices **today**:\n\n{TABLE}\n\nAnything else?"
    await channel.send(key_of(chat), OutboundMessage(markdown=words, buttons=((STOP,),)), "k")

    (message,) = chat.bot_messages
    assert message.has_layout
    assert contents(message) == [
        "Prices **today**:",
        "```\nItem  Price\n────  ─────\nTea   3\nCake  12\n```",
        "Anything else?",
    ]
    assert message.button("Stop") is not None


def test_a_table_that_is_too_wide_for_a_screen_is_a_paragraph_for_each_row() -> None:
    names = [f"Column {number}" for number in range(40)]
    rows = [names, ["---"] * 40, *([f"{row}.{number}" for number in range(40)] for row in (1, 2))]
    made = layout(OutboundMessage(markdown="\n".join("|".join(row) for row in rows)))
    assert made is not None
    texts = [str(each["content"]) for each in walk([*made]) if each["type"] == 10]
    (table,) = texts
    first, second = table.split("\n\n")
    assert first.split("\n")[:3] == ["**1.0**", "Column 1: 1.1", "Column 2: 1.2"]
    assert len(second.split("\n")) == 40


async def test_pictures_and_files_are_one_message(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    chat = discord.private(discord.person("Ann"))
    files = stored(tmp_path, "a.png", "b.png", "report.pdf")
    (part,) = channel.split(OutboundMessage(markdown="All three:", attachments=files))
    await channel.send(key_of(chat), part, "k")

    assert chat.screen == ["[a.png] [b.png] [report.pdf] All three:"]
    kinds = [each["type"] for each in walk(chat.bot_messages[0].components)]
    assert kinds == [17, 10, 12, 13]


@pytest.mark.parametrize(
    "names", [("note.txt", "a.png"), ("song.ogg", "a.png"), ("mein plan.pdf", "a.png"), ("a.png", "a.png"), ("a.png",)]
)
def test_files_of_which_discord_shows_more_in_a_plain_message_stay_there(names: Sequence[str]) -> None:
    files = tuple(Attachment(name=name, mime_type=MIME[Path(name).suffix], size=1, path=name) for name in names)
    (part,) = split(OutboundMessage(markdown="Look", attachments=files))
    assert (part.attachments, layout(part)) == (files, None)


def test_files_that_may_be_too_large_together_are_messages_of_their_own() -> None:
    large = tuple(
        Attachment(name=name, mime_type="image/png", size=6 * 1024 * 1024, path=name) for name in ("a.png", "b.png")
    )
    assert len(split(OutboundMessage(markdown="", attachments=large))) == 2


async def test_a_progress_message_becomes_a_box_and_what_follows_stays_one(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="Working", buttons=((STOP,),)), "k")
    await channel.edit(posted, OutboundMessage(markdown=TABLE, buttons=((STOP,),)))
    calls = len(discord.calls_of("PATCH message"))
    await channel.edit(posted, OutboundMessage(markdown="No **table** any more"))

    (message,) = chat.bot_messages
    assert (message.has_layout, message.text, message.buttons) == (True, "No table any more", [])
    assert len(discord.calls_of("PATCH message")) == calls + 1


async def test_another_process_edits_a_box_that_it_has_not_sent(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    chat = discord.private(discord.person("Ann"))
    posted = await channel.send(key_of(chat), OutboundMessage(markdown=TABLE), "k")
    channel._posting._laid_out.clear()  # noqa: SLF001 - as after a restart
    await channel.edit(posted, OutboundMessage(markdown="Done", buttons=((STOP,),)))

    (message,) = chat.bot_messages
    assert (message.text, message.button("Stop") is not None) == ("Done", True)
    calls = len(discord.calls_of("PATCH message"))
    await channel.edit(posted, OutboundMessage(markdown="Done!"))
    assert len(discord.calls_of("PATCH message")) == calls + 1


async def test_a_long_answer_comes_under_the_picture_that_was_just_sent(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    chat = discord.private(discord.person("Ann"))
    files = stored(tmp_path, "chart.png")
    posted = await channel.send(key_of(chat), OutboundMessage(markdown="", attachments=files), "k")
    assert not chat.bot_messages[0].has_layout
    await channel.edit(posted, OutboundMessage(markdown="word " * 500, attachments=files))

    (message,) = chat.bot_messages
    assert (message.has_layout, [each.name for each in message.files]) == (True, ["chart.png"])
    assert message.text.split() == ["word"] * 500


async def test_texts_are_one_plain_message_that_is_found_again(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    chat = discord.private(discord.person("Ann"))
    files = stored(tmp_path, "a.txt", "b.txt")
    (part,) = channel.split(OutboundMessage(markdown="Both tables", attachments=files))
    posted = await channel.send(key_of(chat), part, "k")

    assert chat.screen == ["[a.txt] [b.txt] Both tables"]
    assert chat.bot_messages[0].components == []
    assert await channel.find_sent(key_of(chat), part, "k", Known()) == posted


async def test_a_box_whose_confirmation_was_lost_is_found_again(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, tmp_path: Path
) -> None:
    chat = discord.private(discord.person("Ann"))
    files = stored(tmp_path, "a.png", "report.pdf")
    sent, table = OutboundMessage(markdown="Both:", attachments=files), OutboundMessage(markdown=TABLE)
    for key, message in (("1", sent), ("2", table)):
        posted = await channel.send(key_of(chat), message, key)
        found = await channel.find_sent(key_of(chat), message, key, Known())
        assert found == Posted(chat=key_of(chat), message_id=posted.message_id, at=posted.at)
    other = sent.model_copy(update={"attachments": stored(tmp_path, "a.png", "other.pdf")})
    assert await channel.find_sent(key_of(chat), other, "3", Known()) is None


async def test_a_commands_answer_with_a_table_replaces_its_placeholder(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    await discord.wait_for(lambda: bool(discord.commands))
    await chat.says(ann, "/help")
    command = await inbox.command()
    (part,) = channel.split(OutboundMessage(markdown=TABLE, respond=command.respond))
    await channel.send(key_of(chat), part, "k")

    (message,) = chat.bot_messages
    assert (message.has_layout, message.ephemeral) == (True, True)
    assert "Cake  12" in message.text


CELLS = st.text(st.sampled_from("ab |\\`*_#>-\n😀漢") | st.characters(codec="utf-8"), max_size=30)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=45), min_size=2, max_size=60)
FILES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c d", "é", "x" * 130]), st.sampled_from([*MIME]), st.integers(0, 12_000_000)),
    max_size=12,
)


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["|".join(cell.replace("\n", " ") for cell in row) for row in rows]
    return "\n".join([lines[0], "|".join(["---"] * len(rows[0])), *lines[1:]])


@given(
    st.lists(st.text(max_size=300) | ROWS.map(_table), max_size=6),
    FILES,
    st.integers(0, 40),
    st.sampled_from([None, "1/token"]),
)
@settings(max_examples=examples(300), deadline=None)
def test_no_message_breaks_discords_limits(
    texts: list[str], files: list[tuple[str, str, int]], buttons: int, respond: str | None
) -> None:
    message = OutboundMessage(
        markdown="\n\n".join(texts),
        attachments=tuple(Attachment(name=n + e, mime_type=MIME[e], size=size, path="p") for n, e, size in files),
        buttons=tuple((Button(label=f"B{number}", action=f"/b {number}"),) for number in range(buttons)),
        respond=respond,
    )
    parts = split(message)
    assert sorted(file.name for part in parts for file in part.attachments) == sorted(n + e for n, e, _ in files)
    for part in parts:
        made = layout(part)
        assert split(part) == (part,)
        if made is None:
            assert not part.markdown.strip() or utf16_len(render(part.markdown)) <= MAX_TEXT
            continue
        check_message(made, LAYOUT)
        texts = [str(each["content"]) for each in walk([*made]) if each["type"] == 10]
        assert sum(map(utf16_len, texts)) <= MAX_CHARACTERS
