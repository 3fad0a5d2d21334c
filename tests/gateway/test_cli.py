"""The command line, with and without the page, a chat and what is set wrongly."""

import asyncio
import os
import re
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL
from contextlib import closing, suppress
from pathlib import Path

import pytest

from gateway.permissions.installed_plugins import names_of_ours
from gateway.security.packages import version
from parley.testing.emulators.telegram import TelegramEmulator
from tests.end_to_end.forks import parley
from tests.end_to_end.program import START_SECONDS
from tests.process import REPOSITORY, SILENT, python, until

CLI = ("-P", "-m", "gateway.cli")


async def test_help_names_every_command_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from gateway.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = {'pydantic', 'msgspec', 'aiohttp', 'litellm', 'structlog', 'gateway.plugin', 'gateway.app'}\n"
        "print(code, sorted(heavy & sys.modules.keys()))"
    )
    helped = await python("-c", code)

    assert all(
        re.search(rf"^ +{command} ", helped.out, re.MULTILINE)
        for command in ("run", "chat", "doctor", "backup", "restore", "migrate")
    )
    assert helped.out.splitlines()[-1] == "0 []"


async def test_the_version_is_that_of_the_project() -> None:
    told = await python(*CLI, "--version")

    assert (told.code, told.out) == (0, f"parley {version()}\n")
    assert f'version = "{version()}"' in (REPOSITORY / "pyproject.toml").read_text()


async def test_an_unknown_command_is_refused() -> None:
    refused = await parley("frobnicate")

    assert refused.code == 2
    assert "invalid choice: 'frobnicate'" in refused.err


async def test_a_typo_in_parley_toml_is_one_sentence_for_every_command_that_starts_it(tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text('modle = "ollama/qwen3"')
    sentence = f"parley: There is no setting modle in {tmp_path}/parley.toml, line 1; did you mean model?\n"

    for command in ((), ("run",), ("chat",)):
        refused = await parley(*command, cwd=tmp_path, environ={"PARLEY_HOME": str(tmp_path)})

        assert (refused.code, refused.out, refused.err) == (2, "", sentence), command


async def test_a_model_that_cannot_be_had_is_one_sentence(tmp_path: Path) -> None:
    refused = await parley(cwd=tmp_path, environ={"HOME": str(tmp_path), "PARLEY_MODEL": "anthropic/x"})

    assert (refused.code, refused.out) == (2, "")
    assert refused.err == 'parley: The model "anthropic/x" needs a key: set ANTHROPIC_API_KEY.\n'


async def test_that_no_model_is_set_is_told_with_what_to_do(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_PLUGINS_OFF": ",".join(names_of_ours())}  # one may have a model
    started = await parley("chat", cwd=tmp_path, environ=environ)

    assert "Model  none is set, so nothing answers: no key and no local model was found" in started.out
    assert "`parley connect model` sets one." in started.out
    assert "AI" not in started.out


async def test_a_busy_port_is_one_sentence(tmp_path: Path) -> None:
    other = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = str(other.sockets[0].getsockname()[1])

    environ = {"HOME": str(tmp_path), **SILENT, "PARLEY_WEB_PORT": port}
    refused = await parley(cwd=tmp_path, environ=environ)
    other.close()
    await other.wait_closed()

    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert refused.err.startswith(f"parley: port {port} is taken by another program")
    assert f"PARLEY_WEB_PORT={int(port) + 1}" in refused.err


async def test_a_store_that_cannot_be_opened_is_one_sentence_for_every_command_that_needs_it(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), **SILENT, "PARLEY_WEB_PORT": "0"}
    file = tmp_path / ".parley" / "parley.db"
    file.parent.mkdir()
    file.write_bytes(b"these are no pages of a database" * 500)

    for command in ("run", "chat"):
        refused = await parley(command, cwd=tmp_path, environ=environ)

        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
        assert refused.err.startswith(f"parley: {file} is damaged (file is not a database). Bring back a backup")


async def test_a_parley_that_nobody_could_reach_is_one_sentence(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), **SILENT, "PARLEY_WEB": "off"}
    refused = await parley(cwd=tmp_path, environ=environ)

    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert refused.err.startswith("parley: Nobody could reach Parley: the page is off, and no channel is set up.")


async def test_a_wrong_token_is_one_sentence(tmp_path: Path) -> None:
    async with TelegramEmulator() as telegram:
        environ = {
            "HOME": str(tmp_path),
            **SILENT,
            "PARLEY_WEB": "off",
            "PARLEY_LOG_LEVEL": "error",
            "TELEGRAM_BOT_TOKEN": "1:wrongwrong",
            "TELEGRAM_BASE_URL": telegram.url,
        }
        refused = await parley(cwd=tmp_path, environ=environ)

    said = [line for line in refused.err.splitlines() if "/pair" not in line]  # the code may be shown before
    assert refused.code == 2, refused.err
    assert len(said) == 1, refused.err
    assert "TELEGRAM_BOT_TOKEN" in said[0]
    assert "wrongwrong" not in refused.err


async def test_what_draws_in_a_terminal_is_not_imported_where_there_is_none(tmp_path: Path) -> None:
    code = "import sys; from gateway.cli import main; main(['chat']); print({'rich', 'PIL'} & set(sys.modules))"
    environ = {"HOME": str(tmp_path), **SILENT}
    talked = await python("-c", code, cwd=tmp_path, environ=environ, says="/help\n")

    assert "The main commands:" in talked.out
    assert talked.out.splitlines()[-1] == "set()"


async def test_ctrl_c_ends_it_without_a_traceback_and_a_second_instance_is_refused(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY), **SILENT, "PARLEY_WEB_PORT": "0"}
    # If a shell runs the tests in the background, they and their children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    first = await asyncio.create_subprocess_exec(
        sys.executable,
        *CLI,
        cwd=tmp_path,
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert first.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            while "Page" not in (await first.stdout.readline()).decode():
                pass
        second = await python(*CLI, cwd=tmp_path, environ=environ)
    finally:
        first.send_signal(signal.SIGINT)
        _, err = await first.communicate()

    assert second.code == 2
    assert second.err.startswith(f"parley: Another Parley (pid {first.pid}) already uses {tmp_path / '.parley'}.")
    assert first.returncode in (0, 130)
    assert "Traceback" not in err.decode()


async def test_a_signal_to_stop_counts_from_the_moment_at_which_it_can_be_reached(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    environ = {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(REPOSITORY),
        **SILENT,
        "PARLEY_WEB_PORT": str(unused_tcp_port),
    }
    program = await asyncio.create_subprocess_exec(
        sys.executable, *CLI, cwd=tmp_path, env=environ, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        await until(lambda: is_listening(unused_tcp_port), START_SECONDS)
    finally:
        program.send_signal(signal.SIGTERM)
        code = await program.wait()

    assert code == 0


async def test_signals_that_come_again_while_it_ends_change_nothing(tmp_path: Path, unused_tcp_port: int) -> None:
    environ = {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(REPOSITORY),
        **SILENT,
        "PARLEY_WEB_PORT": str(unused_tcp_port),
    }
    program = await asyncio.create_subprocess_exec(
        sys.executable, *CLI, cwd=tmp_path, env=environ, stdout=DEVNULL, stderr=DEVNULL
    )
    await until(lambda: is_listening(unused_tcp_port), START_SECONDS)
    while program.returncode is None:  # until the last moment of its life
        with suppress(ProcessLookupError):
            os.kill(program.pid, signal.SIGTERM)  # `send_signal` would take its exit code from the event loop
        await asyncio.sleep(0.002)

    assert program.returncode == 0


def is_listening(port: int) -> bool:
    with closing(socket.socket()) as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("broken", ["", "backups", "replaced"])
async def test_a_list_of_backups_that_cannot_be_read_is_one_sentence(tmp_path: Path, broken: str) -> None:
    home = tmp_path / "home"
    (home / broken).parent.mkdir(exist_ok=True)
    (home / broken).write_text("a file in the place of a folder")

    refused = await parley("restore", environ={"PARLEY_HOME": str(home)})

    assert refused.code == 2
    assert refused.err == (
        f"parley: {home / broken} cannot be used (Not a directory). See that you own it and that the disk has room, "
        "or set PARLEY_HOME to another folder.\n"
    )


async def test_a_home_with_a_name_that_is_too_long_is_one_sentence(tmp_path: Path) -> None:
    refused = await parley("restore", environ={"PARLEY_HOME": str(tmp_path / ("x" * 300))})

    assert refused.code == 2
    assert "cannot be used (File name too long)" in refused.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_a_home_of_others_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(0o000)

    refused = await parley("restore", environ={"PARLEY_HOME": str(tmp_path / "home")})

    assert refused.code == 2
    assert "cannot be used (Permission denied)" in refused.err


async def test_backups_that_are_links_to_nowhere_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "parley-2026-01-02.zip").symlink_to(tmp_path / "nowhere")

    listed = await parley("restore", environ={"PARLEY_HOME": str(tmp_path)})

    assert listed.code == 0
    assert "There is no backup" in listed.out
