"""The command /pair: the one-time code that makes its sender an owner."""

from agent_core.clock import Clock
from channels.base import OutboundMessage
from gateway.chat.replies import Answer, Once
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.access import Access
from gateway.permissions.pairing import Pairing
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.security.masking import MASK
from gateway.texts.say import say
from gateway.upkeep.strangers import PAIR, PAIR_TEXTS, Strangers, account_from, pair_post

MINUTE = 60


class PairCommands:
    """The command /pair. Those of unknown people are handled by `Strangers`."""

    def __init__(self, pairing: Pairing, access: Access, strangers: Strangers, clock: Clock) -> None:
        self._pairing = pairing
        self._access = access
        self._strangers = strangers
        self._clock = clock

    async def pair(self, given: Invocation) -> Answer:
        """Show an owner the code, or take a try."""
        code = given.arguments.strip()
        if code and (earlier := await self._pairing.outcome(given.asked)) is not None:
            return Once(f"{pair_post(given.asked)}:reply", self._told(given, PAIR_TEXTS[earlier]))
        if given.is_owner:
            return reply(say("pair_owner", given.language)) if code else await self._shown(given)
        if not code:
            return reply(say("pair_how", given.language, slash=given.slash))
        if code == MASK:  # it is stored nowhere, and Parley was killed before it was tried
            return self._told(given, "code_lost")
        done = await self._pairing.attempt(code, account_from(self._access, given.event), given.asked)
        self._strangers.look()
        return self._told(given, PAIR_TEXTS[done])

    def _told(self, given: Invocation, key: str) -> OutboundMessage:
        return reply(say(key, given.language, slash=given.slash))

    async def _shown(self, given: Invocation) -> OutboundMessage:
        code = await self._pairing.code()
        minutes = max(1, round((code.expires - self._clock.time()) / MINUTE))
        text = say("pair_code", given.language, slash=given.slash, code=code.text, minutes=minutes)
        return OutboundMessage(markdown=text, forget=code.text)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                PAIR,
                {"en": "Become the owner with the code on the console", "zh": "用控制台上的配对码成为所有者"},
                self.pair,
                rights=always(Right("talk", group=None, elsewhere="pair_alone")),
                arguments="[CODE]",
                example="k7m2xq9d",
                private=True,
                offered_to=Role.OWNER,
            ),
        )
