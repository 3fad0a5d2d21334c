"""A real terminal: a line to write on, what is in progress above it, and what is final above that."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout

MARK = "› "


class Prompt:
    """Whoever else writes to standard output meanwhile does so above the line."""

    def __init__(self, input: Input | None = None, output: Output | None = None) -> None:  # noqa: A002 - their name
        self._live = ""
        self._session: PromptSession[str] = PromptSession(
            self._message, erase_when_done=True, input=input, output=output
        )

    async def lines(self) -> AsyncGenerator[str | None, None]:
        """What was typed; None for Ctrl-C; ends at Ctrl-D.

        The next line is read while the last one is dealt with: between two reads a terminal obeys its own keys.
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
        with patch_stdout(raw=True):
            while True:
                try:
                    line = await self._session.prompt_async()
                except KeyboardInterrupt:
                    typed.put_nowait(None)
                except EOFError:
                    return
                else:
                    await self.settle(f"{MARK}{line}")
                    typed.put_nowait(line)

    async def settle(self, text: str) -> None:
        await run_in_terminal(lambda: self._write(text))

    def live(self, texts: Sequence[str]) -> None:
        self._live = "".join(f"{text}\n" for text in texts)
        if self._session.app.is_running:
            self._session.app.invalidate()

    def _message(self) -> StyleAndTextTuples:
        return [("fg:ansibrightblack", self._live), ("bold", MARK)]

    def _write(self, text: str) -> None:
        output = self._session.output
        output.write(f"{text}\n".replace("\n", "\r\n"))
        output.flush()
