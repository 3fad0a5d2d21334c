"""The command `parley replay`: the list of runs, one of them, and what is refused."""

import asyncio
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from gateway.records.replay.lines import SHORT
from gateway.store.archive import Archive
from tests.end_to_end.forks import parley
from tests.gateway.cluster.test_nodes_shown import use_home
from tests.gateway.conftest import StartBot
from tests.gateway.test_archive import count_of_runs, kept
from tests.gateway.test_database_away import tells_at_once
from tests.gateway.test_database_refused import ADDRESS, tells_in_one_line
from tests.process import Finished

CANARY = "sk-0123456789-abcdef"


async def cli(home: Path, *arguments: str) -> Finished:
    environ = {"HOME": str(home), "PARLEY_HOME": str(home), "PARLEY_TIMEZONE": "Europe/Paris"}
    return await parley(*arguments, cwd=home, environ=environ)


async def test_the_command_lists_runs_and_takes_the_start_of_an_id(start_bot: StartBot) -> None:
    bot = await start_bot("One.", Waits(asyncio.Event()))
    await bot.hears("first")
    await bot.channel.hears("second\x1b[2J")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await kept(lambda: count_of_runs(bot.home) == 2)
    with Archive.open(bot.home) as archive:
        [running, first] = archive.newest_runs(10)

    listed = await cli(bot.home, "replay")
    shown = await cli(bot.home, "replay", running.run[:10])
    several = await cli(bot.home, "replay", "")
    unknown = await cli(bot.home, "replay", "nothing")
    wrong = await cli(bot.home, "replay", "--last", "-1", first.run)

    assert [line.split()[0] for line in listed.out.splitlines()] == ["run", running.run[:12], first.run[:12]]
    assert (shown.code, shown.err) == (0, "")
    assert "person: second\\x1b[2J" in shown.out
    assert (several.code, several.out) == (2, "")
    assert first.run[:12] in several.err
    assert (wrong.code, wrong.err.splitlines()[-1]) == (
        2,
        "parley replay: error: argument --last: '-1' is no number of steps, such as 20",
    )
    assert unknown.err == "parley: There is no run nothing. `parley replay` lists the newest ones.\n"


async def test_what_became_a_secret_later_is_not_shown(start_bot: StartBot) -> None:
    at_the_cut = "x" * (SHORT - len(CANARY) // 2)
    bot = await start_bot(f"The key is {CANARY}. {at_the_cut}")
    await bot.hears(f"{at_the_cut}{CANARY}{at_the_cut}")
    environ = {"HOME": str(bot.home), "PARLEY_HOME": str(bot.home), "OPENAI_API_KEY": CANARY}
    with Archive.open(bot.home) as archive:
        run = archive.newest_runs(1)[0].run

    shown = await parley("replay", run, cwd=bot.home, environ=environ)
    assert "The key is [secret]." in shown.out
    assert CANARY[:8] not in shown.out


async def test_a_home_without_a_store_is_one_sentence(tmp_path: Path) -> None:
    refused = await cli(tmp_path, "replay")

    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"parley: Nothing is kept in {tmp_path} yet.")


def test_it_does_not_wait_for_a_database_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)
    tells_at_once("replay", monkeypatch, capsys)


def test_it_tells_of_a_wrong_password_in_one_line_without_it(
    tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)
    monkeypatch.setenv(ADDRESS, wrong)
    tells_in_one_line("replay", 2, capfd)
