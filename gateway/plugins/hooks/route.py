"""Takes the requests of other programs: nothing is read before there is room, and answered before it is stored."""

import math
from collections.abc import Sequence

from channels.base import Sender as Person
from gateway.plugin import Core
from gateway.plugins.hooks.content import content_of, text_of
from gateway.plugins.hooks.senders import SENDERS, Sent
from gateway.plugins.hooks.settings import HooksSettings
from gateway.plugins.hooks.table import Arrived, Hook, Hooks, Took, take
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.web.rate_limit import RateLimit
from gateway.web.route import Answer, Asked, Opening, Refused

PATH = "/hooks"
MOST_BYTES = 1024 * 1024
OPENING = Opening(methods=("POST",), most_bytes=MOST_BYTES, is_named=True)
KIND = "hook_event"
"""That of what a chat is owed for each event."""
OF_ONE_PLACE = 3_000
"""Requests in a minute from one address, before anything is known of them."""
WRONG_OF_ONE_PLACE = 60
"""Those of them in a minute that name no webhook, or are not signed."""
NOT_FOUND = Answer(b"there is no such webhook, or the signature is wrong", status=401)
_ANSWERS = {
    Took.NEW: Answer(b"taken"),
    Took.AGAIN: Answer(b"taken before"),
    Took.GONE: Answer(b"the webhook is paused", status=403),
}


class HooksRoute:
    """Answers the requests of other programs."""

    def __init__(self, core: Core, hooks: Hooks) -> None:
        self._core = core
        self._hooks = hooks
        self._places, self._room = (RateLimit(core.clock.monotonic) for _ in range(2))

    async def answer(self, asked: Asked) -> Answer:
        """Store an event and answer that it is taken, or say why not. Raises Refused."""
        _wait(self._places, f"place {asked.place}", OF_ONE_PLACE)
        hook = await self._hooks.at(asked.name) if asked.name.isascii() else None
        if hook is None:
            _wait(self._places, f"wrong {asked.place}", WRONG_OF_ONE_PLACE)
            return NOT_FOUND
        body = await asked.body()
        sent, sender = Sent(asked.headers, body, self._core.clock.time()), SENDERS[hook.sender]
        if not sender.is_genuine(hook.secret, sent):
            _wait(self._places, f"wrong {asked.place}", WRONG_OF_ONE_PLACE)
            return NOT_FOUND
        asked.showed_key()
        if hook.paused or not self.is_right(hook):
            return _ANSWERS[Took.GONE]
        content = content_of(self._core.secrets.mask(text_of(body)), asked.headers)
        keys, kind = sender.keys(sent, content), self._core.secrets.mask(sender.kind(sent, content))
        arrived = Arrived(hook, keys, kind, len(body), content.text, sent.now)
        if await self._hooks.came_before(arrived):
            return _ANSWERS[Took.AGAIN]
        _wait(self._room, f"hook {hook.id}", self._core.settings.of(HooksSettings).a_minute)
        return await self._take(arrived)

    def is_right(self, hook: Hook) -> bool:
        """Return True while whoever set the webhook is an owner or admin in its chat."""
        return self._core.access.is_admin(hook.chat, Person(id=hook.person, name=""))

    async def _take(self, arrived: Arrived) -> Answer:
        settings, took = self._core.settings.of(HooksSettings), Took.GONE

        def change(connection: Connection) -> Sequence[Owed]:
            nonlocal took
            took, event = take(connection, arrived, settings.a_day, settings.runs_a_day)
            return [Owed(KIND, str(event), arrived.hook.chat)] if took is Took.NEW else ()

        await self._core.owe(change)
        return _too_many(3_600.0) if took is Took.FULL else _ANSWERS[took]


def _wait(limit: RateLimit, key: str, a_minute: int) -> None:
    if seconds := limit.wait(key, a_minute):
        raise Refused(_too_many(seconds))


def _too_many(seconds: float) -> Answer:
    return Answer(b"too many requests", status=429, headers={"Retry-After": str(math.ceil(seconds))})
