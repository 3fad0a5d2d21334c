"""Entries of the audit file, and the codes that chain them.

The code of an entry is an HMAC over the code of the entry before it, the time, the status and a salted digest of the
rest. So the rest can be erased and the chain still holds; an erased entry carries a code of its own that says so.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping

from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

GAP = "gap"
"""Status of an entry that stands for entries that were never written: `lost` of them, if the number is known."""
SALT_BYTES = 16

Fact = str | int | None
Content = Mapping[str, Fact]

_line = TypeAdapter(dict[str, Fact])
_CHAIN = frozenset({"at", "status", "salt", "digest", "erased", "code"})
"""Fields that are not part of the content."""


class Entry(Struct, frozen=True):
    """A line of the audit file."""

    at: str
    status: str
    content: Content | None
    """None once it was erased."""
    salt: str
    digest: str
    code: str
    erased: str = ""
    """The code that vouches for the erasure."""

    def follows(self, key: bytes, previous: str) -> bool:
        """Return True if its code, and that of its erasure, are right for the entry before it."""
        code = _code(key, previous, self.at, self.status, self.digest)
        erased = self.content is not None or _same(self.erased, _erased(key, self.code))
        return _same(self.code, code) and erased

    def without_content(self, key: bytes) -> "Entry":
        return Entry(self.at, self.status, None, "", self.digest, self.code, _erased(key, self.code))

    def line(self) -> str:
        """Return the line, including its end."""
        if self.content is None:
            whole: dict[str, Fact] = {"erased": self.erased, "digest": self.digest}
        else:
            whole = {**self.content, "salt": self.salt}
        return _json({"at": self.at, "status": self.status, **whole, "code": self.code})


def first_code(key: bytes, day: str) -> str:
    """Return the code that the first entry of a day follows."""
    return _hmac(key, f"day {day}")


def sealed(key: bytes, previous: str, at: str, status: str, content: Content) -> Entry:
    """Return a new entry that follows the one with the code `previous`."""
    content = _line.validate_json(_json(content).encode("utf-8", "replace"))  # as it will be read
    salt = secrets.token_hex(SALT_BYTES)
    digest = _digest(salt, content)
    return Entry(at, status, content, salt, digest, _code(key, previous, at, status, digest))


def read_entry(line: bytes) -> Entry | None:
    """Return the entry of a line; None if the line is no entry exactly as it is written."""
    try:
        fields = _line.validate_json(line, strict=True)
    except ValidationError:
        return None
    at, status, code = (str(fields.get(name)) for name in ("at", "status", "code"))
    if "erased" in fields:
        entry = Entry(at, status, None, "", str(fields.get("digest")), code, str(fields["erased"]))
    else:
        salt = str(fields.get("salt"))
        content = {name: value for name, value in fields.items() if name not in _CHAIN}
        entry = Entry(at, status, content, salt, _digest(salt, content), code)
    return entry if entry.line().encode() == line + b"\n" else None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _json(value: Content) -> str:
    return f"{json.dumps(value, ensure_ascii=False)}\n"


def _digest(salt: str, content: Content) -> str:
    return hashlib.sha256(f"{salt}{_json(content)}".encode()).hexdigest()


def _code(key: bytes, previous: str, at: str, status: str, digest: str) -> str:
    return _hmac(key, "\n".join((previous, at, status, digest)))


def _erased(key: bytes, code: str) -> str:
    return _hmac(key, f"erased {code}")


def _hmac(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()
