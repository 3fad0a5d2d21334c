"""The path at which a browser asks to be told, and says which of its tabs are looked at."""

import json
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway.plugins.push.looks import Looks
from gateway.plugins.push.notifications import Notifications, sealing
from gateway.plugins.push.table import Device, Devices
from gateway.texts.say import language_of
from gateway.web.route import Answer, Asked, Opening, Refused

PATH, LOOKED = "/push", "/push/looked"
OPENING = Opening(("GET", "POST", "DELETE"), most_bytes=4_000, for_visitors=True)
LOOKED_OPENING = Opening(("POST",), most_bytes=200, for_visitors=True)
LONGEST = 1_000
"""Characters of an address."""


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class _Keys(_Body):
    p256dh: Annotated[str, Field(max_length=100)]
    auth: Annotated[str, Field(max_length=50)]


class _Wanted(_Body):
    """A subscription, as browsers write it."""

    endpoint: Annotated[str, Field(max_length=LONGEST)]
    keys: _Keys


class _Looked(_Body):
    tab: Annotated[str, Field(max_length=64)]
    looked: bool


Body = TypeVar("Body", bound=_Body)


class PushRoute:
    """Answers the page's script."""

    def __init__(self, devices: Devices, notifications: Notifications, looks: Looks) -> None:
        self._devices = devices
        self._notifications = notifications
        self._looks = looks

    async def answer(self, asked: Asked) -> Answer:
        """Tell whether the browser is told, let it be told, or end that."""
        if asked.method == "POST":
            await self._keep(asked)
        elif asked.method == "DELETE":
            await self._devices.remove(asked.browser)
        else:
            device = await self._devices.find(asked.browser)
            facts = {"key": await self._notifications.public_key(), "endpoint": device.endpoint if device else ""}
            return Answer(json.dumps(facts).encode(), content_type="application/json")
        return Answer(b"", status=204)

    async def looked(self, asked: Asked) -> Answer:
        """Note whether a tab is looked at."""
        told = await _read(asked, _Looked)
        if asked.visitor is not None:
            self._looks.note(asked.visitor.principal, told.tab, is_looked_at=told.looked)
        return Answer(b"", status=204)

    async def _keep(self, asked: Asked) -> None:
        wanted = await _read(asked, _Wanted)
        keys, is_address = wanted.keys, self._notifications.reach.may_be(wanted.endpoint)
        if asked.visitor is None or not is_address or not sealing().is_fit(keys.p256dh, keys.auth):
            raise Refused(Answer(b"this is no subscription of a push service", status=400))
        language = language_of(asked.headers.get("Accept-Language", "").partition(",")[0], "en")
        principal = asked.visitor.principal
        await self._devices.keep(Device(asked.browser, principal, wanted.endpoint, keys.p256dh, keys.auth, language))


async def _read(asked: Asked, kind: type[Body]) -> Body:
    try:
        return kind.model_validate_json(await asked.body())
    except ValidationError as error:
        raise Refused(Answer(b"this cannot be read", status=400)) from error
