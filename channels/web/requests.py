"""Validation of the page's requests; a refusal is one sentence of plain text."""

import json
from typing import Annotated, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from channels.values import Text

MAX_FILES = 20
"""Files per message."""

ClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
"""Id that the page creates per request; a repeated request has the same id and counts once."""


class _Posted(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Posted):
    id: ClientId
    text: Text
    files: Annotated[tuple[str, ...], Field(max_length=MAX_FILES)] = ()
    """References returned by the upload."""


class Pressed(_Posted):
    id: ClientId
    message_id: Annotated[str, Field(max_length=64)]
    action: Annotated[Text, Field(max_length=64)]


Body = TypeVar("Body", Said, Pressed)


async def read(request: web.Request, kind: type[Body]) -> Body:
    """Parse a request. Raises web.HTTPException with a sentence if it is invalid."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="this takes JSON only")
    try:  # pydantic's JSON parser rejects lone surrogates, which a browser may send
        content = json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise web.HTTPBadRequest(text="this cannot be read: no JSON") from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        fields = sorted({str(each["loc"][0]) if each["loc"] else "body" for each in error.errors()})
        raise web.HTTPBadRequest(text=f"this cannot be read: {', '.join(fields)}") from error
