"""Files of the chats on disk, each in a folder named by a reference, which neither users nor models choose.

References begin with the mark of the visitor whose files they are; those of this machine's user have none.
"""

import asyncio
import re
import secrets
import shutil
from pathlib import Path

from aiohttp import BodyPartReader

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.files import delete_whole, mime_type_of

REFERENCE = re.compile(r"([0-9a-f]{16}_)?[0-9a-f]{32}(-[0-9]{1,2})?", re.ASCII)
"""The visitor's mark, a name, and the number of a file of a message."""
CHUNK = 256 * 1024


def is_of(reference: str, mark: str) -> bool:
    """Return True if a file belongs to the visitor with this mark."""
    owner, separator, _ = reference.rpartition("_")
    return owner + separator == mark


class TooLarge(ChannelError):
    def __init__(self, name: str, limit: int) -> None:
        super().__init__(f"{name} is larger than {limit // 1024 // 1024} MB, the limit here", permanent=True)


class Uploads:
    """Files below `folder`, which is created when first needed."""

    def __init__(self, folder: Path, max_size: int) -> None:
        self._folder = folder
        self._max_size = max_size

    async def receive(self, part: BodyPartReader, mark: str) -> Attachment:
        """Stream one part of a form to disk. Raises TooLarge and leaves nothing behind then."""
        name = Attachment(name=part.filename or "file").safe_name
        reference = mark + secrets.token_hex(16)
        path = self._folder / reference / name
        whole = False
        try:
            await asyncio.to_thread(path.parent.mkdir, parents=True, mode=0o700)
            size = await self._write(part, path)
            whole = True
        finally:
            if not whole:  # incomplete files are removed, also after a broken connection
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True))
        # The type that the client claims is not trusted.
        return Attachment(name=name, mime_type=mime_type_of(name), size=size, reference=reference)

    async def take(self, outgoing: Attachment, reference: str) -> None:
        """Copy an outgoing file, so that the page can fetch it even if the original disappears."""
        source = Path(outgoing.path)
        target = self._folder / reference / outgoing.safe_name
        try:
            await asyncio.to_thread(target.parent.mkdir, parents=True, mode=0o700, exist_ok=True)
            await asyncio.to_thread(shutil.copyfile, source, target)
        except OSError as error:
            raise ChannelError(f"cannot send {outgoing.safe_name}: {error.strerror}", permanent=True) from error

    async def find(self, reference: str) -> tuple[Path, Attachment] | None:
        """Return the path of a file by its reference, with its name, size and type."""
        if not REFERENCE.fullmatch(reference):
            return None
        path = await asyncio.to_thread(self._only_file, reference)
        if path is None:
            return None
        size = (await asyncio.to_thread(path.stat)).st_size
        return path, Attachment(name=path.name, mime_type=mime_type_of(path.name), size=size, reference=reference)

    async def delete(self, reference: str) -> None:
        """Delete one file, if it is there."""
        if REFERENCE.fullmatch(reference):
            await asyncio.to_thread(shutil.rmtree, self._folder / reference, ignore_errors=True)

    async def delete_all(self, mark: str) -> None:
        """Delete all files of a visitor. Raises OSError."""
        await asyncio.to_thread(self._delete, mark)

    def _delete(self, mark: str) -> None:
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if is_of(folder.name, mark):
                delete_whole(folder)

    def _only_file(self, reference: str) -> Path | None:
        folder = self._folder / reference
        return next((each for each in folder.iterdir() if each.is_file()), None) if folder.is_dir() else None

    async def _write(self, part: BodyPartReader, path: Path) -> int:
        size = 0
        file = await asyncio.to_thread(path.open, "xb")
        try:
            while chunk := await part.read_chunk(CHUNK):
                size += len(chunk)
                if size > self._max_size:
                    raise TooLarge(path.name, self._max_size)
                await asyncio.to_thread(file.write, chunk)
        finally:
            await asyncio.to_thread(file.close)
        return size
