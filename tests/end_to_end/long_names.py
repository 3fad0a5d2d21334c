"""A Parley whose people and groups have names that are long, without a space, or written from right to left."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from agent_core.models.scripted import calls
from channels.base import Addressed, MessageReceived, Sender
from channels.memory import MemoryChannel
from gateway.permissions.roles import People
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_schedules import NINE
from tests.gateway.approving import acting
from tests.gateway.spent import spend

LETTERS = "Maximiliana" * 27 + "End"
EMOJI = "\N{SLICE OF PIZZA}" * 300
ARABIC = "\u202e\u0645\u062d\u0645\u062f" + " \u0639\u0644\u064a" * 70 + "\u2067\u202d"
NAMES = {"letters": LETTERS, "emoji": EMOJI, "arabic": ARABIC}
"""Names by the ids of who has them; each is also that of a group."""
PEOPLE = People(owners=frozenset({"telegram:letters"}), allow=frozenset({"telegram:emoji", "telegram:arabic"}))
CENT = 10**7


@asynccontextmanager
async def named_at_length(home: Path) -> AsyncIterator[AdminWorld]:
    """Start it, after each of its people has talked alone and in a group, with something that waits for an answer."""
    channel = MemoryChannel(name="telegram")
    turns = ["Noted."] * 6 + [calls(("run", {"command": ["python3", "chart.py"]}))]
    async with admin_world(home, *turns, tools=(acting(),), channel=channel, people=PEOPLE) as world:
        bot = world.bot
        for who, name in NAMES.items():
            sender = Sender(id=who, name=name)
            await channel.hears("Hello", sender=sender)
            await bot.app.settled()
            await channel.hears("@Parley hello", sender=sender, group=who)
            heard = channel.heard[-1]
            assert isinstance(heard, MessageReceived)
            renamed = {"group": name, "event_id": who, "message_id": who, "addressed": Addressed.AMBIENT}
            await channel.deliver(heard.model_copy(update=renamed))
            await bot.app.settled()
            job = replace(NINE, id=f"{who[:5]}1", chat=channel.chat(who), person=who)
            await bot.made.base.store.jobs.add(job)
            await spend(bot.made.base.store, bot.made.base.clock.time(), CENT, person=f"telegram:{who}")
        await channel.hears("Hi, may I ask you things, too?", sender=Sender(id="zoe", name=LETTERS))
        await channel.hears("Make a chart", sender=Sender(id="letters", name=LETTERS))
        await channel.until(lambda: any("chart.py" in text for text in channel.screen))
        yield world
