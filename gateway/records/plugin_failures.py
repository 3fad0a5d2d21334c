"""The failures of plugins while Parley runs, which people see with the list of plugins."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import stdlib_module_names
from textwrap import shorten
from time import time
from traceback import walk_tb
from types import TracebackType
from typing import ParamSpec, TypeVar

from msgspec import Struct

from agent_core.background import staying
from agent_core.log_errors import Contained
from channels.base import NotTakenIn
from gateway.errors import ParleyError

MOST_REASON = 300
"""Characters of an error that people are shown."""
_SLIPS = (TypeError, AttributeError, NameError, LookupError, ArithmeticError, AssertionError)
_OURS = frozenset({"agent_core", "channels", "gateway"})
P = ParamSpec("P")
T = TypeVar("T")


class Unfit(ValueError):
    """A plugin gave what cannot be used; says what, in a sentence for its author."""

    def __init__(self, reason: str, *also: str) -> None:
        """`also` is what else is wrong in the same member."""
        super().__init__(reason)
        self.also = also


class PluginFailure(Struct, frozen=True):
    """The last failure of one thing that a plugin does."""

    at: float
    where: str
    """What failed, such as the name of a duty."""
    reason: str
    count: int = 1
    """How often it has failed since the start."""


class PluginFailures:
    """The last failure of each thing that plugins do."""

    def __init__(self, time: Callable[[], float] = time) -> None:
        self._time = time
        self._found: dict[str, dict[str, PluginFailure]] = {}
        """By the name of the plugin, and by what failed, the last one at the end."""

    def of(self, plugin: str) -> Sequence[PluginFailure]:
        """Return those of a plugin, the last one first."""
        return tuple(reversed(self._found.get(plugin, {}).values()))

    def keep(self, plugin: str, where: str, error: BaseException) -> None:
        """Keep a failure of a plugin."""
        found = self._found.setdefault(plugin, {})
        before = found.pop(where, None)
        found[where] = PluginFailure(self._time(), where, reason_of(error), count=before.count + 1 if before else 1)

    def contain(self, plugin: str, where: str, error: BaseException) -> None:
        """Log and keep a failure of a plugin that was caught; see `contained`."""
        with self.contained(plugin, where):
            raise error

    @contextmanager
    def contained(self, plugin: str, where: str) -> Iterator[None]:
        """Log and keep a failure of a plugin, and go on behind the block."""
        with Contained("a plugin failed", plugin=plugin, where=where), self.kept(plugin, where):
            yield

    def kept(self, plugin: str, where: str) -> "Kept":
        """Keep a failure of a plugin that is told elsewhere."""
        return Kept(self, plugin, where)

    def keeping(self, plugin: str, where: str, work: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        """Return the work of a plugin, whose failures are kept."""

        async def do(*args: P.args, **named: P.kwargs) -> T:
            with self.kept(plugin, where):
                return await work(*args, **named)

        return do


class Kept:
    """Keeps the failure of a plugin in a `with` block. A store that takes no writes is none of its own.

    A plugin that would end the program fails.
    """

    def __init__(self, failures: PluginFailures, plugin: str, where: str) -> None:
        self._failures = failures
        self._plugin = plugin
        self._where = where

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, NotTakenIn):
            return
        try:
            with staying():
                raise error  # noqa: TRY301 (what would end the program becomes another error)
        except Exception as failed:
            self._failures.keep(self._plugin, self._where, failed)
            raise


def expect(value: object, kind: type, what: str) -> None:
    """Raise Unfit if a value that a plugin gave is of another type; `what` begins the reason."""
    if not isinstance(value, kind):
        raise Unfit(unlike(value, kind, what))


def unlike(value: object, kind: type, what: str) -> str:
    """Return the reason why a value of another type than this cannot be used."""
    return f"{what} should be of the type {kind.__name__}, not {type(value).__name__}"


def listed(what: str, items: Iterable[T]) -> Sequence[T]:
    """Return the items that a method of a plugin returned. Raises Unfit if that is no list."""
    expect(items, Iterable, what)
    return tuple(items)


def check_each(items: Iterable[T], wrong_with: Callable[[T], Iterator[str]]) -> None:
    """Look at all items of a member. Raises Unfit with all that is wrong with them; an item is left where it raises."""
    found: list[str] = []
    for item in items:
        try:
            found += wrong_with(item)
        except Exception as error:  # noqa: BLE001 (whatever an item of a plugin raises is wrong with it)
            found.append(reason_of(error))
    if found:
        raise Unfit(*found)


def reason_of(error: BaseException) -> str:
    """Return an error in one short line. It ends behind a word, as half a secret is not recognised.

    A slip of the author's has the line of code with it, as its message seldom tells which call it is about.
    """
    said = " ".join(str(error).split())
    kind = type(error).__name__
    reason = said if isinstance(error, (ValueError, ParleyError)) and said else f"{kind}: {said}" if said else kind
    if isinstance(error, _SLIPS):
        reason += _place(error)
    return shorten(reason, MOST_REASON, placeholder=" ...", break_long_words=False, break_on_hyphens=False)


def _place(error: BaseException) -> str:
    """Return the line of others' code that raised an error, or called what did; empty if ours raised it, or none."""
    for frame, line in reversed([*walk_tb(error.__traceback__)]):
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in stdlib_module_names:
            return "" if package in _OURS else f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return ""
