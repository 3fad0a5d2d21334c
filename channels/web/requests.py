"""Requests of the page: their visitors, and the bodies that it posts."""

import json
from typing import Annotated, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from channels.base import ChatKey
from channels.values import Text
from channels.web.listing import MAIN
from channels.web.visitor import Visitor

MAX_FILES = 20
"""Files per message."""
LONGEST_TEXT = 1_000_000
"""Characters of a message."""
ClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
"""Id that the page creates per request; a repeated request has the same id and counts once."""
Name = Annotated[str, Field(pattern=rf"^({MAIN}|[A-Za-z0-9-]{{8,64}})$")]
"""Name of a conversation, created by the page."""
_VISITOR = web.RequestKey("visitor", Visitor)


def let_in(request: web.Request, visitor: Visitor) -> None:
    """Record on a request that it comes from this visitor."""
    request[_VISITOR] = visitor


def visitor_of(request: web.Request) -> Visitor:
    """Return the visitor of a request that the server's access control has let in."""
    return request[_VISITOR]


class _Posted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    conversation: Name = MAIN


class Said(_Posted):
    """A message, or a new text of one that was sent."""

    id: ClientId
    text: Text
    files: Annotated[tuple[str, ...], Field(max_length=MAX_FILES)] = ()
    """References returned by the upload."""
    instead_of: Annotated[str, Field(max_length=64)] = ""
    """Id of the message that this text replaces."""


class Pressed(_Posted):
    id: ClientId
    message_id: Annotated[str, Field(max_length=64)]
    action: Annotated[Text, Field(max_length=64)]


class Changed(_Posted):
    """A change of a conversation in the list."""

    title: Annotated[Text, Field(max_length=10_000)] | None = None
    pinned: bool | None = None
    seen: bool | None = None
    deleted: bool | None = None


class Asked(_Posted):
    """An argument of a command that is being typed."""

    command: Annotated[str, Field(max_length=64)]
    option: Annotated[str, Field(max_length=64)]
    text: Annotated[Text, Field(max_length=1000)] = ""
    before: Annotated[Text, Field(max_length=1000)] = ""


Body = TypeVar("Body", bound=_Posted)


async def read(request: web.Request, kind: type[Body]) -> Body:
    """Parse a request. Raises web.HTTPException with a sentence if it is invalid."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="only JSON is accepted")
    try:  # pydantic's JSON parser rejects lone surrogates, which a browser may send
        content = json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise web.HTTPBadRequest(text="the request cannot be read: no JSON") from error
    except web.HTTPRequestEntityTooLarge as error:
        raise web.HTTPRequestEntityTooLarge(
            LONGEST_TEXT, text="this text is too long for one message: send it as a file"
        ) from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        fields = sorted({str(each["loc"][0]) if each["loc"] else "body" for each in error.errors()})
        raise web.HTTPBadRequest(text=f"the request cannot be read: {', '.join(fields)}") from error


def chat_of(request: web.Request, name: str) -> ChatKey:
    """Return the visitor's conversation with this name."""
    return visitor_of(request).chat(None if name == MAIN else name)


def asked_chat(request: web.Request) -> ChatKey:
    """Return the conversation that a request without a body is about. Raises web.HTTPBadRequest."""
    name = request.query.get("conversation", MAIN)
    try:
        return chat_of(request, _Posted(conversation=name).conversation)
    except ValidationError as error:
        raise web.HTTPBadRequest(text="there is no such conversation") from error
