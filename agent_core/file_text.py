"""The text of a file, and how it was read."""

import re
from dataclasses import dataclass

SAMPLE = 64 * 1024
"""Bytes by which it is judged whether a file is text."""
BROKEN = "\N{REPLACEMENT CHARACTER}"
CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
MOST_CONTROLS = 0.01
"""The largest share of control characters in a text."""
LABELS = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
    "iso8859_2": "ISO-8859-2",
    "cp1251": "Windows-1251",
    "gb18030": "GB18030",
    "big5hkscs": "Big5",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "euc_jp": "EUC-JP",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "koi8_r": "KOI8-R",
    "koi8_u": "KOI8-U",
    "iso8859_5": "ISO-8859-5",
    "cp866": "CP866",
    "cp874": "CP874",
    "cp850": "CP850",
    "cp437": "CP437",
    "cp852": "CP852",
    "cp775": "CP775",
    "mac_roman": "Mac Roman",
    "mac_latin2": "Mac Latin2",
    "mac_cyrillic": "Mac Cyrillic",
    "cp037": "IBM037 (EBCDIC)",
    "cp273": "IBM273 (EBCDIC)",
    "cp500": "IBM500 (EBCDIC)",
    "cp1140": "IBM1140 (EBCDIC)",
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32 (big-endian)",
    "iso2022_jp": "ISO-2022-JP",
    "hz": "HZ",
    "utf_7": "UTF-7",
}
"""The name of each encoding for people."""


@dataclass(frozen=True)
class FileText:
    """The text of a file, and how it was read."""

    text: str
    """Without its byte order mark."""
    encoding: str = "utf-8"
    """The name that Python has for it."""
    mark: bytes = b""
    """The byte order mark."""
    is_guess: bool = False
    rival: str = ""
    """The name for people of an encoding that is nearly as likely."""
    broken: int = 0
    """Characters that could not be read."""
    line_break: str = "\n"
    """The end of a line in the file."""

    @property
    def note(self) -> str:
        """Return what is uncertain about the text; empty if its bytes say how to read them."""
        rival = f" ({self.rival} is nearly as likely)" if self.rival else ""
        how = [f"read as {LABELS[self.encoding]}, which is a guess{rival}"] if self.is_guess else []
        if self.broken:
            how.append(f"{self.broken} broken {'character' if self.broken == 1 else 'characters'} shown as {BROKEN}")
        return "; ".join(how)

    def back(self, text: str) -> bytes:
        """Return another text as this file would have it. Raises UnicodeEncodeError."""
        return self.mark + text.replace("\n", self.line_break).encode(self.encoding)


def strictly(content: bytes, encoding: str) -> FileText | None:
    """Return a text in an encoding; None if some of it cannot be read."""
    try:
        return FileText(content.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def read_as(content: bytes, encoding: str, mark: bytes = b"") -> FileText:
    """Return a text in an encoding, perhaps with broken characters."""
    if (found := strictly(content, encoding)) is not None:
        return FileText(found.text, encoding, mark)
    text = content.decode(encoding, "replace")
    return FileText(text, encoding, mark, broken=text.count(BROKEN))
