"""Does what a chat is owed for an event: tells it, or lets an agent look at it and tells what that says."""

from collections.abc import Mapping, Sequence
from functools import partial

from agent_core.origin import CLEAN, NOT_KNOWN, Origin, named
from agent_core.tasks import Report, TaskStatus
from channels.base import ChannelError, OutboundMessage
from channels.base import Sender as Person
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.hooks.addresses import shown
from gateway.plugins.hooks.content import content_of
from gateway.plugins.hooks.route import KIND
from gateway.plugins.hooks.senders import SENDERS
from gateway.plugins.hooks.table import Asks, Event, Hook, Hooks, State
from gateway.plugins.hooks.template import filled, in_short
from gateway.runs.errands import Errand
from gateway.runs.owed import Doer
from gateway.store.owed import Owed
from gateway.store.rows import Post, PostState
from gateway.texts.say import LANGUAGES, Language, say

SHOWN = "hook_shown"
"""The kind of what a private chat is owed for a webhook that was set in a group: its address and secret."""
LOST_KIND = "hook_lost"
"""The kind of what a private chat is owed for a webhook whose group takes no messages any more."""
LOST = 3
"""Events, one after the other, that do not arrive before a webhook is paused."""


class HooksWork:
    """Does what chats are owed for events."""

    def __init__(self, core: Core, hooks: Hooks) -> None:
        self._core = core
        self._hooks = hooks

    @property
    def doers(self) -> Mapping[str, Doer]:
        return {KIND: self.event, SHOWN: self.shown, LOST_KIND: self.lost}

    async def event(self, item: Owed) -> Sequence[Post] | Errand:
        """Tell an event, or let an agent look at it."""
        event = await self._hooks.event(int(item.key))
        hook = await self._hooks.with_id(event.hook) if event else None
        if event is None or hook is None:
            return ()  # it was removed
        if not self._core.access.is_admin(item.chat, Person(id=hook.person, name="")):
            await self._hooks.became(event.id, State.NO_RIGHT)
            return ()
        if await self._is_lost(hook, event):
            await self._give_up(item, hook, event)
            return ()
        if event.asks is Asks.YES and hook.instruction:
            return self._errand(hook, event)
        await self._hooks.became(event.id, State.POSTED)
        return self._posts(item, hook, self._told(hook, event), origin_of(hook))

    async def _is_lost(self, hook: Hook, event: Event) -> bool:
        """Return True if none of the last events has arrived in the chat."""
        told = await self._hooks.told_before(event, LOST)
        for number in told:
            posts = await self._core.store.outbox.of_run(f"hook-event-{number}")
            if not posts or any(post.state is not PostState.FAILED for post in posts):
                return False
        return len(told) == LOST

    async def _give_up(self, item: Owed, hook: Hook, event: Event) -> None:
        """Pause a webhook whose chat takes no messages any more, and tell its person in private."""
        await self._hooks.became(event.id, State.FAILED)
        await self._hooks.change(hook, paused=1)
        try:
            private = await self._core.delivery.private_chat(hook.chat, hook.person)
        except ChannelError:
            return
        if private is not None and private != hook.chat:
            await self._core.owe(lambda _: [Owed(LOST_KIND, item.key, private)])

    async def lost(self, item: Owed) -> Sequence[Post]:
        """Tell somebody in private that a webhook is paused, as its chat takes no messages."""
        event = await self._hooks.event(int(item.key))
        hook = await self._hooks.with_id(event.hook) if event else None
        if hook is None or not hook.paused:
            return ()
        language, slash = self._language(hook), self._core.delivery.channel(item.chat).limits.slash
        place = literal(self._core.access.name_of_chat(hook.chat) or hook.chat.chat)
        text = say("hooks_lost", language, name=literal(hook.name), where=place, id=hook.id, slash=slash)
        return self._split(item, f"lost-{item.key}", OutboundMessage(markdown=text), NOT_KNOWN)

    async def shown(self, item: Owed) -> Sequence[Post]:
        """Tell somebody in private the address and secret of a webhook."""
        hook = await self._hooks.with_id(int(item.key.partition(":")[0]))
        if hook is None:
            return ()
        return self._split(item, "shown", self._shown(item, hook), CLEAN)

    def _shown(self, item: Owed, hook: Hook) -> OutboundMessage:
        slash = self._core.delivery.channel(item.chat).limits.slash
        return shown(hook, self._core.settings, self._language(hook), slash)

    def _errand(self, hook: Hook, event: Event) -> Errand:
        item = Owed(KIND, str(event.id), hook.chat)
        brought = f"What the webhook {hook.name} ({hook.sender}) was sent, {event.kind or 'an event'}:\n{event.body}"
        return Errand(
            f"hook-{hook.id}-{event.id}",
            hook.chat,
            hook.person,
            hook.instruction,
            partial(self._answered, item, hook, event),
            brought,
            origin_of(hook),
            hook.language,
        )

    async def _answered(self, item: Owed, hook: Hook, event: Event, report: Report) -> Sequence[Post]:
        """Return what the agent said, or what came and that it could not be looked at."""
        if await self._hooks.event(event.id) is None:
            return ()  # the webhook was removed
        has_answer = report.status is TaskStatus.COMPLETED and bool(report.text.strip())
        await self._hooks.became(event.id, State.ANSWERED if has_answer else State.FAILED)
        words = report.text
        if not has_answer:
            failed = say("hooks_failed", self._language(hook), reason=literal(self._core.secrets.mask(report.error)))
            words = f"{failed}\n\n{self._told(hook, event)}"
        return self._posts(item, hook, words, origin_of(hook) | report.origin)

    def _told(self, hook: Hook, event: Event) -> str:
        content = content_of(event.body)
        template = hook.template or SENDERS[hook.sender].template
        words = filled(template, content, event.kind) if template else in_short(content)
        if hook.instruction and event.asks is Asks.LIMIT:
            words = f"{words}\n\n{say('hooks_no_more_runs', self._language(hook))}"
        return words or say("hooks_empty", self._language(hook))

    def _posts(self, item: Owed, hook: Hook, words: str, origin: Origin) -> Sequence[Post]:
        who = literal(self._core.access.name_of(hook.principal) or hook.principal)
        below = say("hooks_set_by", self._language(hook), name=literal(hook.name), who=who)
        message = OutboundMessage(markdown=f"{words}\n\n_{below}_")
        return self._split(item, f"event-{item.key}", message, origin)

    def _split(self, item: Owed, what: str, message: OutboundMessage, origin: Origin) -> Sequence[Post]:
        run = f"hook-{what}" if what != "shown" else f"hook-shown-{item.key}"
        parts = self._core.delivery.masked_channel(item.chat).split(message)
        return [Post(f"{run}:proactive:{number}", run, item.chat, part, origin) for number, part in enumerate(parts)]

    def _language(self, hook: Hook) -> Language:
        return next((each for each in LANGUAGES if each == hook.language), self._core.settings.language)


def origin_of(hook: Hook) -> Origin:
    """Return the origin of whatever a webhook brings."""
    return named(f"hook:{hook.name}")
