"""Starts Parley from the command line and turns errors that the operator can fix into sentences."""

import asyncio
import gc
import importlib
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import structlog

from agent_core.models.selection import ModelSettingError
from channels.base import ChannelError
from gateway.app.serve import serve
from gateway.errors import ParleyError, SettingsError
from gateway.records.logs import Level, configure_logs, mask_crashes
from gateway.records.own_screen import FILE as LOG_OF_CHATS
from gateway.records.own_screen import OwnScreen
from gateway.runs.handles import check_at_start
from gateway.security.packages import REINSTALL, ROOT, foreign_packages
from gateway.security.secrets import OTHERS
from gateway.settings.settings import Settings, exposed, load_settings

log = structlog.get_logger(__name__)

GARBAGE_AFTER = 50_000
"""New objects between two garbage collections. With Python's default of 700, a thousand busy chats spend a seventh of
their CPU time on traversing live messages."""

FAST_LOOP = "uvloop"
"""An extra, which may be absent: the program runs on its event loop if it is installed."""

MakeLoop = Callable[[], asyncio.AbstractEventLoop]
Serve = Callable[[Settings], Coroutine[object, object, int]]


def run(environ: Mapping[str, str], cwd: Path) -> int:
    """Serve all configured channels. Return the exit code; raise ParleyError."""
    return launch(environ, cwd, serve)


def launch(environ: Mapping[str, str], cwd: Path, serve: Serve, screen: OwnScreen | None = None) -> int:
    """Load the settings, then serve. Return the exit code; raise ParleyError.

    A chat has a `screen`, which is kept for it. Its log is in a file, and begins at "warning" instead of "info".
    """
    for foreign in foreign_packages(ROOT):
        raise ParleyError(f"{foreign[0].upper()}{foreign[1:]}: {REINSTALL}.")
    check_at_start()
    os.umask(OTHERS)  # files created from here on are private
    settings = load_settings(environ, cwd)
    with ExitStack() as life:
        if screen is None:
            mask_crashes(settings.secrets)
            configure_logs(settings.secrets, level=settings.log_level, form=settings.log_format)
        else:
            file = life.enter_context(screen.kept(settings.home))
            sentence = f"parley: This is a mistake in Parley; {settings.home / LOG_OF_CHATS} has the details.\n"
            mask_crashes(settings.secrets, stream=file, sentence=sentence)
            level: Level = "warning" if settings.log_level == "info" else settings.log_level
            configure_logs(settings.secrets, level=level, form=settings.log_format, stream=file)
        return _launched(settings, serve)


def _launched(settings: Settings, serve: Serve) -> int:
    for file in exposed(settings):
        close_to_others(file)
        log.warning("a file with secrets was readable by others; its mode is now 0600", file=str(file))
    for warning in settings.warnings:
        log.warning("settings", what=warning.what, fix=warning.fix)
    gc.freeze()  # imported objects live until exit
    gc.enable()
    gc.set_threshold(GARBAGE_AFTER, 20, 20)
    try:
        with asyncio.Runner(loop_factory=fast_loop()) as runner:
            return runner.run(serve(settings))
    except (ParleyError, ModelSettingError, ChannelError, ExceptionGroup) as error:
        leaves = list(_leaves(error))
        sentences = [sentence_of(leaf) for leaf in leaves]
        if not sentences or None in sentences:
            raise
        refused = ParleyError(settings.secrets.mask(str(sentences[0])))
        if isinstance(leaves[0], ParleyError):
            refused.exit_code = leaves[0].exit_code
        raise refused from error


def close_to_others(file: Path) -> None:
    """Set the file's mode to 0600. Raises SettingsError if it belongs to another user or cannot be changed."""
    try:
        if file.stat().st_uid != os.geteuid():
            raise PermissionError(0, "it belongs to somebody else")
        file.chmod(0o600)
    except OSError as error:
        raise SettingsError(
            f"{file} holds secrets, can be read by others on this machine, and Parley cannot change that "
            f"({error.strerror}). Run chmod 600 {file} as its owner, then start again."
        ) from error


def fast_loop(package: str = FAST_LOOP) -> MakeLoop | None:
    """Return the factory of the package's event loops, or None if it is not installed."""
    if find_spec(package) is None:
        return None
    log.debug("the event loop is uvloop")
    return cast(MakeLoop, importlib.import_module("gateway.app.uv_loop").UvLoop)


def sentence_of(error: Exception) -> str | None:
    """Return the sentence to show the operator, or None for an error that they cannot fix."""
    match error:
        case ParleyError():
            return error.sentence
        case ModelSettingError():
            return str(error)
        case ChannelError(permanent=True):
            return error.reason
        case _:
            return None


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error
