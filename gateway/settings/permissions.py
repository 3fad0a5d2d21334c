"""Settings of what tool calls may do."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from agent_core.tools.tool import Acts

Word = Literal["allow", "ask", "deny"]
Class = Acts | Literal["sandboxed"]
Row = Mapping[Class, Word]

CLASSES: tuple[Acts, ...] = get_args(Acts)
NAMES: tuple[Class, ...] = (*CLASSES, "sandboxed")
WORDS: tuple[Word, ...] = get_args(Word)
"""From loosest to strictest."""

OWNER: Row = {
    "read": "allow",
    "write": "allow",
    "net": "allow",
    "exec": "ask",
    "sandboxed": "allow",
    "admin": "allow",
}
ADMIN: Row = {**OWNER, "sandboxed": "ask"}
USER: Row = {**OWNER, "sandboxed": "ask", "admin": "deny"}
GUEST: Row = {
    "read": "allow",
    "write": "deny",
    "net": "ask",
    "exec": "deny",
    "sandboxed": "deny",
    "admin": "deny",
}
TAINTED: Row = {"net": "ask", "exec": "ask", "sandboxed": "ask", "admin": "ask"}


def _row(defaults: Row, words: Sequence[Word], value: object) -> Row:
    """Return the defaults with a setting's changes. Raises ValueError with a message for the user."""
    if isinstance(value, str):
        entries = (each.partition("=") for each in value.split(",") if each.strip())
        value = {name.strip(): word.strip() for name, _, word in entries}
    row = dict(defaults)
    given = dict(value) if isinstance(value, Mapping) else {str(value): ""}
    if "exec" in given:  # a word for programs applies to sandboxed ones too, unless they have their own
        given.setdefault("sandboxed", given["exec"])
    for name, word in given.items():
        if name not in NAMES:
            raise ValueError(f"must be written as in exec=ask, for {', '.join(NAMES)}; {name!r} is none of these")
        known = next((each for each in words if each == word), None)
        if known is None:
            raise ValueError(f"must set {name} to {_or(words)}, and not to {word!r}")
        row[name] = known
    return row


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _owner_row(value: object) -> Row:
    return _row(OWNER, WORDS, value)


def _admin_row(value: object) -> Row:
    return _row(ADMIN, WORDS, value)


def _user_row(value: object) -> Row:
    return _row(USER, WORDS, value)


def _guest_row(value: object) -> Row:
    row = _row(GUEST, WORDS, value)
    loose = [name for name in TAINTED if row[name] == "allow"]
    if loose:  # a row that says so would not be honoured
        raise ValueError(f"must set {_or(loose)} to ask or deny, as what guests write counts as untrusted input")
    return row


def _tainted_row(value: object) -> Row:
    return _row(TAINTED, WORDS[1:], value)


class PermissionSettings(BaseModel):
    """Permissions of tool calls: allow, ask or deny for each of read, write, net, exec and admin."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    owner: Annotated[Row, BeforeValidator(_owner_row)] = OWNER
    """Rules for owners: allow, ask or deny for read (looks at files), write (changes files), net (sends to other
    machines), exec (runs programs), sandboxed (runs commands, or scripts of skills that ship with Parley, in the
    sandbox without network; follows exec if only that is set) and admin (changes schedules, skills, settings). What is
    left out keeps its default."""
    admin: Annotated[Row, BeforeValidator(_admin_row)] = ADMIN
    """Rules for admins."""
    user: Annotated[Row, BeforeValidator(_user_row)] = USER
    """Rules for members: those in `allow`, and those let in as members in a chat."""
    guest: Annotated[Row, BeforeValidator(_guest_row)] = GUEST
    """Rules for guests. What they write is untrusted input, so net, exec, sandboxed and admin can be ask or deny."""
    tainted: Annotated[Row, BeforeValidator(_tainted_row)] = TAINTED
    """Stricter rules while a conversation contains untrusted input, such as a page: ask or deny."""
