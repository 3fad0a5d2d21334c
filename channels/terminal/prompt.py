"""An interactive terminal: a line to write on, messages in progress above it, and final messages above those."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import structlog
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session, run_in_terminal
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from channels.base import OutboundMessage
from channels.terminal.text import Abilities, readable, safe

MARK = "› "
NOT_FINAL = "fg:ansibrightblack"
OWN_LINES = 2
"""Lines of the terminal below the messages in progress: the prompt and one spare line."""

log = structlog.get_logger(__name__)


class Draws(Protocol):
    """The interface of `Drawing`."""

    def settled(self, message: OutboundMessage, columns: int, rows: int) -> str: ...

    def live(self, messages: Sequence[OutboundMessage], columns: int, rows: int) -> str: ...


class Prompt:
    """The prompt."""

    def __init__(
        self,
        input: Input | None = None,  # noqa: A002 - their name
        output: Output | None = None,
        *,
        abilities: Abilities | None = None,
    ) -> None:
        """`abilities` lists the abilities of the terminal; None means plain text."""
        self._abilities = abilities
        self._drawing: asyncio.Task[Draws | None] | None = None
        self._live: tuple[OutboundMessage, ...] = ()
        self._drawn: tuple[Size, StyleAndTextTuples] | None = None
        """Cached rendering of the messages in progress, with the terminal size it is for."""
        with create_app_session(input=input, output=output):  # passed to the prompt, it would hide a dumb terminal
            self._session: PromptSession[str] = PromptSession(self._message, erase_when_done=True)

    async def lines(self) -> AsyncGenerator[str | None, None]:
        """Yield the lines that the user types; None for Ctrl-C. Ends at Ctrl-D.

        The next line is read while the last one is handled: between two reads the terminal would process keys itself.
        """
        typed: asyncio.Queue[str | None] = asyncio.Queue()
        reader, get = asyncio.create_task(self._read(typed)), asyncio.create_task(typed.get())
        try:
            while get.done() or not (reader.done() and typed.empty()):
                await asyncio.wait([get, reader], return_when=asyncio.FIRST_COMPLETED)
                if get.done():
                    yield get.result()
                    get = asyncio.create_task(typed.get())
            await reader
        finally:
            reader.cancel()
            get.cancel()
            await asyncio.wait([reader, get])

    async def _read(self, typed: "asyncio.Queue[str | None]") -> None:
        self._prepared()
        while True:
            try:  # its own handler would print the errors of all tasks
                line = await self._session.prompt_async(set_exception_handler=False)
            except KeyboardInterrupt:
                typed.put_nowait(None)
            except EOFError:
                return
            else:
                await self._print(f"\n{MARK}{safe(line)}")
                typed.put_nowait(line)

    async def write(self, message: OutboundMessage) -> None:
        drawing = self._prepared()
        draws, size = await drawing if drawing else None, self._session.output.get_size()
        if draws is None:
            await self._print(readable(message))
        else:
            await self._print(await asyncio.to_thread(draws.settled, message, size.columns, size.rows))

    def live(self, messages: Sequence[OutboundMessage]) -> None:
        self._live, self._drawn = tuple(messages), None
        if self._session.app.is_running:
            self._session.app.invalidate()

    def _prepared(self) -> "asyncio.Task[Draws | None] | None":
        """Start importing the renderer in the background; return None for plain text."""
        if self._abilities is not None and self._drawing is None:
            self._drawing = asyncio.create_task(asyncio.to_thread(_draws, self._abilities))
        return self._drawing

    def _message(self) -> StyleAndTextTuples:
        size = self._session.output.get_size()
        if self._drawn is None or self._drawn[0] != size:
            self._drawn = size, self._progress(size)
        return [*self._drawn[1], ("bold", MARK)]

    def _progress(self, size: Size) -> StyleAndTextTuples:
        if not self._live:
            return []
        draws = self._drawing.result() if self._drawing and self._drawing.done() else None
        if draws is None:
            return [(NOT_FINAL, "".join(f"{readable(each)}\n" for each in self._live))]
        text = draws.live(self._live, size.columns, size.rows - OWN_LINES)
        return to_formatted_text(ANSI(f"{text}\n"), style=NOT_FINAL)

    async def _print(self, text: str) -> None:
        """Print a text in which only our own escape sequences are left."""
        await run_in_terminal(lambda: self._write(text))

    def _write(self, text: str) -> None:
        output = self._session.output
        output.write_raw(f"{text}\n".replace("\n", "\r\n"))
        output.flush()


def _draws(able: Abilities) -> Draws | None:
    """Create the renderer; return None, and so plain text, if the import fails, for example for lack of open files."""
    try:
        drawing: Draws = importlib.import_module("channels.terminal.render").Drawing(able)
    except (ImportError, OSError) as error:
        log.warning("messages are not drawn", reason=str(error))
        return None
    return drawing
