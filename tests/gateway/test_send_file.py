"""Sending files of the workspace: each chat gets only its own."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from agent_core.messages import text_of
from agent_core.models.scripted import Call, Calls
from channels.base import ChatKey
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.delivering import refuse


def keep(bot: Bot, sender: str, content: str) -> None:
    folder = bot.home / "workspaces" / f"memory_here_{sender}"
    folder.mkdir(parents=True)
    (folder / "report.txt").write_text(content)


def sent_to(bot: Bot, chat: ChatKey) -> list[bytes]:
    files = [file for posted, message in bot.channel.posts if posted.chat == chat for file in message.attachments]
    return [Path(file.path).read_bytes() for file in files]


def send(call: str) -> Calls:
    return Calls((Call("send_file", {"path": "report.txt"}, id=call),))


async def test_two_chats_whose_calls_have_one_id_get_their_own_files(start_bot: StartBot) -> None:
    bot = await start_bot(send("call_0"), "Here.", send("call_0"), "Here.")
    keep(bot, "ann", "for Ann")
    keep(bot, "bob", "for Bob")

    await bot.hears("send it", sender="ann")
    await bot.hears("send it", sender="bob")

    assert sent_to(bot, bot.channel.chat("ann")) == [b"for Ann"]
    assert sent_to(bot, bot.channel.chat("bob")) == [b"for Bob"]


async def test_a_call_id_that_is_a_path_leads_nowhere(start_bot: StartBot) -> None:
    bot = await start_bot(send("../../stolen"), "Here.")
    keep(bot, "ann", "for Ann")

    await bot.hears("send it", sender="ann")

    assert sent_to(bot, bot.channel.chat("ann")) == [b"for Ann"]
    assert not (bot.home.parent / "stolen").exists()
    assert len(list((bot.home / "outgoing").iterdir())) == 1


async def test_several_files_go_in_one_call_each_once(start_bot: StartBot) -> None:
    bot = await start_bot(
        Calls((Call("send_file", {"path": "report.txt", "also": ["sub/report.txt", "report.txt"]}, id="c"),)), "Here."
    )
    keep(bot, "ann", "first")
    folder = bot.home / "workspaces" / "memory_here_ann" / "sub"
    folder.mkdir()
    (folder / "report.txt").write_text("second")

    await bot.hears("send them", sender="ann")

    assert sent_to(bot, bot.channel.chat("ann")) == [b"first", b"second"]


async def test_more_files_than_a_message_has_are_refused(start_bot: StartBot) -> None:
    also: list[JsonValue] = [f"{number}.txt" for number in range(10)]
    bot = await start_bot(Calls((Call("send_file", {"path": "report.txt", "also": also}, id="c"),)), "Too many.")
    keep(bot, "ann", "first")

    await bot.hears("send them", sender="ann")

    assert sent_to(bot, bot.channel.chat("ann")) == []
    assert bot.screen[-1] == "Too many."


@pytest.mark.parametrize("caption", ["", "Here they are."])
async def test_of_several_files_the_model_is_told_which_was_refused(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch, caption: str
) -> None:
    refuse(monkeypatch, "bad.exe")
    arguments: dict[str, JsonValue] = {"path": "report.txt", "also": ["bad.exe", "last.txt"], "caption": caption}
    bot = await start_bot(Calls((Call("send_file", arguments, id="c"),)), "One was refused.")
    keep(bot, "ann", "first")
    for name in ("bad.exe", "last.txt"):
        (bot.home / "workspaces" / "memory_here_ann" / name).write_text(name)

    await bot.hears("send them", sender="ann")

    assert sent_to(bot, bot.channel.chat("ann")) == [b"first", b"last.txt"]
    assert "bad.exe: it was refused" in text_of(bot.llm.requests[-1].messages[-1].content)


async def test_the_model_is_told_of_a_refused_file_whose_caption_has_arrived(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "report.txt")
    bot = await start_bot(
        Calls((Call("send_file", {"path": "report.txt", "caption": "Here it is."}, id="c"),)), "It was refused."
    )
    keep(bot, "ann", "first")

    await bot.hears("send it", sender="ann")

    assert bot.screen[-2:] == ["Here it is.", "It was refused."]
    assert "report.txt could not be sent: report.txt: it was refused" in text_of(
        bot.llm.requests[-1].messages[-1].content
    )
