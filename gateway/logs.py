"""What is logged, where and how; no secret gets out this way.

Lines go to standard error. Ours are written by structlog itself, those of libraries come through `logging`; both are
rendered alike, and both have every known secret taken out as the last step, when exceptions are text already.
"""

import logging
import sys
import threading
import traceback
from types import TracebackType
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from gateway.secrets import Secrets

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "console", "logfmt", "json"]


def configure_logs(
    secrets: Secrets, *, level: Level = "info", form: Format = "auto", stream: TextIO | None = None
) -> None:
    """For the whole process. Libraries are heard from "warning" on, or from "info" on while we debug."""
    out = stream or sys.stderr
    tty = out.isatty()
    last = _ending(form if form != "auto" else "console" if tty else "logfmt", secrets, colors=tty)
    first: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _printable,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    minimum = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*first, *last],
        wrapper_class=structlog.make_filtering_bound_logger(minimum),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*first, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO if level == "debug" else max(minimum, logging.WARNING))
    # A library may add handlers of its own (litellm does), so its records are masked where they are made.
    logging.setLogRecordFactory(_masking(secrets))


def mask_crashes(secrets: Secrets) -> None:
    """What Python itself prints: of an error that ends the program or one of its threads, or that nobody can catch,
    and of warnings, which are logged instead."""

    def of_program(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.stderr.write(secrets.mask("".join(traceback.format_exception(kind, error, trace))))

    def of_thread(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None:
            of_program(ended.exc_type, ended.exc_value, ended.exc_traceback)

    def of_nobody(ignored: "sys.UnraisableHookArgs") -> None:
        if ignored.exc_value is not None:
            of_program(ignored.exc_type, ignored.exc_value, ignored.exc_traceback)

    sys.excepthook = of_program
    threading.excepthook = of_thread
    sys.unraisablehook = of_nobody
    logging.captureWarnings(capture=True)


def _ending(form: Format, secrets: Secrets, *, colors: bool) -> list[Processor]:
    def mask(_: WrappedLogger, __: str, line: str) -> str:
        return secrets.mask(line)

    # Typed as a processor although it gets what the renderer made of the event.
    masking: Processor = mask  # type: ignore[assignment]
    if form == "console":
        # The plain traceback: another formatter would print local variables, broken over lines.
        formatter = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=formatter), masking]
    if form == "json":
        renderer: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    else:
        renderer = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    return [structlog.processors.format_exc_info, renderer, masking]


def _printable(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Names that people gave themselves must not steer the terminal or begin a line."""
    for key, value in event.items():
        if isinstance(value, str) and not value.isprintable():
            event[key] = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in value)
    return event


def _masking(secrets: Secrets) -> type[logging.LogRecord]:
    class MaskedRecord(logging.LogRecord):
        def getMessage(self) -> str:  # noqa: N802
            if self.exc_info and self.exc_info[0] is not None and not self.exc_text:
                # Other handlers print this rather than format the exception themselves.
                self.exc_text = secrets.mask("".join(traceback.format_exception(*self.exc_info)).rstrip())
            return secrets.mask(super().getMessage())

    return MaskedRecord
