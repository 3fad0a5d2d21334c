"""Start-up: files with secrets are readable by their owner only, and no crash prints a secret."""

import os
import stat
from pathlib import Path

import pytest

from gateway.app.start import fast_loop
from tests.process import Finished, python

KEY = "sk-0123456789-very-secret"
SERVE = """
import asyncio, os, sys, threading, warnings
from pathlib import Path
from agent_core.clock import SystemClock, new_id
from gateway.errors import ParleyError
from gateway.app.start import launch
from gateway.store.store import Store

def fail():
    raise RuntimeError(f"no answer to {os.environ['OPENAI_API_KEY']}")

async def serve(settings):
    match sys.argv[1]:
        case "rest":
            async with Store.open(settings.home, SystemClock(), new_id):
                (settings.home / "workspaces" / "chat").mkdir(parents=True, exist_ok=True)
                (settings.home / "workspaces" / "chat" / "notes.md").write_text("hello")
        case "sentence":
            raise ParleyError(f"The key {os.environ['OPENAI_API_KEY']} was refused.")
        case "thread":
            thread = threading.Thread(target=fail)
            thread.start()
            thread.join()
        case "finalizer":
            type("Last", (), {"__del__": lambda _: fail()})()
        case "warning":
            warnings.warn(f"no answer to {os.environ['OPENAI_API_KEY']}")
        case "crash":
            fail()
    return 0

try:
    sys.exit(launch(os.environ, Path.cwd(), serve))
except ParleyError as error:
    sys.exit(error.sentence)
"""


async def start(folder: Path, how: str = "rest") -> Finished:
    return await python(
        "-c",
        SERVE,
        how,
        cwd=folder,
        environ={"HOME": str(folder), "PARLEY_CHECKOUT": str(folder), "OPENAI_API_KEY": KEY},
    )


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_dotenv_that_others_can_read_is_closed_with_a_word(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PARLEY_WEB=off")
    (tmp_path / ".env").chmod(0o644)

    first, second = await start(tmp_path), await start(tmp_path)

    assert first.code == 0, first.err
    assert first.err.count("\n") == 1
    assert "its mode is now 0600" in first.err
    assert f"file={tmp_path}/.env" in first.err
    assert mode(tmp_path / ".env") == 0o600
    assert second.err == ""


async def test_a_toml_that_others_can_read_is_closed_where_a_secret_stands_in_it(tmp_path: Path) -> None:
    toml = tmp_path / "parley.toml"
    toml.write_text('language = "zh"')
    toml.chmod(0o644)
    await start(tmp_path)
    assert mode(toml) == 0o644

    toml.write_text('[telegram]\nbot_token = "1234567890:AbCdEfGhIjK"')
    await start(tmp_path)
    assert mode(toml) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_where_a_file_with_secrets_cannot_be_closed_nothing_starts(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PARLEY_WEB=off")
    file.chmod(0o644)
    os.chown(file, 65534, -1)

    refused = await start(tmp_path)

    assert refused.code == 1
    assert refused.err == (
        f"{file} holds secrets, can be read by others on this machine, and Parley cannot change that "
        f"(it belongs to somebody else). Run chmod 600 {file} as its owner, then start again.\n"
    )
    assert mode(file) == 0o644
    assert not (tmp_path / ".parley").exists()


async def test_all_that_is_kept_is_for_us_alone(tmp_path: Path) -> None:
    finished = await start(tmp_path)

    assert finished.code == 0, finished.err
    home = tmp_path / ".parley"
    kept = [home, *home.rglob("*")]
    assert len(kept) >= 5
    assert {str(path): oct(mode(path)) for path in kept if mode(path) & 0o077} == {}


@pytest.mark.parametrize("how", ["crash", "thread", "finalizer", "warning", "sentence"])
async def test_nothing_that_goes_wrong_tells_a_secret(tmp_path: Path, how: str) -> None:
    ended = await start(tmp_path, how)

    assert KEY not in ended.err + ended.out
    assert "[secret]" in ended.err
    if how == "warning":
        assert "UserWarning: no answer to [secret]" in ended.err
    elif how != "sentence":
        assert "Traceback" in ended.err
        assert "RuntimeError: no answer to [secret]" in ended.err


def test_without_uvloop_the_loop_is_that_of_asyncio() -> None:
    assert fast_loop("no_such_package") is None
