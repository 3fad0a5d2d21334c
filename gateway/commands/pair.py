"""The command /pair: the one-time code that makes its sender an owner."""

from agent_core.clock import Clock
from channels.base import OutboundMessage
from gateway.commands.table import Command, Invocation, reply
from gateway.permissions.access import Access
from gateway.permissions.pairing import Pairing
from gateway.texts.say import say
from gateway.upkeep.strangers import PAIR, PAIR_TEXTS, Strangers, account_from

MINUTE = 60


class PairCommands:
    """The command /pair. Those of unknown people are handled by `Strangers`."""

    def __init__(self, pairing: Pairing, access: Access, strangers: Strangers, clock: Clock) -> None:
        self._pairing = pairing
        self._access = access
        self._strangers = strangers
        self._clock = clock

    async def pair(self, given: Invocation) -> OutboundMessage:
        """Show an owner the code, or take a try."""
        code = given.arguments.strip()
        if given.in_group:
            return reply(say("pair_alone", given.language))
        if given.is_owner:
            return reply(say("pair_owner", given.language)) if code else await self._shown(given)
        if not code:
            return reply(say("pair_how", given.language, slash=given.slash))
        done = await self._pairing.attempt(code, account_from(self._access, given.event))
        self._strangers.look()
        return reply(say(PAIR_TEXTS[done], given.language, slash=given.slash))

    async def _shown(self, given: Invocation) -> OutboundMessage:
        code = await self._pairing.code()
        minutes = max(1, round((code.expires - self._clock.time()) / MINUTE))
        return reply(say("pair_code", given.language, slash=given.slash, code=code.text, minutes=minutes))

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                PAIR,
                {"en": "Become the owner with the code on the console", "zh": "用控制台上的配对码成为所有者"},
                self.pair,
                arguments="[CODE]",
                example="k7m2xq9d",
                private=True,
            ),
        )
