"""`parley connect`: a guide in the terminal that connects a platform or a model."""

import asyncio
import os
import shutil
import sys
import textwrap
import time
import webbrowser
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path

from channels import discovery
from gateway.app.chosen_plugins import own_models
from gateway.app.dialogue import Dialogue
from gateway.app.local_requests import RunningParley
from gateway.app.other_nodes import OtherNodes
from gateway.connect.guide import Guide, Surroundings
from gateway.connect.model_guide import ModelGuide
from gateway.connect.platform_guide import PlatformGuide
from gateway.connect.program import MODEL
from gateway.connect.steps import NO, YES, Ask, Busy, Check, Confirm, Done, Failed, Form, Line, Listen, Step
from gateway.errors import ParleyError
from gateway.records.logs import configure_logs, mask_crashes
from gateway.security.printing import print_pieces
from gateway.security.secrets import OTHERS
from gateway.settings.files import CHECKOUT
from gateway.settings.local_node import REQUESTS, with_local_node
from gateway.settings.settings import Settings, read_settings
from gateway.texts.say import Language, say
from gateway.upkeep.doctor.home import running

WIDEST = 100
SIGNS = {"ok": "✓", "note": "·", "problem": "✗"}
_YES = {"y", "yes", "是", "好"}
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Guide the user through connecting. Return the exit code; raise ParleyError."""
    os.umask(OTHERS)  # files created from here on are private
    settings, refusals = read_settings(environ, cwd)
    mask_crashes(settings.secrets)
    configure_logs(settings.secrets, level="error", form=settings.log_format)
    print_pieces((f"! {sentence}\n" for sentence in refusals.sentences), settings.secrets)
    return asyncio.run(_guide(settings, given.what, "./run" if environ.get(CHECKOUT) else "parley"))


def names() -> list[str]:
    """Return what can be connected."""
    return [*sorted(discovery.setups()), MODEL]


async def _guide(settings: Settings, what: str, start_command: str) -> int:
    program = _program((await with_local_node(settings)).local) or await OtherNodes.found(settings)
    around = Surroundings(settings, settings.secrets, program, time.time, own_models(settings), start_command)
    language = settings.language
    guide = ModelGuide(around, language) if what == MODEL else PlatformGuide(what, around, language)
    try:
        with Dialogue(settings.secrets) as dialogue:
            await TerminalGuide(guide, dialogue, language).run()
    except EOFError:
        raise ParleyError("The input has ended before the guide did. Nothing is left half written.") from None
    finally:
        await guide.close()
    return 0


def _program(folder: Path) -> RunningParley | None:
    """Return the Parley that runs in this folder, or None. Raises ParleyError for one that takes no requests."""
    process = running(folder)
    if process is None:
        return None
    if not (folder / REQUESTS).exists():
        raise ParleyError(
            f"The Parley that runs in {folder} ({process}) takes no requests: it is `parley chat` alone, or another "
            "version. Stop it, then try again."
        )
    return RunningParley(folder / REQUESTS)


class TerminalGuide:
    """Shows a guide in the terminal and passes on what is typed."""

    def __init__(self, guide: Guide, dialogue: Dialogue, language: Language) -> None:
        self._guide = guide
        self._dialogue = dialogue
        self._language = language

    async def run(self) -> None:
        """Go through the guide to its end. Raises EOFError if the input ends before."""
        step = await self._guide.begin()
        while not isinstance(step, Done):
            number = self._guide.number
            self._write(shown(step))
            if isinstance(step, Busy | Listen):
                step = await self._guide.changed(number)
            else:
                step = await self._guide.answer(await self._answer(step))
        self._write(shown(step))

    async def _answer(self, step: Ask | Form | Check | Confirm | Failed) -> str:
        if isinstance(step, Ask | Form) and step.link and not _is_again(step):
            await self._open(step.link)
        match step:
            case Form():
                return await self._form(step)
            case Confirm():
                typed = await self._dialogue.line(self._prompt("connect_yes_or_no"))
                return YES if typed.strip().lower() in _YES else NO
            case Check(can_wait=True):
                return (await self._dialogue.line(self._prompt("connect_again_or_skip"))).strip().lower()
            case Check() | Failed():
                return await self._dialogue.line(self._prompt("connect_again"))
            case Ask(choices=choices) if choices:
                typed = (await self._dialogue.line(self._prompt("connect_number"))).strip()
                is_number = typed.isascii() and typed.isdigit() and 0 < int(typed) <= len(choices)
                return choices[int(typed) - 1].value if is_number else typed
            case Ask():
                return await self._typed(step)

    async def _form(self, step: Form) -> str:
        values: list[str] = []
        for field in step.fields:
            typed = await self._field(field, is_again=_is_again(step))
            if step.instead is not None and typed.strip().lower() == step.instead.value:
                return step.instead.value
            values.append(typed)
        return Form.packed(values)

    async def _field(self, field: Ask, *, is_again: bool) -> str:
        """Return what is typed for a field. Where others are asked for again, one whose value is kept is not."""
        if is_again and field.is_kept and not field.trouble:
            return ""
        self._write(filter(None, (field.trouble and f"! {_plain(field.trouble)}", _plain(field.label))))
        return await self._typed(field)

    async def _typed(self, asked: Ask) -> str:
        default = f"({asked.default}) " if asked.default else ""
        return await self._dialogue.line(f"{default}> ", hidden=asked.is_secret)

    async def _open(self, link: str) -> None:
        """Open the address in the browser, if there is a screen for one."""
        if self._dialogue.is_on_screen and (sys.platform == "darwin" or any(map(os.environ.get, _SCREENS))):
            await asyncio.to_thread(webbrowser.open, link)

    def _prompt(self, key: str) -> str:
        return f"{say(key, self._language)}> "

    def _write(self, paragraphs: Iterator[str]) -> None:
        width = min(WIDEST, shutil.get_terminal_size().columns)
        for paragraph in paragraphs:
            is_one = "://" in paragraph  # an address that is wrapped cannot be opened
            filled = paragraph if is_one else textwrap.fill(paragraph, width, break_on_hyphens=False)
            self._dialogue.say(f"{filled}\n")


def shown(step: Step) -> Iterator[str]:
    """Yield the paragraphs of a step as a terminal shows them."""
    yield ""
    match step:
        case Ask():
            yield from _introduction(step)
            yield _plain(step.label)
            for number, choice in enumerate(step.choices, 1):
                yield f"  {number:>2}  {choice.value}: {_plain(choice.label)}"
        case Form():
            yield from _introduction(step)
        case Check() | Listen():
            yield from _lines(step.findings)
            if isinstance(step, Listen) and step.link:
                yield step.link
            yield _plain(step.text)
        case Done(lines=lines):
            yield from map(_plain, lines)
        case _:
            yield _plain(step.text)


def _introduction(step: Ask | Form) -> Iterator[str]:
    if step.trouble:
        yield f"! {_plain(step.trouble)}"
    if not _is_again(step):
        yield from filter(None, (step.link, _plain(step.text)))


def _is_again(step: Ask | Form) -> bool:
    """Return True if an answer was not taken."""
    return bool(step.trouble) or (isinstance(step, Form) and any(field.trouble for field in step.fields))


def _lines(findings: tuple[Line, ...]) -> Iterator[str]:
    for each in findings:
        yield _plain(f"{SIGNS[each.mark]} {each.what}" + (f" → {each.fix}" if each.fix else ""))


def _plain(text: str) -> str:
    """Return a text without the marks of names and emphasis."""
    return text.replace("`", "").replace("*", "")
