"""In a terminal people see the chat alone; the log and all else that a process writes is in a file."""

import signal
from pathlib import Path

from gateway.records.own_screen import FILE, FORMER, MOST
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.noisy_chat import SIGN
from tests.end_to_end.program import Program
from tests.end_to_end.typist import Typist
from tests.process import SILENT, python, until

WAYS = (
    "printed",
    "to standard error",
    "by a library in C\n",
    "by a library in C, as an error",
    "logged",
    "logged by asyncio",
    "as a warning",
    "by a child\n",
    "by a child, as an error",
    "in a task",
    "in a callback",
    "in a thread",
    "while it is deleted",
)


def a_chat(folder: Path, **environ: str) -> Program:
    return Program(folder, {**SILENT, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1", **environ})


async def test_nothing_but_the_chat_is_written_to_its_terminal(tmp_path: Path) -> None:
    program = a_chat(tmp_path)
    program.module = "tests.end_to_end.noisy_chat"
    log = program.home / FILE
    async with Typist(program) as typist:
        await typist.sees("›")
        program.send(signal.SIGUSR1)
        await until(lambda: log.exists() and f"{SIGN} last" in log.read_text())
        typist.press("/help\r")
        await typist.sees("The main commands:")
        typist.press("/exit\r")
        assert await typist.ends() == 0

    assert SIGN not in typist.screen
    assert "Traceback" not in typist.screen
    assert program.console == ""
    assert [way for way in WAYS if f"{SIGN} {way}" not in log.read_text()] == []
    assert log.stat().st_mode & 0o777 == 0o600


async def test_also_where_the_output_goes_into_a_pipe(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), **SILENT}
    talked = await python("-m", "tests.end_to_end.noisy_chat", "at-once", environ=environ, says="/help\n")

    assert "The main commands:" in talked.out
    assert talked.err == ""
    assert SIGN not in talked.out
    assert SIGN in (tmp_path / ".parley" / FILE).read_text()


async def test_a_model_that_is_gone_is_told_in_a_sentence_and_not_in_the_words_of_the_log(tmp_path: Path) -> None:
    async with OpenAiEmulator([says("Hello.")]) as model:
        program = a_chat(tmp_path, PARLEY_MODEL="", OPENAI_BASE_URL=model.base_url)
        async with Typist(program, "chat") as typist:
            await typist.sees("›")
            await model.leave()
            typist.press("hello\r")
            await typist.sees("Start that server again")

    assert model.url.removeprefix("http://") in typist.screen
    assert "level=" not in typist.screen
    assert "[warning" not in typist.screen
    assert "Error" not in typist.screen
    assert program.console == ""
    assert "run failed" in (program.home / FILE).read_text()


async def test_a_log_that_is_long_makes_place_for_another_and_one_that_cannot_be_written_stops_nobody(
    tmp_path: Path,
) -> None:
    environ = {"HOME": str(tmp_path), **SILENT}
    home = tmp_path / ".parley"
    home.mkdir()
    (home / FILE).write_text("x" * (MOST + 1))
    await python("-m", "gateway.cli", "chat", environ=environ)
    assert (home / FORMER).stat().st_size == MOST + 1
    assert (home / FILE).stat().st_size < MOST

    (home / FILE).unlink()
    (home / FILE).mkdir()
    talked = await python("-m", "gateway.cli", "chat", environ=environ, says="/help\n")
    assert "The main commands:" in talked.out


async def test_why_it_cannot_begin_is_said_in_the_terminal(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_MODEL": "nobody/nothing"}
    refused = await python("-m", "gateway.cli", "chat", environ=environ)

    assert refused.code == 2
    assert refused.err.startswith('parley: The model "nobody/nothing" names no provider')
    assert refused.err.count("\n") == 1
