"""Tells plugins what happens while Parley runs: those only that override the method for it."""

import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import ParamSpec, TypeVar

import structlog

from agent_core.background import done_within
from agent_core.clock import Clock
from agent_core.context.compaction.compaction import KeepFacts
from agent_core.file_handles import raise_lack
from agent_core.log_errors import Contained
from agent_core.messages import AgentMessage
from agent_core.origin import Origin
from channels.base import ChatKey, ReactionAdded, ReactionRemoved
from gateway.chat.holds import Hold, HoldUntil, Why
from gateway.chat.places import Moved
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.chat.received_files import FileContents, ReceivedFile
from gateway.chat.sounds import Heard, Sound
from gateway.permissions.gates import BeforeCall
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures, expect
from gateway.store.connection import Connection
from gateway.store.erasures import ErasedToo, Forgotten
from gateway.store.rows import InboxItem, Run
from gateway.store.writer import may_pass
from gateway.texts.say import LANGUAGES, Language, say
from gateway.upkeep.forgetting import PluginKeepsRows

HEAR_WITHIN = 300.0
"""Seconds that a plugin may take to hear a recording. The chat waits for it."""
READ_WITHIN = 120.0
"""Seconds that a plugin may take to read a file. The chat waits for it."""
TAKE_OVER_WITHIN = 10.0
"""Seconds that a plugin may take to take over what it left. The chats wait for it."""
CLOSE_WITHIN = 5.0
"""Seconds that a plugin may take to end what it runs, when Parley ends."""
HOLD_WITHIN = 5.0
"""Seconds that a plugin may take to say whether a chat waits."""
PROMPT_WITHIN = 30.0
"""Seconds that a plugin may take for its note on a message."""
SUMMARISED_WITHIN = 5.0
"""Seconds that a plugin may take to keep what a summary found."""

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger(__name__)


class Moments:
    """The plugins that are told of each moment."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures, clock: Clock) -> None:
        self.plugins = plugins
        self._failures = failures
        self._clock = clock
        self.reacted: list[Callable[[ReactionAdded | ReactionRemoved], None]] = []
        """Each tells one of a reaction of somebody who may speak."""
        self.moved: list[Moved] = []
        """Each tells one of the new place of a message."""
        self.gates: Sequence[tuple[str, BeforeCall]] = tuple(
            (each.name, each.before_call) for each in plugins if type(each).before_call is not Plugin.before_call
        )
        """The guards that are asked before each call, by the plugin's name."""
        self._taking_over = tuple(each for each in plugins if type(each).taken_over is not Plugin.taken_over)
        self._closing = tuple(each for each in plugins if type(each).closed is not Plugin.closed)
        self.erasing: Mapping[str, ErasedToo] = {
            each.name: partial(self._erased, each) for each in plugins if type(each).erased is not Plugin.erased
        }
        """Each lets a plugin erase its rows of somebody in the open transaction, and raises PluginKeepsRows if that
        fails. By the plugin's name."""
        self.settings_changed()

    def settings_changed(self) -> None:
        """Tell from now on those that have something to do by the settings."""
        listening = [each for each in self.plugins if self._listens(each)]
        self.reacted[:] = [
            self._telling(each.name, each.reacted) for each in listening if type(each).reacted is not Plugin.reacted
        ]
        self.moved[:] = [
            self._telling(each.name, each.moved) for each in listening if type(each).moved is not Plugin.moved
        ]

    def _listens(self, plugin: Plugin) -> bool:
        try:
            return plugin.listens()
        except BaseException as error:  # noqa: BLE001 (whatever a plugin raises stops nothing else)
            self._failures.contain(plugin.name, "listens", error)
            return True

    def _telling(self, plugin: str, moment: Callable[P, None]) -> Callable[P, None]:
        """Return the moment of a plugin, whose failure is logged and kept."""

        def tell(*args: P.args, **named: P.kwargs) -> None:
            try:
                moment(*args, **named)
            except BaseException as error:  # noqa: BLE001 (whatever a plugin raises stops nothing else)
                self._failures.contain(plugin, moment.__name__, error)

        return tell

    def gate_failed(self, plugin: str, error: Exception) -> None:
        """Keep the failure of a guard."""
        self._failures.keep(plugin, "before_call", error)

    def _erased(self, plugin: Plugin, connection: Connection, forgotten: Forgotten) -> None:
        try:
            with self._failures.kept(plugin.name, "erased"):
                plugin.erased(forgotten, plugin.core.store.limited(connection))
        except Exception as error:
            if may_pass(error):  # it is done again once the disk takes writes
                raise
            log.exception("a plugin failed", plugin=plugin.name, where="erased")
            raise PluginKeepsRows(plugin.name) from error

    async def taken_over(self, chat: ChatKey | None) -> None:
        """Tell that this process works on a chat from now on, or on all."""
        for plugin in self._taking_over:
            with self._failures.contained(plugin.name, "taken_over"):
                await done_within(plugin.taken_over(chat), TAKE_OVER_WITHIN, self._clock)

    async def closed(self) -> None:
        """Tell that Parley ends."""
        for plugin in self._closing:
            with self._failures.contained(plugin.name, "closed"):
                await done_within(plugin.closed(), CLOSE_WITHIN, self._clock)


class Receiving:
    """The plugins that listen to recordings, and those that read other files."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures, clock: Clock) -> None:
        self._failures = failures
        self._clock = clock
        self._hearing = tuple(each for each in plugins if type(each).hear is not Plugin.hear)
        self._reading = tuple(each for each in plugins if type(each).read is not Plugin.read)

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        """Return what the first plugin that listens to a recording hears in it. See `Plugin.hear`."""
        asked = {each.name: partial(each.hear, item, run, sound, language) for each in self._hearing}
        return await self._first("hear", asked, Heard, HEAR_WITHIN)

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        """Return what the first plugin that reads such a file finds in it. See `Plugin.read`."""
        asked = {each.name: partial(each.read, item, run, file, room, language) for each in self._reading}
        return await self._first("read", asked, FileContents, READ_WITHIN)

    async def _first(
        self,
        moment: str,
        asked: Mapping[str, Callable[[], Coroutine[object, object, T | None]]],
        kind: type[T],
        within: float,
    ) -> T | None:
        for plugin, ask in asked.items():
            asking = Contained("a plugin failed", plugin=plugin, where=moment)
            with asking, self._failures.kept(plugin, moment):
                found = await done_within(ask(), within, self._clock)
                if found is not None:
                    return _checked(found, kind, moment)
            if asking.error is not None:
                raise_lack(asking.error)
        return None


class Holding:
    """The plugins that may keep a chat's next run waiting."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures, clock: Clock) -> None:
        self._failures = failures
        self._clock = clock
        self.plugins = tuple(each for each in plugins if type(each).hold is not Plugin.hold)

    async def hold(self, chat: ChatKey) -> Hold | None:
        """Return the hold of the first plugin that lets a chat wait. See `Plugin.hold`."""
        for plugin in self.plugins:
            with self._failures.contained(plugin.name, "hold"):
                wait = await done_within(plugin.hold(chat), HOLD_WITHIN, self._clock)
                if wait is not None and (seconds := _seconds_of(wait, self._clock)) > 0:
                    return Hold(Why.PLUGIN, until=self._clock.monotonic() + seconds, text=wait.text)
        return None


class Noting:
    """The plugins that tell the model something beside the message with which a run begins."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures, clock: Clock) -> None:
        self._failures = failures
        self._clock = clock
        self._plugins = tuple(each for each in plugins if type(each).prompt is not Plugin.prompt)

    async def notes(self, chat: ChatKey, person: str, messages: Sequence[AgentMessage]) -> Sequence[PromptNote]:
        """Return the notes of all plugins. See `Plugin.prompt`."""
        history, notes = PromptHistory(messages), list[PromptNote]()
        for plugin in self._plugins:
            try:
                asked = plugin.prompt(chat, person, history)
            except BaseException as error:  # noqa: BLE001 (whatever a plugin raises stops nothing else)
                self._failures.contain(plugin.name, "prompt", error)
                continue
            if asked is not None and (note := await self._note(plugin, asked)) is not None:
                notes.append(note)
        return notes

    async def _note(self, plugin: Plugin, asked: Awaitable[PromptNote | None]) -> PromptNote | None:
        """Return the note of one plugin. A lack of what a run needs is raised, so that it is tried again."""
        noting = Contained("a plugin failed", plugin=plugin.name, where="prompt")
        with noting, self._failures.kept(plugin.name, "prompt"):
            note = await done_within(_awaited(asked), PROMPT_WITHIN, self._clock)
            if note is not None:
                expect(note, PromptNote, "the result of prompt()")
                expect(note.text, str, "the text of a note")
                expect(note.origin, Origin, "the origin of a note")
            return note
        if noting.error is not None:
            raise_lack(noting.error)
        return None


class Summaries:
    """The plugins that keep what the summary of a conversation finds worth remembering."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures, clock: Clock) -> None:
        self._failures = failures
        self._clock = clock
        self._plugins = tuple(each for each in plugins if type(each).summarised is not Plugin.summarised)

    def keeping(self, chat: ChatKey) -> KeepFacts | None:
        """Return what tells them of the facts in a summary of a chat; None if nobody wants them."""
        return partial(self._tell, chat) if self._plugins else None

    async def _tell(self, chat: ChatKey, lines: Sequence[str], origin: Origin) -> None:
        for plugin in self._plugins:
            with self._failures.contained(plugin.name, "summarised"):
                await done_within(plugin.summarised(chat, lines, origin), SUMMARISED_WITHIN, self._clock)


async def _awaited(asked: Awaitable[T]) -> T:
    return await asked


def _seconds_of(wait: HoldUntil, clock: Clock) -> float:
    """Return how long a plugin lets a chat wait. Raises TypeError, ValueError and KeyError for what is no such wish."""
    if not isinstance(wait, HoldUntil):
        raise TypeError(f"hold returned {type(wait).__name__}")
    if not math.isfinite(wait.until):
        raise ValueError("hold named no time at which it is asked again")
    for language in LANGUAGES:
        say(wait.text, language)
    return wait.until - clock.time()


def _checked(found: object, kind: type[T], moment: str) -> T:
    """Return what a moment returned. Raises TypeError for anything else."""
    if not isinstance(found, kind):
        raise TypeError(f"{moment} returned {type(found).__name__}")
    return found
