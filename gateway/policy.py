"""What a call may do: by what it does at worst, for whom, and whether strangers had a word in the conversation.

The model is never asked: whatever it was talked into, the same rows hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from agent_core.messages import AgentMessage, NotificationMessage, SummaryMessage, ToolResultMessage, UserMessage
from agent_core.permissions import Proposal
from agent_core.tools import Acts, FunctionTool
from agent_core.untrusted import is_tainted
from gateway.addresses import FETCH, SEARCH, WEB, is_given

Word = Literal["allow", "ask", "deny"]
Row = Mapping[Acts, Word]

CLASSES: tuple[Acts, ...] = get_args(Acts)
WORDS: tuple[Word, ...] = get_args(Word)
"""From the loosest to the strictest."""

OWNER: Row = {"read": "allow", "write": "allow", "net": "allow", "exec": "ask", "admin": "allow"}
USER: Row = {**OWNER, "admin": "deny"}
AFTER_STRANGERS = "after_strangers"
"""The reason of a ruling that is stricter than it would be among people alone."""
TAINTED: Row = {"net": "ask", "exec": "ask", "admin": "ask"}
_DOES: Mapping[Acts, str] = {
    "read": "acts_read",
    "write": "acts_write",
    "net": "acts_net",
    "exec": "acts_exec",
    "admin": "acts_admin",
}


class Role(StrEnum):
    OWNER = "owner"
    USER = "user"


@dataclass(frozen=True)
class Ruling:
    """What holds for a call, and why."""

    behavior: Word
    reason: tuple[str, ...] = ()
    """Keys of `gateway.texts`, a sentence each, none with facts; empty where it is allowed."""


def _row(defaults: Row, words: Sequence[Word], value: object) -> Row:
    """The defaults with what a person set over them. Raises ValueError, with the words for it."""
    if isinstance(value, str):
        entries = (each.partition("=") for each in value.split(",") if each.strip())
        value = {name.strip(): word.strip() for name, _, word in entries}
    row = dict(defaults)
    for name, word in value.items() if isinstance(value, Mapping) else [(str(value), "")]:
        if name not in CLASSES:
            raise ValueError(f"must be written as in exec=ask, for {', '.join(CLASSES)}; {name!r} is none of these")
        known = next((each for each in words if each == word), None)
        if known is None:
            raise ValueError(f"must set {name} to {_or(words)}, and not to {word!r}")
        row[name] = known
    return row


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]])


def _owner_row(value: object) -> Row:
    return _row(OWNER, WORDS, value)


def _user_row(value: object) -> Row:
    return _row(USER, WORDS, value)


def _tainted_row(value: object) -> Row:
    return _row(TAINTED, WORDS[1:], value)


class PermissionSettings(BaseModel):
    """What calls of tools may do: allow, ask or deny for each of read, write, net, exec and admin."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    owner: Annotated[Row, BeforeValidator(_owner_row)] = OWNER
    """What holds for owners: allow, ask or deny for read (looks at files), write (changes files), net (sends to other
    machines), exec (runs programs) and admin (changes schedules, skills, settings). What is left out stays as it is."""
    user: Annotated[Row, BeforeValidator(_user_row)] = USER
    """What holds for everybody else who may talk to it."""
    tainted: Annotated[Row, BeforeValidator(_tainted_row)] = TAINTED
    """What holds at least where strangers may have written in what the model has read: ask or deny."""


class Policy:
    """Decides about calls. The same call in the same conversation is always decided the same."""

    def __init__(self, settings: PermissionSettings | None = None, *, strangers_describe_tools: bool = False) -> None:
        """`strangers_describe_tools`: some tools' descriptions, which the model reads in each request, come from
        others' servers; then every conversation counts as one in which strangers speak."""
        settings = settings or PermissionSettings()
        self._rows = {Role.OWNER: settings.owner, Role.USER: settings.user}
        self._tainted = settings.tainted
        self._always_tainted = strangers_describe_tools

    def decide(self, proposal: Proposal, role: Role) -> Ruling:
        acts = proposal.tool.acts
        word = self._rows[role][acts]
        tainted = self._always_tainted or is_tainted(proposal.messages)
        least = self._tainted.get(acts, "allow") if tainted else "allow"
        if WORDS.index(least) <= WORDS.index(word):
            return _ruling(word, acts)
        if least == "ask" and acts == "net" and _carries_nothing(proposal):
            return _ruling(word, acts)
        return _ruling(least, acts, AFTER_STRANGERS)


def _ruling(word: Word, acts: Acts, *why: str) -> Ruling:
    if word == "allow":
        return Ruling(word)
    return Ruling(word, (_DOES[acts], *why, *(["not_allowed"] if word == "deny" else [])))


def _carries_nothing(proposal: Proposal) -> bool:
    """Whether a call that sends can carry out nothing that a stranger could have asked for.

    An address that was given, letter by letter, was not made up out of what the model knows. But which of a page's
    links is followed says something too (a page may bring one for each letter), so links count only where nothing
    but the web has spoken, and words for the search, which goes where the owner chose, too.
    """
    call, messages = proposal.call, proposal.messages
    if not isinstance(proposal.tool, FunctionTool):
        return False  # somebody else's, under the name of ours
    if call.name == SEARCH:
        return _only_web_speaks(messages)
    url = call.arguments.get("url")
    return call.name == FETCH and isinstance(url, str) and is_given(url, messages, links=_only_web_speaks(messages))


def _only_web_speaks(messages: Sequence[AgentMessage]) -> bool:
    """Whether all that strangers may have written was fetched or found, so that files and notes were not read. Where
    they had a word in what a summary stands for, nobody knows any more who they were."""
    for message in messages:
        if isinstance(message, SummaryMessage) and message.untrusted:
            return False
        if isinstance(message, UserMessage | NotificationMessage) and message.untrusted:
            return False
        if isinstance(message, ToolResultMessage) and message.untrusted and message.tool_name not in WEB:
            return False
    return True
