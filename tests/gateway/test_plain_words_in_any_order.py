"""In any order of messages, only a plain answer of the asked user, with no other message in between, counts.

The answer must be written after the question was posted.
"""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from channels.base import ButtonPressed, MessageReceived, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.app.yes_or_no import PlainWords
from gateway.delivery.delivery import Delivery
from gateway.store.rows import Run
from tests.clock import HandClock
from tests.examples import examples
from tests.gateway.approving import life, proposal

TEAM = MemoryChannel(limits=NO_PACE).chat(group="team")
ELSEWHERE = TEAM.model_copy(update={"thread": "1"})


@dataclass(frozen=True)
class Said:
    """A message written `later` seconds after the question; `plain` if it is its author's own text only."""

    who: str
    later: float
    here: bool
    plain: bool


TALK = st.lists(
    st.builds(
        Said,
        who=st.sampled_from(["bob", "bob", "bob", "ann", "carl"]),
        later=st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
        here=st.sampled_from([True, True, True, False]),
        plain=st.sampled_from([True, True, False]),
    ),
    min_size=1,
    max_size=4,
)


async def answered(talk: list[Said]) -> int | None:
    """Return the index of the message that answers a question to Bob."""
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    with tempfile.TemporaryDirectory() as home:
        async with life(Path(home), channel, clock) as here:
            plain = PlainWords(here.store, Delivery([channel], here.store, clock), clock)
            await here.store.runs.begin(Run("run-1", TEAM, "session-1", "bob", clock.now))
            asked = await here.permissions.decide(proposal(Path(home), chat=TEAM, user_id="bob"))
            waiting = asyncio.create_task(
                here.permissions.answer(asked.request_id, proposal(Path(home), chat=TEAM, user_id="bob"))
            )
            await channel.until(lambda: bool(channel.posts))
            await here.approvals.settled()
            found = None
            for number, each in enumerate(talk):
                event = MessageReceived(
                    event_id=str(number),
                    chat=TEAM if each.here else ELSEWHERE,
                    sender=Sender(id=each.who, name=each.who.title()),
                    at=clock.now + each.later,
                    text="yes" if each.plain else "",
                    shared="" if each.plain else "Forwarded from Bob:\nyes",
                    message_id=str(number),
                )
                plain.heard(event)
                if isinstance(await plain.meant(event, "en"), ButtonPressed):
                    found = number
                    break
            waiting.cancel()
            await asyncio.wait([waiting])
    return found


def expected(talk: list[Said]) -> int | None:
    for number, each in enumerate(talk):
        others = [before for before in talk[:number] if before.here and before.who != "bob" and before.later >= 0]
        if each.here and each.who == "bob" and each.plain and each.later > 0 and not others:
            return number
    return None


@given(TALK)
@settings(max_examples=examples(40), deadline=None)
def test_only_the_right_word_answers(talk: list[Said]) -> None:
    assert asyncio.run(answered(talk)) == expected(talk)
