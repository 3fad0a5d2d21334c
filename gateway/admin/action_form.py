"""The form of an action on the admin pages: a command, its arguments, a chat, and files."""

from aiohttp import BodyPartReader, web
from multidict import MultiDict

from channels.attachments import Attachment
from channels.web.attachments import TooLarge, Uploads
from channels.web.requests import visitor_of
from gateway.admin.desk import CommandRefused

LONGEST_LINE = 20_000
"""Characters of a command with its arguments."""
MOST_FIELDS = 50
MOST_FILES = 1


class Form:
    """The fields and files of one request. The files are on disk until they are deleted."""

    def __init__(self) -> None:
        self.fields: MultiDict[str] = MultiDict()
        self.files: list[Attachment] = []

    async def read(self, request: web.Request, uploads: Uploads) -> None:
        """Read a form of a visitor. Raises CommandRefused."""
        if request.content_type != "multipart/form-data":
            posted = await request.post()
            self.fields.extend((name, value) for name, value in posted.items() if isinstance(value, str))
            return
        try:
            async for part in await request.multipart():
                if not isinstance(part, BodyPartReader) or len(self.fields) == MOST_FIELDS:
                    raise CommandRefused("page_no_command")
                if part.filename:
                    await self._take(part, uploads, visitor_of(request).mark)
                else:
                    self.fields.add(part.name or "", await _text(part))
        except TooLarge as error:
            raise CommandRefused("page_file_too_large") from error
        except ValueError as error:
            raise CommandRefused("page_no_command") from error

    @property
    def line(self) -> str:
        """Return the command that the form says: its beginning, then all inputs. Raises CommandRefused."""
        words = [each.strip() for each in (self.fields.get("command", ""), *self.fields.getall("arguments", []))]
        line = " ".join(filter(None, words))
        if len(line) > LONGEST_LINE:
            raise CommandRefused("page_too_long")
        return line

    async def _take(self, part: BodyPartReader, uploads: Uploads, mark: str) -> None:
        if len(self.files) == MOST_FILES:
            raise CommandRefused("page_one_file")
        self.files.append(await uploads.receive(part, mark))


async def _text(part: BodyPartReader) -> str:
    """Return the value of a field. Raises CommandRefused if it is too long, and ValueError if it is no text."""
    found = bytearray()
    while chunk := await part.read_chunk():
        found += chunk
        if len(found) > 4 * LONGEST_LINE:
            raise CommandRefused("page_too_long")
    return found.decode("utf-8")
