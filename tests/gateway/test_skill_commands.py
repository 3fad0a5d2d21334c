"""/skills and /skill: who may see and do what, the texts, and the lasting effect."""

import asyncio
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits, calls
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from channels.memory import MemoryChannel
from gateway.texts.say import skill_reason
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot


def write_skill(folder: Path, name: str, *more: str, description: str = "", body: str = "Do it.") -> None:
    """Write a SKILL.md; `more` are lines of its header."""
    lines = ["---", f"name: {name}", f"description: {description or f'Does {name}.'}", *more, "---", "", body, ""]
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two skills of the owner."""
    folder = tmp_path / "skills"
    write_skill(folder, "chart", description="Draws a chart of numbers.", body="CHARTS")
    write_skill(folder, "flights", "tags: [travel]", description="Finds flights.", body="FLIGHTS")
    return folder


def library(folder: Path) -> SkillLibrary:
    return SkillLibrary([(folder, Origin.OWNER)], environ={})


def buttons(bot: Bot) -> list[list[str]]:
    """Return the buttons of the newest message."""
    return [[f"{button.label}: {button.action}" for button in row] for row in bot.channel.posts[-1][1].buttons]


def prompt(bot: Bot) -> str:
    """Return the system prompt of the newest request."""
    return bot.llm.requests[-1].system


async def test_the_list_shows_marks_and_offers_buttons(start_bot: StartBot, folder: Path) -> None:  # S1-03
    bot = await start_bot(skills=library(folder))

    await bot.hears("/skills")
    assert bot.screen[-1] == (
        "**Skills** (✓ is loaded):\n\n- [○] **chart** – Draws a chart of numbers.\n- [○] **flights** – Finds flights."
    )
    assert buttons(bot) == [["Load chart: /skill load chart", "Load flights: /skill load flights"]]

    await bot.channel.presses("Load flights")
    await bot.app.settled()
    [now] = bot.screen
    assert now.startswith("**flights** is loaded in this chat, until it is unloaded by command.\n\n**S")
    assert "- [✓] **flights** (kept loaded) – Finds flights.\n- [○] **chart**" in now
    assert buttons(bot) == [["Unload flights: /skill unload flights", "Load chart: /skill load chart"]]


async def test_what_an_owner_loads_is_in_the_prompt_until_it_is_unloaded(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot("One.", "Two.", "Three.", "Four.", skills=library(folder))
    await bot.hears("/skill load chart")
    await bot.hears("hello")
    assert "CHARTS" in prompt(bot)

    await bot.hears("/new")
    await bot.hears("hello")
    assert "CHARTS" in prompt(bot)  # D-10

    await bot.restart()
    await bot.hears("hello")
    assert "CHARTS" in prompt(bot)

    await bot.hears("/skill unload chart")
    assert bot.screen[-1] == "**chart** is unloaded in this chat."
    assert buttons(bot) == [["Load chart: /skill load chart"]]
    await bot.hears("hello")
    assert "CHARTS" not in prompt(bot)


async def test_a_model_does_not_put_away_what_a_person_keeps(start_bot: StartBot, folder: Path) -> None:  # D-10
    bot = await start_bot(calls(("unload_skill", {"name": "chart"})), "I may not.", skills=library(folder))
    await bot.hears("/skill load chart")

    await bot.hears("put it away")

    assert "CHARTS" in prompt(bot)


async def test_a_person_unloads_what_the_model_has_loaded(start_bot: StartBot, folder: Path) -> None:  # S1-23
    bot = await start_bot(calls(("load_skill", {"name": "chart"})), "Loaded.", "Gone.", skills=library(folder))
    await bot.hears("draw")
    assert "CHARTS" in prompt(bot)
    await bot.hears("/skills")
    assert "- [✓] **chart** – Draws" in bot.screen[-1]

    await bot.hears("/skill unload chart")
    await bot.hears("again")

    assert "CHARTS" not in prompt(bot)


async def test_others_may_look_and_not_load(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot("Hi.", skills=library(folder))
    write_skill(folder, "broken", description='"unclosed')

    await bot.hears("/skills", sender="bob")
    assert "**chart**" in bot.screen[-1]
    assert "Problems" not in bot.screen[-1]
    assert buttons(bot) == []

    for command in ("/skill load chart", "/skill unload chart", "/skill reload chart"):
        await bot.hears(command, sender="bob")
        assert bot.screen[-1] == "Only owners and admins can load and unload skills."
    await bot.hears("hello", sender="bob")
    assert "CHARTS" not in prompt(bot)


async def test_a_button_pressed_by_another_person_is_refused(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(skills=library(folder))
    await bot.hears("/skills", group="team")

    await bot.channel.presses("Load chart", sender="bob")
    await bot.app.settled()

    assert bot.screen[-1] == "Only owners and admins can load and unload skills."


async def test_why_a_skill_is_not_available_is_told_to_everybody(start_bot: StartBot, folder: Path) -> None:  # S2-13
    write_skill(folder, "bank", "requires:", "  env: [BANK_KEY]")
    write_skill(folder, "git-log", "requires:", "  bins: [no-such-program]")
    bot = await start_bot(skills=library(folder))

    await bot.hears("/skills", sender="bob")
    assert "- [○] **bank** – Does bank. *Not available: needs BANK\\_KEY, which is not set.*" in bot.screen[-1]
    assert "*Not available: needs no-such-program, which is not installed.*" in bot.screen[-1]

    await bot.hears("/skills", language="zh")
    assert "*不可用：需要设置 BANK\\_KEY。*" in bot.screen[-1]
    assert [label for row in buttons(bot) for label in row if "bank" in label] == []

    await bot.hears("/skill load bank")
    assert bot.screen[-1] == "**bank** cannot be loaded: needs BANK\\_KEY, which is not set."


@pytest.mark.parametrize(
    ("reason", "chinese"),
    [
        ("needs git, which is not installed", "需要安装 git"),
        ("needs one of uv, pip, of which none is installed", "需要安装其中之一：uv, pip"),
        ("needs BANK_KEY, which is not set", "需要设置 BANK_KEY"),
        ("needs Linux or macOS", "需要 Linux 或 macOS"),
        ("is disabled in its file", "已在文件中停用"),
        ("something new", "something new"),
    ],
)
def test_reasons_are_told_in_chinese(reason: str, chinese: str) -> None:
    assert skill_reason(reason, "zh") == chinese
    assert skill_reason(reason, "en") == reason


async def test_notes_tell_whose_a_skill_is_and_who_may_load_it(start_bot: StartBot, folder: Path) -> None:
    write_skill(folder, "house", "always: true")
    write_skill(folder, "shy", "disable-model-invocation: true")
    bot = await start_bot(skills=library(folder))
    write_skill(workspace(bot) / "skills", "mine")

    await bot.hears("/skills")

    assert "- [✓] **house** (always loaded) – Does house." in bot.screen[-1]
    assert "- [○] **shy** (by command only) – Does shy." in bot.screen[-1]  # S1-29
    assert "- [○] **mine** (of this chat, by command only) – Does mine." in bot.screen[-1]
    assert not any("house" in label for row in buttons(bot) for label in row)

    for verb in ("load", "unload", "reload"):
        await bot.hears(f"/skill {verb} house")
        assert bot.screen[-1] == "**house** is always loaded, as its file says."


def workspace(bot: Bot, chat: str = "memory_here_ann") -> Path:
    return bot.home / "workspaces" / chat


async def test_a_skill_of_the_chat_is_loaded_as_its_files_are(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot("One.", "Two.", skills=library(folder))
    write_skill(workspace(bot) / "skills", "mine", body="MINE")

    await bot.hears("/skill load mine")
    assert bot.screen[-1] == (
        "**mine** is loaded in this chat, until it is unloaded by command. "
        "It was written in this chat: if its files change, it has to be loaded again."
    )
    await bot.hears("hello")
    assert "MINE" in prompt(bot)

    write_skill(workspace(bot) / "skills", "mine", body="YOURS")
    await bot.hears("/skill reload mine")
    assert bot.screen[-1].startswith("**mine** is loaded in this chat as its files are now.")
    await bot.hears("hello")
    assert "YOURS" in prompt(bot)


@pytest.mark.parametrize(
    ("language", "chat", "thread"),
    [
        ("en", "**chart** is unloaded in this chat.", "**chart** is unloaded in this thread."),
        ("zh", "**chart** 已在本聊天中卸载。", "**chart** 已在本话题中卸载。"),
    ],
)
async def test_a_command_says_which_level_it_changes(
    start_bot: StartBot, folder: Path, language: str, chat: str, thread: str
) -> None:  # D-13
    bot = await start_bot(skills=library(folder))

    for where, words in ((None, chat), ("7", thread)):
        await bot.hears("/skill load chart", group="team", thread=where, language=language)
        await bot.hears("/skill unload chart", group="team", thread=where, language=language)
        assert bot.screen[-1] == words


async def test_a_thread_begins_with_what_its_channel_keeps(wired_bot: StartBot, folder: Path) -> None:  # D-13
    bot = await wired_bot("One.", "Two.", skills=library(folder))
    await bot.hears("/skill load chart", group="team")

    await bot.hears("hello", group="team", thread="7")
    assert "CHARTS" in prompt(bot)
    await bot.hears("/skill unload chart", group="team", thread="7")
    await bot.hears("hello", group="team")

    assert "CHARTS" in prompt(bot)


async def test_during_a_run_it_counts_from_the_next_step(start_bot: StartBot, folder: Path) -> None:
    go = asyncio.Event()
    bot = await start_bot(Waits(go, calls(("list_skills", {}))), "Done.", skills=library(folder))
    await bot.channel.hears("think")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/skill load chart")
    await bot.channel.until(lambda: any("chart** is loaded" in text for text in bot.screen))
    assert any(text.endswith("A running answer uses it from its next step on.") for text in bot.screen)
    go.set()
    await bot.app.settled()

    assert ["CHARTS" in request.system for request in bot.llm.requests] == [False, True]


@pytest.mark.parametrize(
    ("command", "english", "chinese"),
    [
        ("/skill", "Use `/skill load NAME`", "请用 `/skill load 名称`"),
        ("/skill load", "Use `/skill load NAME`", "请用 `/skill load 名称`"),
        ("/skill Chart", "- [○] **chart** –", "- [○] **chart** –"),
        ("/skill nothing", "Use `/skill load NAME`", "请用 `/skill load 名称`"),
        ("/skill eat chart", "Use `/skill load NAME`", "请用 `/skill load 名称`"),
        ("/skill load nothing", "There is no skill nothing here.", "这里没有名为 nothing 的技能。"),
        ("/skill unload nothing", "There is no skill nothing here.", "这里没有名为 nothing 的技能。"),
        ("/skill reload nothing", "There is no skill nothing here.", "这里没有名为 nothing 的技能。"),
        ("/skill load ../chart", "There is no skill ../chart here.", "这里没有名为 ../chart 的技能。"),
        ("/skill unload chart", "**chart** is not loaded.", "**chart** 没有加载。"),
        ("/skill LOAD  Chart ", "**chart** is loaded in this chat", "**chart** 已在本聊天中加载"),
        ("/skill reload chart", "**chart** is loaded in this chat", "**chart** 已在本聊天中按文件的当前内容重新加载"),
        ("/skill load large", "**large** is too large to be loaded.", "**large** 过大，无法加载。"),
        ("/skills travel", "- [○] **flights** – Finds", "- [○] **flights** – Finds"),
        ("/skills no such", "No skill is about no such.", "没有与 no such 有关的技能。"),
    ],
)
async def test_every_answer_is_in_the_person_s_language(
    start_bot: StartBot, folder: Path, command: str, english: str, chinese: str
) -> None:
    write_skill(folder, "large", body="字" * 8_100)
    bot = await start_bot(skills=library(folder))

    await bot.hears(command, language="en")
    assert english in bot.screen[-1]
    await bot.restart()
    await bot.hears("/skill unload chart")
    await bot.hears(command, language="zh")
    assert chinese in bot.screen[-1]


async def test_loading_what_is_loaded_does_no_harm(start_bot: StartBot, folder: Path) -> None:  # S1-11
    bot = await start_bot("One.", skills=library(folder))
    for _ in range(2):
        await bot.hears("/skill load chart")
        assert bot.screen[-1].startswith("**chart** is loaded in this chat")

    await bot.hears("hello")
    assert prompt(bot).count("CHARTS") == 1


async def test_without_skills_there_is_nothing_to_list(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/skills")
    assert bot.screen[-1] == "There are no skills here."
    await bot.hears("/skills", language="zh")
    assert bot.screen[-1] == "这里没有技能。"


async def test_a_long_list_is_cut_and_can_be_searched(start_bot: StartBot, tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    for number in range(30):
        write_skill(folder, f"skill-{number:02}", description=f"{'Does a lot of things ' * 10}{number}.")
    write_skill(folder, "x" * 64)
    bot = await start_bot(skills=library(folder), channel=MemoryChannel())

    await bot.hears("/skills more")
    lines = bot.screen[-1].splitlines()
    assert len([line for line in lines if line.startswith("- [")]) == 20
    assert lines[-1] == "- and 11 more: search with `/skills WORDS`"
    assert all(len(line) < 140 for line in lines)
    assert [len(row) for row in buttons(bot)] == [2] * 5

    await bot.hears("/skills skill-29")
    assert bot.screen[-1].count("- [○]") == 1
    assert len(buttons(bot)) == 1

    await bot.hears(f"/skills {'x' * 64}")
    assert buttons(bot) == [], "its action would be longer than a platform allows"


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("Draws v1.2 charts. Use it for numbers.", "Draws v1.2 charts."),
        ("查询航班。需要时使用。", "查询航班。"),
        ("no end", "no end"),
        ("Where is it? Use it to find out.", "Where is it?"),
    ],
)
async def test_the_list_tells_what_a_skill_does_and_not_when_to_use_it(
    start_bot: StartBot, tmp_path: Path, description: str, shown: str
) -> None:
    write_skill(tmp_path / "skills", "one", description=description)
    bot = await start_bot(skills=library(tmp_path / "skills"))

    await bot.hears("/skills")

    assert bot.screen[-1].endswith(f"– {shown}")


async def test_what_a_model_wrote_only_a_person_loads(start_bot: StartBot, folder: Path) -> None:
    bot = await start_bot(calls(("load_skill", {"name": "mine"})), "I may not.", "Now.", skills=library(folder))
    write_skill(workspace(bot) / "skills", "mine", body="MINE")

    await bot.hears("use what you wrote")
    assert "MINE" not in prompt(bot)
    assert "**mine**" not in prompt(bot)
    await bot.hears("/skill load mine")
    await bot.hears("and now?")

    assert "MINE" in prompt(bot)


async def test_what_a_file_says_does_not_format_the_list(start_bot: StartBot, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "loud", description="'**Everybody** <!channel> [here](http://x.y)'")
    bot = await start_bot(skills=library(tmp_path / "skills"))

    await bot.hears("/skills")

    assert "\\*\\*Everybody\\*\\* \\<!channel" in bot.screen[-1]
