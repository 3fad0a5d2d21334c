"""Configures logging to standard error with all secrets masked.

Our own lines are written by structlog, those of libraries come through `logging`. Both are rendered alike, and masked
as the last step, when exceptions are already text.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from gateway.records.recent_log import RECENT, Copied
from gateway.records.repeated import Repeated
from gateway.records.tracebacks import traceback_of
from gateway.security.log_throttle import LogThrottle
from gateway.security.secrets import Secrets
from gateway.store.connection import Fenced
from gateway.store.writer import WriterFenced

NO_HANDLES = "socket.accept() out of system resource"
Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "logfmt", "json"]


class _Threshold:
    """Drops our own lines below a level, which may change at any time."""

    def __init__(self) -> None:
        self._minimum = logging.INFO

    def set(self, level: Level) -> None:
        self._minimum = logging.getLevelNamesMapping()[level.upper()]
        logging.getLogger().setLevel(logging.INFO if level == "debug" else max(self._minimum, logging.WARNING))

    def __call__(self, _: WrappedLogger, method: str, event: EventDict) -> EventDict:
        if structlog.processors.NAME_TO_LEVEL[method] < self._minimum:
            raise structlog.DropEvent
        return event


_threshold = _Threshold()
"""The one of this process."""


def set_log_level(level: Level) -> None:
    """Log lines from this level on. Libraries log from "warning" on, or from "info" on if it is "debug"."""
    _threshold.set(level)


def configure_logs(
    secrets: Secrets, *, level: Level = "info", form: Format = "auto", stream: TextIO | None = None
) -> None:
    """Configure logging for the process."""
    out = stream or sys.stderr
    tty = out.isatty()
    last = _ending(form if form != "auto" else "console" if tty else "logfmt", secrets, colors=tty)
    kept = Copied(out, RECENT)
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _printable,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[_threshold, _without_what_others_do, Repeated(time.monotonic), *first, *last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, kept)),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(kept)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*first, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    handler.addFilter(lambda record: not _is_done_by_others(record.exc_info and record.exc_info[1]))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    set_log_level(level)
    logging.getLogger("asyncio").addFilter(_few_accept_errors(LogThrottle()))
    # A library may add handlers of its own (litellm does), so its records are masked where they are made.
    logging.setLogRecordFactory(_masking(secrets))


def _few_accept_errors(seldom: LogThrottle) -> Callable[[logging.LogRecord], bool]:
    """Return a filter that limits asyncio's error for a lack of file handles.

    asyncio logs it with a traceback more than a hundred times a second while no connection can be accepted.
    """

    def is_wanted(record: logging.LogRecord) -> bool:
        return NO_HANDLES not in str(record.msg) or seldom.is_due()

    return is_wanted


def mask_crashes(secrets: Secrets, *, stream: TextIO | None = None, sentence: str = "") -> None:
    """Mask what Python itself prints: uncaught errors of the program and its threads, and ignored exceptions.

    Warnings are sent to the log instead.

    Args:
        secrets: What is masked.
        stream: Where it is written, if not to standard error.
        sentence: What standard error gets of an error that ends the program.
    """

    def write(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        (stream or sys.stderr).write(f"{secrets.mask(traceback_of(kind, error, trace))}\n")

    def of_program(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        write(kind, error, trace)
        sys.stderr.write(sentence)

    def of_thread(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None:
            write(ended.exc_type, ended.exc_value, ended.exc_traceback)

    def of_nobody(ignored: "sys.UnraisableHookArgs") -> None:
        if ignored.exc_value is not None:
            write(ignored.exc_type, ignored.exc_value, ignored.exc_traceback)

    sys.excepthook = of_program
    threading.excepthook = of_thread
    sys.unraisablehook = of_nobody
    logging.captureWarnings(capture=True)


def _ending(form: Format, secrets: Secrets, *, colors: bool) -> list[Processor]:
    def mask(_: WrappedLogger, __: str, line: str) -> str:
        return secrets.mask(line)

    # Typed as a processor, although it receives the rendered line.
    masking: Processor = mask  # type: ignore[assignment]
    if form == "console":
        # The plain traceback: other formatters print local variables, broken over lines that masking would miss.
        def write(out: TextIO, error: ExcInfo) -> None:
            out.write(f"\n{traceback_of(*error)}")

        return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=write), masking]
    if form == "json":
        renderer: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    else:
        renderer = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    return [structlog.processors.ExceptionRenderer(lambda error: traceback_of(*error)), renderer, masking]


def _without_what_others_do(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Drop errors that end the work of a node which others have taken over from: the node itself says that once."""
    error = event.get("exc_info")
    given = error[1] if isinstance(error, tuple) else sys.exc_info()[1] if error is True else error
    if _is_done_by_others(given):
        raise structlog.DropEvent
    return event


def _is_done_by_others(error: object) -> bool:
    """Return True for errors by which work ends here because other nodes go on with it."""
    if isinstance(error, ExceptionGroup):
        return all(map(_is_done_by_others, error.exceptions))
    return isinstance(error, WriterFenced | Fenced)


def _printable(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape control characters, so that user-chosen names can neither steer the terminal nor begin a line."""
    for key, value in event.items():
        if key != "exc_info" and not key.startswith("_"):
            event[key] = _escaped(value)
    return event


def _escaped(value: object) -> object:
    match value:
        case None | bool() | int() | float():
            return value
        case list() | tuple() | set() | frozenset():
            return [_escaped(each) for each in value]
        case dict():
            return {str(_escaped(key)): _escaped(each) for key, each in value.items()}
    text = str(value)
    return text if text.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _masking(secrets: Secrets) -> type[logging.LogRecord]:
    class MaskedRecord(logging.LogRecord):
        def getMessage(self) -> str:  # noqa: N802
            if self.exc_info and self.exc_info[0] is not None and not self.exc_text:
                # Other handlers print this text instead of formatting the exception themselves.
                self.exc_text = secrets.mask(traceback_of(*self.exc_info))
            return secrets.mask(super().getMessage())

    return MaskedRecord
