"""A newcomer without an account or a model runs `./run chat`, and sees everything but intelligence."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.platforms.terminal import YOU, Terminal
from tests.end_to_end.platforms.terminal_chat import Chat
from tests.end_to_end.program import Program
from tests.plugins.demo.with_memory import NEEDS_MEMORY

SECONDS = 30
"""Seconds; starting a script in a sandbox takes long on a busy machine."""
_QUESTION = re.compile(r"/approve (\w{6})")
_PREVIEW = re.compile(r"/cron confirm (\w+)")

pytestmark = [pytest.mark.quick_clock, pytest.mark.timeout(180)]


class Newcomer:
    """A user at the terminal."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self._asked: set[str] = set()

    @property
    def read(self) -> str:
        return "\n\n".join(self.chat.screen)

    async def says(self, text: str, answer: str = "") -> None:
        """Type a line, and wait for a new answer with the given text."""
        before = self.read.count(answer)
        await self.chat.says(YOU, text)
        if answer:
            await self.chat.until(lambda _: self.read.count(answer) > before and self.chat.is_asking, SECONDS)

    async def sees(self, words: str) -> None:
        await self.chat.until(lambda _: words in self.read, SECONDS)

    async def approves(self, line: str) -> None:
        """Approve the call with this line, once it is asked about."""

        def question() -> str:
            asked = [text for text in self.chat.screen if line in text]
            return next((found for text in asked for found in _QUESTION.findall(text) if found not in self._asked), "")

        await self.chat.until(lambda _: bool(question()), SECONDS)
        asked = question()
        self._asked.add(asked)
        await self.says(f"/approve {asked}")

    async def confirms(self, words: str) -> str:
        """Confirm the preview with these words; return the job's id."""

        def proposed() -> str:
            shown = [text for text in self.chat.screen if words in text]
            return next((found for text in shown for found in _PREVIEW.findall(text)), "")

        await self.chat.until(lambda _: bool(proposed()), SECONDS)
        await self.says(f"/cron confirm {proposed()}", "✓ Set")
        return proposed()


@pytest.fixture
async def newcomer(tmp_path: Path) -> AsyncIterator[Newcomer]:
    program = Program(tmp_path, {"PARLEY_MODEL": "demo"})
    program.forked = True
    async with Terminal() as terminal:
        terminal.settle(program)
        program.unset("PARLEY_PERMISSIONS_OWNER")
        await terminal.launch()
        await terminal.listening()
        chat = terminal.private(YOU)
        assert isinstance(chat, Chat)
        try:
            yield Newcomer(chat)
        finally:
            await program.kill()


async def runs_programs(newcomer: Newcomer) -> bool:
    await newcomer.says("/status", "Up:")
    return "Programs: sandboxed" in newcomer.read


async def test_a_chart_is_drawn_and_a_flight_found_without_a_question(newcomer: Newcomer) -> None:  # D-25
    await newcomer.says("what can you do?", "book a flight from Beijing to Tokyo tomorrow")
    if not await runs_programs(newcomer):
        pytest.skip("no sandbox here")
    await newcomer.says("chart sales.csv", "sent you the picture")
    assert "chart.png" in newcomer.read
    await newcomer.says("/skills", "[✓] chart")

    await newcomer.says("book a flight from Beijing to Atlantis", "on which day")
    await newcomer.says("tomorrow", "Atlantis is not in the timetable")
    await newcomer.sees("Beijing, Shanghai, Guangzhou")
    await newcomer.says("to Tokyo", "nothing is booked")
    assert "ZZ101" in newcomer.read
    assert "May I do this?" not in newcomer.read
    assert not _QUESTION.search(newcomer.read)


async def test_after_words_of_strangers_the_same_is_asked_for(newcomer: Newcomer, tmp_path: Path) -> None:  # D-25
    await newcomer.says("chart sales.csv")
    if not await runs_programs(newcomer):
        pytest.skip("no sandbox here")
    await newcomer.sees("sent you the picture")
    for workspace in (tmp_path / "home" / "workspaces").iterdir():
        (workspace / "notes.md").write_text("Somebody has put this here.")

    # The skill could read the file, so its output may come from the file.
    await newcomer.says("chart sales.csv", "sent you the picture")
    await newcomer.says("book a flight from Beijing to Tokyo tomorrow")
    await newcomer.approves("book-flight/get_current_time.py")
    assert "from the file notes.md, of unknown origin" in newcomer.read
    await newcomer.approves("book-flight/search_flights.py --from Beijing --to Tokyo")
    await newcomer.sees("nothing is booked")


async def test_a_run_is_corrected_and_stopped_and_another_goes_on_beside_the_talk(newcomer: Newcomer) -> None:
    await newcomer.says("count to 20")
    await newcomer.says("no, to 9", "You said 9 instead of 20")
    await newcomer.says("count to 20", "1 2")
    await newcomer.says("/stop", "topped")  # "Stopped.", or "(stopped)" below what was said so far

    await newcomer.says("in the background: count to 9 and tell me", "in the background")
    await newcomer.says("/tasks", "count to 9 and tell me")
    await newcomer.says("what is 2 + 2?", "2 + 2 = 4")
    await newcomer.sees("is done (count to 9 and tell me): Counted to 9.")
    await newcomer.says("/context", "Free:")


@NEEDS_MEMORY
async def test_what_is_to_be_remembered_is_known_in_the_next_conversation(newcomer: Newcomer) -> None:
    await newcomer.says("remember that I like tea", "I will remember: I like tea")
    await newcomer.says("/new", "New conversation started")
    await newcomer.says("what do you remember?", "1. I like tea")


async def test_a_report_is_planned_made_at_once_and_asked_about(newcomer: Newcomer) -> None:
    await newcomer.says("remind me in 20 minutes to stretch", "I will remind you")
    await newcomer.says("every weekday at nine send me a report of my notes", "every weekday at 09:00")
    report = await newcomer.confirms("daily-report")
    await newcomer.says("what is scheduled?", "send me a report of my notes: every weekday at 09:00")
    if not await runs_programs(newcomer):
        pytest.skip("no sandbox here")

    await newcomer.says(f"/cron run {report}")
    await newcomer.sees("visitors: 44, lower than 57")
    await newcomer.says("why is it lower?", "That is all I can tell")
    assert "report.png" in newcomer.read


@NEEDS_MEMORY
async def test_it_is_remembered_in_chinese_as_well(newcomer: Newcomer) -> None:
    await newcomer.says("记住：我喜欢茶", "我会记住：我喜欢茶")
    await newcomer.says("你记得什么？", "1. 我喜欢茶")


async def test_in_chinese_as_well(newcomer: Newcomer) -> None:
    await newcomer.says("我想订一张去东京的机票", "从哪个城市出发、哪一天")
    await newcomer.says("数到 20")
    await newcomer.says("不，到 9", "改成了 9")
    await newcomer.says("在后台：数到 2", "已经在后台进行了")
    await newcomer.sees("后台任务完成了（数到 2）：数到 2 了。")
