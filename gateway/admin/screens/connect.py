"""The screen that connects platforms and models: the guides of `gateway/connect`, one for each visitor and place."""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Struct

from agent_core.background import Background
from channels import discovery
from channels.base import ChatKey
from channels.connected import Connected
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.connect.guide import Guide, Surroundings
from gateway.connect.model_guide import ModelGuide
from gateway.connect.platform_guide import PlatformGuide
from gateway.connect.steps import Busy, Form, Listen

MODEL = "model"
LOOK_EVERY = 15.0
LEFT_SECONDS, LEFT_WAITING_SECONDS = 900.0, 60.0
"""Seconds without a look at a guide after which it ends: a page that waits for somebody looks each second."""


class _Open(Struct):
    guide: Guide
    seen: float


class Place(Struct, frozen=True):
    """Something that can be connected."""

    name: str
    title: str
    is_set_up: bool


class ConnectScreen:
    """Shows the guides to owners, and passes their answers on. Tokens are in the body of a request and never shown."""

    name = "connect"
    group = Group.SYSTEM
    icon = "plug"

    def __init__(
        self,
        around: Callable[[], Surroundings],
        connected: Connected,
        record: Callable[[ChatKey, str, str], None],
        has_model: Callable[[], bool],
    ) -> None:
        """Create the screen.

        Args:
            around: Returns what a new guide works with.
            connected: The platforms that are connected now.
            record: Records what a person has done in the audit file.
            has_model: Returns True if a model answers that is an AI.
        """
        self._around = around
        self._record = record
        self._has_model = has_model
        self._connected = connected
        self._open: dict[tuple[str, str], _Open] = {}
        """By visitor and place."""
        self._watching = Background("watching a guide failed")

    async def view(self, visit: Visit) -> View:
        """Return what can be connected, or the present step of a guide."""
        places = {each.name: each for each in self._places(visit)}
        if not visit.item:
            return View("connect.html", {"places": [*places.values()]})
        if visit.item not in places or not visit.is_owner:
            raise NoSuchItem
        found = self._open.get((visit.sender.id, visit.item))
        if found is not None:
            found.seen = asyncio.get_running_loop().time()
        step = found.guide.step if found else None
        waits = isinstance(step, Busy | Listen)
        number = found.guide.number if found else 0
        facts = {
            "place": places[visit.item],
            "step": step,
            "waits": waits,
            "number": number,
            "has_model": self._has_model(),
        }
        return View("connect_guide.html", facts)

    async def offered(self, visit: Visit) -> Mapping[str, object]:
        """Return the platforms that an owner can connect, for the empty chat page; none once one is connected."""
        places = [each for each in self._places(visit) if each.name != MODEL]
        is_needed = visit.is_owner and not any(each.is_set_up for each in places)
        return {"places": [[each.name, each.title] for each in places] if is_needed else []}

    async def submit(self, visit: Visit, fields: Mapping[str, str]) -> str:
        """Begin a guide, answer its step, or leave it for the list of all. Raises NoSuchItem."""
        if not visit.is_owner or visit.item not in {each.name for each in self._places(visit)}:
            raise NoSuchItem
        key = visit.sender.id, visit.item
        found = self._open.get(key)
        if fields.get("do") == "answer":
            if found is not None and fields.get("number") == str(found.guide.number):
                await found.guide.answer(_answer(found.guide, fields))
            return ""
        if fields.get("do") != "begin":
            if found is not None:
                await found.guide.close()
                self._open.pop(key, None)
            return f"/admin/{self.name}"
        if found is not None:  # begun in another tab
            return ""
        self._record(visit.chat, visit.sender.id, f"connect {visit.item}")
        around = self._around()
        language = visit.language
        guide = ModelGuide(around, language) if visit.item == MODEL else PlatformGuide(visit.item, around, language)
        self._open[key] = _Open(guide, asyncio.get_running_loop().time())
        await guide.begin()
        self._watching.start(self._watch(key, self._open[key]), f"guide {visit.item}")
        return ""

    async def check(self, visit: Visit, fields: Mapping[str, str]) -> str:
        """Return what is wrong with a field of the present form. Raises NoSuchItem."""
        found = self._open.get((visit.sender.id, visit.item)) if visit.is_owner else None
        number = fields.get("field", "")
        if found is None or not number.isdecimal() or fields.get("number") != str(found.guide.number):
            raise NoSuchItem
        return await found.guide.trouble_with(int(number), fields.get("text", ""))

    async def _watch(self, key: tuple[str, str], opened: _Open) -> None:
        """End a guide that nobody looks at, so that it does not keep a platform waiting."""
        while not opened.guide.is_over:
            await asyncio.sleep(LOOK_EVERY)
            patience = LEFT_WAITING_SECONDS if isinstance(opened.guide.step, Listen) else LEFT_SECONDS
            if asyncio.get_running_loop().time() - opened.seen > patience:
                await opened.guide.close()
                if self._open.get(key) is opened:
                    del self._open[key]
                return

    def _places(self, visit: Visit) -> list[Place]:
        platforms = [
            Place(name, setup.title, self._connected.on(name) is not None)
            for name, setup in sorted(discovery.setups().items())
        ]
        return [Place(MODEL, visit.say("page_connect_model"), is_set_up=self._has_model()), *platforms]


def _answer(guide: Guide, fields: Mapping[str, str]) -> str:
    """Return the answer to the present step from the fields of a page."""
    if not isinstance(guide.step, Form):
        return fields.get("pasted", "") or fields.get("text", "")
    if "text" in fields:  # the button of what may be chosen instead
        return fields["text"]
    return Form.packed([fields.get(f"field{number}", "") for number in range(len(guide.step.fields))])
