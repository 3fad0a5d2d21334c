"""Logging in tests: lines with plain tracebacks."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

PRODUCT = ("agent_core.", "channels.", "gateway.")


def use_plain_logs() -> None:
    """Print tracebacks plainly. structlog's default renders them in colour with all local variables, which took a
    third of the CPU time of the gateway's tests."""
    *others, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*others, plain])


@contextmanager
def restored_logs() -> Iterator[None]:
    """Restore the configuration of logs at the end."""
    root, of_asyncio = logging.getLogger(), logging.getLogger("asyncio")
    handlers, level, factory = root.handlers[:], root.level, logging.getLogRecordFactory()
    filters = of_asyncio.filters[:]
    try:
        yield
    finally:
        structlog.reset_defaults()
        use_plain_logs()
        _forget_cached_loggers()
        of_asyncio.filters[:] = filters
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.setLogRecordFactory(factory)


def _forget_cached_loggers() -> None:
    """Let modules whose loggers were used go by the configuration of now."""
    for name, module in [*sys.modules.items()]:
        if name.startswith(PRODUCT) and "log" in vars(module):
            vars(module.log).pop("bind", None)
