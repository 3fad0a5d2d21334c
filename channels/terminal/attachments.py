"""Files that a line refers to, as in `@~/data/sales.csv`. Dropping a file onto a terminal enters its name."""

import re
from collections.abc import Iterator
from pathlib import Path

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.files import MIB, FileRefused, mime_type_of

LARGEST = 50 * MIB
_NAMED = re.compile(r"""(?<!\S)@(?:"([^"]+)"|'([^']+)'|((?:\\.|\S)+))""")
_BEHIND = ".,;:!?)]}…，。；：！？"
"""Punctuation that may follow a file name."""


def named_files(line: str) -> tuple[str, tuple[Attachment, ...]]:
    """Replace each `@path` of an existing file by its plain name; return the line and the files. Other uses of `@`
    stay."""
    found: list[Attachment] = []

    def name(match: re.Match[str]) -> str:
        for path, rest in _readings(match):
            if _is_there(path):
                found.append(_attachment(path))
                return f"{found[-1].safe_name}{rest}"
        return match[0]

    return _NAMED.sub(name, line), tuple(found)


def read_file(attachment: Attachment) -> bytes:
    """Read the file in its current state. Raises ChannelError."""
    try:
        with Path(attachment.reference).open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        reason = f"{attachment.safe_name} cannot be read: {error.strerror}"
        is_gone = isinstance(error, FileNotFoundError)
        raise (FileRefused(reason, "gone") if is_gone else ChannelError(reason, permanent=True)) from error
    if len(content) > LARGEST:
        reason = f"{attachment.safe_name} is larger than {LARGEST // MIB} MB"
        raise FileRefused(reason, "too_large", limit=LARGEST)
    return content


def _readings(match: re.Match[str]) -> Iterator[tuple[Path, str]]:
    """Yield the possible paths, each with the text that follows it."""
    quoted = match[1] or match[2]
    if quoted:
        yield _path(quoted), ""
        return
    bare = re.sub(r"\\(.)", r"\1", match[3])
    yield _path(bare), ""
    short = bare.rstrip(_BEHIND)
    if short and short != bare:
        yield _path(short), bare[len(short) :]


def _path(text: str) -> Path:
    """Return an absolute path; `~` of an unknown user is not expanded."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        return Path(text).absolute()


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # an invalid name, or a folder without access
        return False


def _attachment(path: Path) -> Attachment:
    return Attachment(name=path.name, mime_type=mime_type_of(path.name), size=path.stat().st_size, reference=str(path))
