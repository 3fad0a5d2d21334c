"""A chat exports to a file that is complete, self-contained, safe to open, and only for authorised users."""

import asyncio
import json
import random
import re
import shutil
import stat
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

import pytest

from agent_core.messages import AssistantMessage, StopReason, ToolResultMessage, message_adapter
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tools.tool import tool
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.admin.desk import CommandRefused
from gateway.errors import ParleyError
from gateway.security.private_file import write_private
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive
from gateway.store.rows import Run
from tests.end_to_end.forks import parley
from tests.examples import examples
from tests.gateway.admin.desk import admin_world
from tests.gateway.bot import Bot
from tests.gateway.cluster.test_nodes_shown import use_home
from tests.gateway.conftest import StartBot
from tests.gateway.damaging import begun, cells, damage, used
from tests.gateway.jobs.test_rights_of_jobs import admin
from tests.gateway.test_archive import execute
from tests.gateway.test_database_away import tells_at_once
from tests.gateway.test_database_refused import ADDRESS, tells_in_one_line
from tests.gateway.test_edited_prompt import edits
from tests.messages import user
from tests.process import Finished

ANN = "memory:here:ann"
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> [x](javascript:alert(3)) </section></details>\x1b[2J'
CODE = "Like this:\n\n```python\nprint('a < b')\n```"
CANARY = "sk-0123456789-abcdef"


@tool()
async def look(what: str) -> str:
    """Look at something."""
    return f"{what} ``` is there <b>{HOSTILE}</b>"


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    """Start bots on a platform without rate limits."""

    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


async def export(home: Path, *arguments: str, **environ: str) -> Finished:
    environ = {"HOME": str(home), "PARLEY_HOME": str(home), "PARLEY_TIMEZONE": "Asia/Shanghai", **environ}
    return await parley("export", *arguments, cwd=home, environ=environ)


async def talked(start_bot: StartBot, **how: object) -> Bot:
    """Return a bot after a chat with Chinese, code, a file, a tool, hostile text and two conversations."""
    bot = await start_bot(
        calls(("look", {"what": "东京"}), text="I look."), CODE, "好的。", f"No: {HOSTILE}", tools=(look,), **how
    )
    await bot.hears("where is 东京?", files={"plan<b>.txt": b"Monday"})
    await bot.hears("谢谢")
    await bot.hears("/new")
    await bot.hears(HOSTILE)
    await bot.hears("of Bob alone", sender="bob")
    return bot


class Strict(HTMLParser):
    """Collects the elements, attributes and text of an HTML file."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data

    def error(self, message: str) -> NoReturn:
        raise AssertionError(message)


async def test_a_chat_as_markdown_on_standard_output(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    out = (await export(bot.home, ANN)).out

    assert out.startswith("# memory:here:ann\n\nExported on ")
    assert "Times are those of Asia/Shanghai." in out
    assert "> where is 东京?" in out
    assert "📎 plan\\<b\\>.txt" in out
    assert "> ```python\n> print('a < b')\n> ```" in out
    assert re.search(r"\*\*Parley\*\* · \d{4}-\d\d-\d\d \d\d:\d\d\n\n> 好的。", out)
    assert len(re.findall("^## ", out, re.MULTILINE)) == 2, "two conversations"
    call = '</summary>\n\n```json\n{\n  "what": "东京"\n}\n```\n\n````\n东京 ``` is'
    assert re.search(rf"<details><summary>✓ look, \d+\.\d s{re.escape(call)}", out)
    assert "> \\<script\\>alert(1)\\</script\\>" in out
    assert "\x1b" not in out
    assert "of Bob alone" not in out


async def test_where_the_locale_has_no_words_for_it_it_is_printed_all_the_same(start_bot: StartBot) -> None:
    bot = await start_bot("好的。")
    await bot.hears("hi")

    done = await export(bot.home, ANN, PYTHONIOENCODING="ascii")

    assert (done.code, done.err) == (0, "")
    assert "> 好的。" in done.out


async def test_a_chat_as_a_page_runs_nothing_and_loads_nothing(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    page = Strict()
    page.feed((await export(bot.home, ANN, "--html")).out)

    assert not {"script", "img", "iframe", "link", "b>"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    links = [value or "" for name, value in page.attributes if name == "href"]
    assert not [link for link in links if not link.startswith(("http:", "https:", "mailto:"))]
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert page.tags.count("section") == 7
    assert page.tags.count("details") == 1
    assert "<script>alert(1)</script>" in page.words
    assert "where is 东京?" in page.words
    assert "plan<b>.txt" in page.words
    assert "print('a < b')" in page.words
    assert "of Bob alone" not in page.words


async def test_a_chat_as_json_is_its_messages(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    document = json.loads((await export(bot.home, ANN, "--json")).out)

    assert document["chat"] == ANN
    first, second = (
        [message_adapter.validate_python(each) for each in one["messages"]] for one in document["sessions"]
    )
    with Archive.open(bot.home) as archive:
        stored = [row.message for row in archive.said_in(archive.newest_runs(10)[-1].run) if hasattr(row, "message")]
    assert first[: len(stored)] == stored
    assert [message.role for message in first] == ["user", "assistant", "tool_result", "assistant", "user", "assistant"]
    assert [message.role for message in second] == ["user", "assistant"]
    assert isinstance(first[2], ToolResultMessage)
    assert isinstance(second[1], AssistantMessage)
    assert second[1].text == f"No: {HOSTILE}"


async def test_a_file_is_for_its_owner_alone(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    out = bot.home / "mine.md"
    out.write_text("open to all")
    out.chmod(0o644)
    done = await export(bot.home, "ann", "--md", "--out", str(out))

    assert (done.code, done.out, done.err) == (0, "", "")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "好的。" in out.read_text("utf-8")
    for kept in (bot.home, Path("/dev/null"), Path("/dev/stdout")):
        refused = await export(bot.home, "ann", "--out", str(kept))
        assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_what_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "mine.md"
    out.write_text("the old one")

    def breaks_off() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(ParleyError, match="No space left"):
        write_private(out, breaks_off())

    assert [file.read_text() for file in tmp_path.iterdir()] == ["the old one"]


async def test_the_document_is_one_whatever_steers_a_terminal_in_it(start_bot: StartBot) -> None:
    bot = await start_bot("\x7f\x85\x9b31m\x1b[2J\u202e!")
    await bot.hears("hi")

    done = await export(bot.home, ANN, "--json")

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.out)
    (session,) = json.loads(done.out)["sessions"]
    answer = message_adapter.validate_python(session["messages"][1])
    assert isinstance(answer, AssistantMessage)
    assert answer.text == "\x7f\x85\x9b31m\x1b[2J\u202e!"


async def test_a_chat_is_named_by_a_part_that_only_it_has(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    several, unknown, none = [await export(bot.home, *given) for given in (["memory"], ["carl"], [])]

    assert several.code == unknown.code == none.code == 2
    assert several.err.splitlines()[1:] == unknown.err.splitlines()[1:] == [ANN, "memory:here:bob"]
    assert none.err.startswith("parley: Say which chat. There are:\nmemory:here:ann\n")


async def test_what_is_a_secret_by_now_is_left_out_of_every_form(start_bot: StartBot) -> None:
    bot = await start_bot(f"The key is {CANARY}.")
    await bot.hears(f"is it {CANARY}?")

    for form in ("--md", "--html", "--json"):
        out = (await export(bot.home, "ann", form, OPENAI_API_KEY=CANARY)).out
        assert CANARY not in out
        assert "secret" in out


async def test_a_message_that_cannot_be_read_is_said_to_be_missing(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await bot.stop()
    execute(bot.home, "UPDATE transcript SET message = 'x' WHERE seq = 3")

    out = (await export(bot.home, "ann")).out
    assert "_A message that was here cannot be read (row 3 of transcript)._" in out
    assert "好的。" in out


async def test_what_a_sub_agent_said_by_itself_is_in_no_chat_but_in_the_document(start_bot: StartBot) -> None:  # S3-26
    bot = await talked(start_bot)
    chat = ChatKey.parse(ANN)
    aside = AssistantMessage(content=(), stop_reason=StopReason.STOP, origin=CLEAN)
    await bot.made.base.store.transcript.append(Run("run-9", chat, "aside", "ann", 1.0), 1, user("do a thing"))
    await bot.made.base.store.transcript.append(Run("run-9", chat, "aside", "ann", 1.0), 1, aside)

    assert "do a thing" not in (await export(bot.home, "ann")).out
    document = json.loads((await export(bot.home, "ann", "--json")).out)
    assert [len(one["messages"]) for one in document["sessions"]] == [6, 2, 2]


# In the chat


def sent(bot: Bot) -> tuple[str, str]:
    """Return name and content of the newest file."""
    [*_, file] = [file for _, message in bot.channel.posts for file in message.attachments]
    return file.name, Path(file.path).read_text("utf-8")


async def test_a_person_gets_their_own_chat_as_a_file(start_bot: StartBot) -> None:
    bot = await talked(start_bot)
    await bot.hears("/export html", sender="bob")
    name, page = sent(bot)
    assert bot.screen[-1] == "Here is the export of this chat."
    assert re.fullmatch(r"chat-\d{4}-\d\d-\d\d\.html", name)
    assert "of Bob alone" in page
    assert "东京" not in page

    await bot.hears("/export")
    name, text = sent(bot)
    assert name.endswith(".md")
    assert "> where is 东京?" in text
    assert "**Ada** · " in text, "Parley by the name that it has here"
    assert "of Bob alone" not in text
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in (bot.home / "outgoing").rglob("*.*"))


async def test_in_a_group_only_an_owner_exports(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("hi", sender="bob", group="team")
    await bot.hears("/export", sender="bob", group="team")
    assert bot.screen[-1] == "Other people can read this chat, so only an owner can export it."

    await bot.hears("/export json", sender="ann", group="team")
    assert [len(one["messages"]) for one in json.loads(sent(bot)[1])["sessions"]] == [2]


async def test_what_cannot_be_exported_is_a_sentence(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", channel=MemoryChannel(limits=NO_PACE.model_copy(update={"max_upload": 10})))
    await bot.hears("/export")
    await bot.hears("/export pdf")
    await bot.hears("hi")
    await bot.hears("/export")
    (bot.home / "outgoing").rename(bot.home / "elsewhere")
    (bot.home / "outgoing").write_text("a file where the folder should be")
    await bot.hears("/export")

    assert bot.screen == [
        "There is nothing to export yet.",
        "Use /export md, json or html.",
        "Hello.",
        "The file has 0 MB; at most 0 MB can be sent here.",
        "I could not write the file. Please try again later.",
    ]


async def test_no_secret_leaves_with_a_file(start_bot: StartBot) -> None:
    secrets = Secrets()
    bot = await start_bot(f"The key is {CANARY}.", secrets=secrets)
    await bot.hears("tell me")
    secrets.add(CANARY)
    await bot.hears("/export")

    assert CANARY not in sent(bot)[1]


async def test_the_words_before_and_after_an_edit_are_in_it(start_bot: StartBot) -> None:
    bot = await start_bot("Oslo.", "Bergen.")
    await bot.hears("weather in Oslo")
    await edits(bot, "weather in Oslo", "weather in Bergen")

    await bot.hears("/export")

    _, exported = sent(bot)
    assert "> weather in Oslo" in exported
    assert "> weather in Bergen" in exported


async def test_the_chat_of_somebody_else_is_not_exported_through_the_page(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi.") as world:
        await world.bot.hears("hello")
        carl, ann = await admin(world), world.bot.channel.chat("ann")

        with pytest.raises(CommandRefused, match="page_not_your_chat"):
            await world.desk.run(carl, ann, "/export", ())


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was used in many ways."""
    home = tmp_path_factory.mktemp("ready")
    asyncio.run(used(home))
    return home


@pytest.mark.parametrize("seed", range(examples(20)))
async def test_whatever_is_damaged_a_chat_is_exported_or_a_sentence_says_why_not(
    ready: Path, tmp_path: Path, seed: int
) -> None:
    home, chance = tmp_path / "home", random.Random(seed)  # noqa: S311
    shutil.copytree(ready, home)
    for cell in chance.sample(cells(home), 3):
        damage(home, cell, chance)

    bot = begun(home)
    await bot.start()
    try:
        shown = len(bot.screen)
        await bot.channel.hears("/export")
        await bot.channel.until(lambda: len(bot.screen) > shown)
        assert not any("went wrong" in text for text in bot.screen)
    finally:
        await bot.stop()


def test_the_command_of_the_program_does_not_wait_for_a_database_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)
    tells_at_once("export", monkeypatch, capsys)


def test_the_command_of_the_program_tells_of_a_wrong_password_in_one_line_without_it(
    tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)
    monkeypatch.setenv(ADDRESS, wrong)
    tells_in_one_line("export", 2, capfd)
