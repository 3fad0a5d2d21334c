"""Each log event is one line, without secrets."""

import base64
import io
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
import structlog
from structlog.typing import EventDict

from gateway.records.logs import NO_HANDLES, Format, Level, configure_logs, mask_crashes
from gateway.records.repeated import Repeated
from gateway.security.secrets import Secrets
from gateway.store.connection import Fenced
from gateway.store.writer import WriterFenced
from tests.logs import restored_logs

BOT = "1234567890:AbC+dEf/gHi"


class Logs:
    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.secrets = Secrets()

    def begin(self, form: Format = "auto", level: Level = "info") -> structlog.typing.FilteringBoundLogger:
        configure_logs(self.secrets, form=form, level=level, stream=self.stream)
        logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()
        return logger

    @property
    def text(self) -> str:
        return self.stream.getvalue()


def fail(reason: str, cause: Exception | None = None) -> None:
    raise RuntimeError(reason) from cause


@pytest.fixture
def logs() -> Iterator[Logs]:
    """Logs to a string, and restores the logging configuration afterwards."""
    with restored_logs():
        yield Logs()


def test_a_line_is_logfmt_where_there_is_no_terminal(logs: Logs) -> None:
    logs.begin().info("message", chat="web:1", chars=5, final=True)

    assert logs.text.endswith(" level=info event=message chat=web:1 chars=5 final=true\n")


def test_a_warning_that_says_the_same_again_is_written_once_in_a_minute_and_then_counted() -> None:
    now = [0.0]
    repeated = Repeated(lambda: now[0])
    written: list[EventDict] = []
    for second in range(130):
        now[0] = float(second)
        with suppress(structlog.DropEvent):
            written.append(repeated(None, "warning", {"event": "no beat", "node": "a"}))

    assert written == [
        {"event": "no beat", "node": "a"},
        {"event": "no beat", "node": "a", "repeated": 59},
        {"event": "no beat", "node": "a", "repeated": 59},
    ]


def test_warnings_that_differ_and_all_other_lines_are_written_each_time(logs: Logs) -> None:
    log = logs.begin()
    for chat in ("a", "b", "a"):
        log.warning("gap not read", chat=chat)
        log.info("run resumed", chat=chat)
        log.error("run failed", chat=chat)

    assert [logs.text.count(words) for words in ("gap not read", "run resumed", "run failed")] == [2, 3, 3]


def test_that_no_handle_is_free_is_logged_once_and_not_a_hundred_times_a_second(logs: Logs) -> None:
    logs.begin()
    for _ in range(500):
        logging.getLogger("asyncio").error(NO_HANDLES)
    logging.getLogger("asyncio").error("another thing")

    assert logs.text.count(NO_HANDLES) == 1
    assert "another thing" in logs.text


def test_errors_of_a_node_that_others_have_taken_over_from_are_not_logged(logs: Logs) -> None:
    log, over = logs.begin(), ExceptionGroup("tasks", [WriterFenced(), ExceptionGroup("more", [Fenced()])])
    for error in (WriterFenced(), Fenced(), over):
        log.error("over", exc_info=error)
        log.error("over", exc_info=(type(error), error, None))
        logging.getLogger("aiohttp.server").error("over", exc_info=error)
        try:
            raise error
        except (WriterFenced, Fenced, ExceptionGroup):
            log.exception("over")
    log.error("a mistake", exc_info=ExceptionGroup("tasks", [WriterFenced(), ValueError("no number")]))

    assert "over" not in logs.text.partition("a mistake")[0]
    assert "no number" in logs.text


def test_json_is_one_object_a_line(logs: Logs) -> None:
    log = logs.begin("json")
    log.info("first", name="Zoë")
    log.warning("second")

    lines = [json.loads(line) for line in logs.text.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("first", "info"), ("second", "warning")]
    assert lines[0]["name"] == "Zoë"


def test_the_level_says_how_much(logs: Logs) -> None:
    log = logs.begin(level="warning")
    log.info("unheard")
    log.warning("heard")

    assert "unheard" not in logs.text
    assert "heard" in logs.text


@pytest.mark.parametrize("form", ["console", "logfmt", "json"])
def test_a_secret_is_masked_in_whatever_form_it_travels(logs: Logs, form: Format) -> None:
    logs.secrets.add(BOT)
    basic = base64.b64encode(f"bot:{BOT}".encode()).decode()

    logs.begin(form).info(
        "call",
        url=f"https://host/bot{BOT}/getMe",
        query=f"?t={quote(BOT, safe='')}",
        header=f"Basic {basic}",
        deep={"a": [BOT]},
    )

    assert BOT not in logs.text
    assert quote(BOT, safe="") not in logs.text
    assert basic[8:-4] not in logs.text
    assert logs.text.count("[secret]") == 4


@pytest.mark.parametrize("form", ["console", "logfmt", "json"])
def test_a_secret_is_masked_in_an_exception_and_its_cause(logs: Logs, form: Format) -> None:
    logs.secrets.add(BOT)
    log = logs.begin(form)

    try:
        fail(f"no {BOT}", OSError(f"cannot reach /bot{BOT}"))
    except RuntimeError:
        log.exception("failed")

    assert "RuntimeError: no [secret]" in logs.text
    assert "OSError: cannot reach /bot[secret]" in logs.text
    assert BOT not in logs.text


def test_a_library_is_heard_from_warning_on_and_masked(logs: Logs) -> None:
    logs.secrets.add(BOT)
    logs.begin()

    logging.getLogger("httpx").info("HTTP Request: POST %s", BOT)
    logging.getLogger("telegram").warning("no answer from /bot%s/getMe", BOT)

    assert "HTTP Request" not in logs.text
    assert 'event="no answer from /bot[secret]/getMe"' in logs.text
    assert "logger=telegram" in logs.text


def test_a_library_with_a_handler_of_its_own_is_masked_too(logs: Logs) -> None:
    logs.secrets.add(BOT)
    logs.begin()
    theirs = io.StringIO()
    library = logging.getLogger("a.library")
    library.addHandler(handler := logging.StreamHandler(theirs))

    try:
        fail(f"bad {BOT}")
    except RuntimeError:
        library.exception("with %s", BOT)
    library.removeHandler(handler)

    assert BOT not in theirs.getvalue() + logs.text
    assert theirs.getvalue().startswith("with [secret]\nTraceback")
    assert theirs.getvalue().endswith("RuntimeError: bad [secret]\n")


def test_a_secret_that_comes_later_is_masked_from_then_on(logs: Logs) -> None:
    log = logs.begin()
    logs.secrets.add("learned-later")

    log.info("paired", code="learned-later")

    assert "learned-later" not in logs.text


def test_a_short_word_is_no_secret() -> None:
    secrets = Secrets(["demo", "", "web"])

    assert secrets.mask("the demo on the web") == "the demo on the web"


def test_names_that_people_gave_themselves_do_not_steer_the_terminal(logs: Logs) -> None:
    logs.begin("console").info("stranger", name="\x1b[2JAnn\nroot: \u202eevil", chinese="小明")

    assert logs.text.count("\n") == 1
    assert "\x1b[2J" not in logs.text
    assert "\u202e" not in logs.text
    assert "小明" in logs.text


EVIL = "no such key \x1b[2J\x1b]0;owned\x07 \u202e \r\n2026-11-29T10:00:00Z [info     ] all is well"


@pytest.mark.parametrize("form", ["console", "logfmt", "json"])
def test_words_of_others_in_an_error_neither_steer_the_terminal_nor_begin_a_line(logs: Logs, form: Format) -> None:
    log = logs.begin(form)

    try:
        fail(EVIL, OSError(EVIL))
    except RuntimeError as error:
        log.warning("not read", reason=error, path=Path(EVIL), names=[EVIL])
        log.exception("failed")
        logging.getLogger("a.library").exception("failed, too")

    assert "no such key" in logs.text
    assert {"\x1b", "\x07", "\r", "\u202e"} & {*logs.text} == set()
    assert "\n2026-11-29T10:00:00Z" not in logs.text


def test_words_of_others_in_an_error_that_ends_the_program_do_not_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    with monkeypatch.context() as patched:
        for hooks, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
            patched.setattr(hooks, name, getattr(hooks, name))
        mask_crashes(Secrets(), stream=written)
        try:
            fail(EVIL)
        except RuntimeError as error:
            sys.excepthook(RuntimeError, error, error.__traceback__)
    logging.captureWarnings(capture=False)

    assert "no such key" in written.getvalue()
    assert {"\x1b", "\x07", "\r", "\u202e"} & {*written.getvalue()} == set()
