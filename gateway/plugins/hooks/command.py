"""The command /hook: sets webhooks, and says what becomes of their events."""

import json
import re
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from channels.base import ChannelError, ChatKey, OutboundMessage
from channels.commands import Suggestion
from channels.text import in_code, literal
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.hooks.addresses import new_address, new_secret, shown
from gateway.plugins.hooks.route import KIND
from gateway.plugins.hooks.senders import SENDERS, Key
from gateway.plugins.hooks.settings import HooksSettings
from gateway.plugins.hooks.table import MOST_HOOKS, Arrived, Event, Hook, Hooks, add, take
from gateway.plugins.hooks.template import LONGEST_TEMPLATE
from gateway.plugins.hooks.work import SHOWN
from gateway.security.masking import MASK
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.texts.moments import moment_words
from gateway.texts.say import say

_NAME = re.compile(r"(?!\d+$)[a-z0-9][a-z0-9_-]{0,31}")
_SECRET = re.compile(r"(?s)\s*secret\s+\S+\s+(?P<value>\S.*)", re.IGNORECASE)
_SHORTEST_SECRET, _LONGEST_SECRET = 8, 200
_LONGEST_NUMBER = 15
_SHORT = 80
"""Characters of an instruction in the list."""


class HookCommand:
    """The command /hook, for owners and admins."""

    def __init__(self, core: Core, hooks: Hooks) -> None:
        self._core = core
        self._hooks = hooks
        self._forms = {
            "add": self._add,
            "post": self._post,
            "ask": self._ask,
            "test": self._test,
            "pause": self._pause,
            "resume": self._resume,
            "secret": self._secret,
            "rm": self._remove,
        }

    async def hook(self, given: Invocation) -> Answer:
        """Do what the first word says; list the webhooks of the chat without one."""
        form, name, words = (*given.arguments.split(None, 2), "", "", "")[:3]
        if form.lower() in ("", "list"):
            return await self._list(given)
        if not self._core.settings.now.web.enabled:
            return _say(given, "hooks_page_off")
        run = self._forms.get(form.lower())
        if run is None or not name:
            return _say(given, "hooks_usage", senders=", ".join(SENDERS))
        return await run(given, name.strip("`"), words.strip())

    async def _add(self, given: Invocation, name: str, words: str) -> Answer:
        name, sender = name.lower(), words.lower() or (name.lower() if name.lower() in SENDERS else "other")
        if sender not in SENDERS or not _NAME.fullmatch(name):
            return _say(given, "hooks_usage", senders=", ".join(SENDERS))
        private = await self._private(given)
        if private is None:
            return _say(given, "hooks_no_private_chat")
        access, made = self._core.access, None
        draft = Hook(
            0,
            new_address(),
            given.chat,
            name,
            sender,
            new_secret(sender),
            given.sender.id,
            access.principal(given.chat, given.sender),
            given.language,
            asked=given.asked,
        )

        def change(connection: Connection) -> Sequence[Owed]:
            nonlocal made
            made = add(connection, draft)
            return [Owed(SHOWN, f"{made.id}:{given.asked}", private)] if made and private != given.chat else ()

        await self._core.owe(change)
        return self._shown(given, made, private)

    def _shown(self, given: Invocation, made: Hook | None, private: ChatKey) -> OutboundMessage:
        if made is None:
            return _say(given, "hooks_taken", most=MOST_HOOKS)
        if private != given.chat:
            return _say(given, "hooks_added", name=made.name)
        return shown(made, self._core.settings, given.language, given.slash)

    async def _private(self, given: Invocation) -> ChatKey | None:
        try:
            return await self._core.delivery.private_chat(given.chat, given.sender.id)
        except ChannelError:
            return None

    async def _post(self, given: Invocation, name: str, words: str) -> Answer:
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        if len(words) > LONGEST_TEMPLATE:
            return _say(given, "hooks_too_long", most=LONGEST_TEMPLATE)
        if (by := self._by(given, hook)) is None:
            return _say(given, "hooks_elsewhere")
        await self._hooks.change(hook, template=self._core.secrets.mask(words), instruction="", **by)
        return _say(given, "hooks_posts" if words else "hooks_posts_usual", name=hook.name)

    async def _ask(self, given: Invocation, name: str, words: str) -> Answer:
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        if not words or len(words) > LONGEST_TEMPLATE:
            return _say(given, "hooks_ask_what" if not words else "hooks_too_long", most=LONGEST_TEMPLATE)
        if (by := self._by(given, hook)) is None:
            return _say(given, "hooks_elsewhere")
        await self._hooks.change(hook, instruction=self._core.secrets.mask(words), **by)
        return _say(given, "hooks_asks", name=hook.name)

    def _by(self, given: Invocation, hook: Hook) -> dict[str, str] | None:
        """Return who is responsible for a webhook from now on: whoever gave it words or a secret, with no other rights.

        Returns None for somebody on another platform, who has no id in the chat of the webhook.
        """
        if given.chat.platform != hook.chat.platform:
            return None
        principal = self._core.access.principal(given.chat, given.sender)
        return {"person": given.sender.id, "principal": principal, "language": given.language}

    async def _test(self, given: Invocation, name: str, _: str) -> Answer:
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        body = json.dumps({"event": "test", "message": say("hooks_sample", given.language)}, ensure_ascii=False)
        settings, now = self._core.settings.of(HooksSettings), self._core.clock.time()
        arrived = Arrived(hook, [Key(f"test:{given.asked}")], "test", len(body), body, now)

        def change(connection: Connection) -> Sequence[Owed]:
            _, event = take(connection, arrived, settings.a_day, settings.runs_a_day)
            return [Owed(KIND, str(event), hook.chat)] if event else ()

        await self._core.owe(change)
        return _say(given, "hooks_paused_so" if hook.paused else "hooks_tested", name=hook.name)

    async def _pause(self, given: Invocation, name: str, _: str) -> Answer:
        return await self._set_paused(given, name, paused=True)

    async def _resume(self, given: Invocation, name: str, _: str) -> Answer:
        return await self._set_paused(given, name, paused=False)

    async def _set_paused(self, given: Invocation, name: str, *, paused: bool) -> Answer:
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        await self._hooks.change(hook, paused=int(paused))
        return _say(given, "hooks_paused" if paused else "hooks_resumed", name=hook.name)

    async def _secret(self, given: Invocation, name: str, words: str) -> Answer:
        """Give a webhook a new secret, or the one that its sender has made."""
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        by = self._by(given, hook)
        if by is None or (wrong := _wrong_with_secret(given, hook, words)):
            return _say(given, "hooks_elsewhere" if by is None else wrong, name=hook.name, id=hook.id)
        await self._hooks.change(hook, secret=words or new_secret(hook.sender), **by)
        if words:
            return _say(given, "hooks_secret_kept", name=hook.name)
        found = await self._hooks.with_id(hook.id)
        return shown(found or hook, self._core.settings, given.language, given.slash)

    async def _remove(self, given: Invocation, name: str, _: str) -> Answer:
        hook = await self._find(given, name)
        if hook is None:
            return _say(given, "hooks_none_named", name=in_code(name))
        await self._hooks.remove(hook)
        return _say(given, "hooks_removed", name=hook.name)

    async def _list(self, given: Invocation) -> Answer:
        hooks = await self._hooks.of(given.chat)
        if not hooks:
            return _say(given, "hooks_none")
        newest = {each.hook: each for each in reversed(await self._hooks.newest([hook.id for hook in hooks]))}
        zone = given.session.conversation.zone()
        lines = [self._line(given, hook, newest.get(hook.id), zone) for hook in hooks]
        return reply("\n".join([say("hooks_list", given.language), *lines]))

    def _line(self, given: Invocation, hook: Hook, last: Event | None, zone: ZoneInfo) -> str:
        language = given.language
        does = say("hooks_does_ask", language, words=literal(_short(hook.instruction))) if hook.instruction else ""
        does = does or say("hooks_does_post", language)
        when = moment_words(last.at, zone) if last else say("hooks_never", language)
        who = literal(self._core.access.name_of(hook.principal) or hook.principal)
        key = "hooks_row_paused" if hook.paused else "hooks_row"
        return "- " + say(key, language, id=hook.id, name=hook.name, sender=hook.sender, does=does, who=who, when=when)

    async def _find(self, given: Invocation, name: str) -> Hook | None:
        """Return the webhook of this chat with a name, or one by its number: for owners any, for others their own."""
        found = await self._hooks.named(given.chat, name.lower())
        if found is None and name.isascii() and name.isdecimal() and len(name) <= _LONGEST_NUMBER:
            found = await self._hooks.with_id(int(name))
            own = self._core.access.accounts(given.chat, given.sender)
            is_theirs = found is not None and (found.chat == given.chat or found.principal in own or given.is_owner)
            return found if is_theirs else None
        return found

    async def _suggest(self, unfinished: Unfinished) -> Sequence[Suggestion]:
        """Return the names of the chat's webhooks."""
        return [Suggestion(value=each.name, label=each.name) for each in await self._hooks.of(unfinished.chat)]

    @property
    def command(self) -> Command:
        return Command(
            "hook",
            {"en": "Let other programs tell this chat of events", "zh": "让其他程序把事件告诉本聊天"},
            self.hook,
            rights=always(Right("admin", Role.ADMIN, Role.ADMIN)),
            arguments="[add|post|ask|test|pause|resume|secret|rm|list] [NAME] [TEXT]",
            example="add builds github",
            offered_to=Role.ADMIN,
            suggest=self._suggest,
            secret_in=secret_in,
            recorded=frozenset({"add", "post", "ask", "pause", "resume", "secret", "rm"}),
        )


def secret_in(arguments: str) -> str:
    """Return the secret that somebody types for a webhook; empty if there is none."""
    found = _SECRET.fullmatch(arguments)
    return found["value"].strip() if found else ""


def _wrong_with_secret(given: Invocation, hook: Hook, words: str) -> str:
    """Return the key of what is said instead of keeping a secret; empty if nothing is wrong with it."""
    if given.in_group:
        return "hooks_secret_alone"
    if MASK in words:  # it is stored nowhere, and Parley was killed before it was kept
        return "hooks_secret_lost"
    if words and (len(words.split()) > 1 or not _SHORTEST_SECRET <= len(words) <= _LONGEST_SECRET):
        return "hooks_secret_odd"
    return "" if words or not SENDERS[hook.sender].own_secret else SENDERS[hook.sender].to_do


def _say(given: Invocation, key: str, **facts: str | int) -> OutboundMessage:
    return reply(say(key, given.language, slash=given.slash, **facts))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHORT else f"{flat[:_SHORT]}…"
