"""Decides what a call may do, by its worst effect, the user's role, and untrusted input in the conversation.

The decision never depends on the model, so it holds whatever the model was talked into.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.loop.permissions import Proposal
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    NotificationMessage,
    SummaryMessage,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from agent_core.sources import Sources
from agent_core.tools.tool import Acts, FunctionTool
from agent_core.untrusted import origin_of
from gateway.permissions.addresses import FETCH, MOST_LINKS, SEARCH, WEB, is_given, link_of
from gateway.permissions.groups import TOOLS
from gateway.permissions.rights import Place, Right
from gateway.permissions.roles import Role
from gateway.settings.permissions import WORDS, Class, PermissionSettings, Row, Word

ShutIn = Callable[[Proposal], bool]
"""Returns True if a call that runs a program can touch nothing but its chat's files."""

AFTER_FILES = "after_files"
"""Reason of a ruling made stricter by files alone, which authorised users sent."""
LINKS = "covers_links"
AFTER_UNTRUSTED = "after_strangers"
"""Reason of a ruling made stricter by untrusted input."""
_OUTWARD = frozenset({"net", "admin"})
"""Effects that need approval even if the only untrusted input is a file sent by a user."""
_CHANGES_FILES: tuple[Class, ...] = ("write", "exec", "sandboxed")
_SAYS_NOTHING = WEB | {"clock", "calculator", "wait", "remember", "write_file", "send_file", "schedule"}
"""Tools whose results contain nothing private."""
_DOES: Mapping[Acts, str] = {
    "read": "acts_read",
    "write": "acts_write",
    "net": "acts_net",
    "exec": "acts_exec",
    "admin": "acts_admin",
}
FORGET, WRITE = "forget", "write_file"


class Ruling(Struct, frozen=True):
    """The decision about a call, with its reasons."""

    behavior: Word
    reason: tuple[str, ...] = ()
    """Keys of `gateway.texts.say`, one sentence each, which may name the sources; empty if the call is allowed."""
    sources: Sources = ()
    """Untrusted sources that may have prompted the call."""
    covers: str = ""
    """Name of a group of calls that an approval also covers: other links of the same page, for the same message."""
    setting: str = ""
    """Name of the setting that it follows, such as `owner.net`."""


class Policy:
    """Decides about calls. The same call in the same conversation is always decided the same."""

    def __init__(
        self,
        settings: PermissionSettings | None = None,
        *,
        shut_in: ShutIn | None = None,
    ) -> None:
        """`shut_in` recognises calls confined to their chat's files; None if no program is confined."""
        settings = settings or PermissionSettings()
        self._rows = {
            Role.OWNER: settings.owner,
            Role.ADMIN: settings.admin,
            Role.MEMBER: settings.user,
            Role.GUEST: settings.guest,
        }
        self._tainted = settings.tainted
        self._shut_in = shut_in

    def decide(self, proposal: Proposal, role: Role, limits: Row | None = None) -> Ruling:
        """Decide about a call; `limits` are the loosest words of the chat."""
        acts, messages = proposal.tool.acts, proposal.messages
        of = self._class(proposal)
        word = self._word(role, of, limits or {})
        origin = origin_of(messages)
        is_strict = origin.is_tainted or (acts in _OUTWARD and origin.is_data)
        least = self._tainted.get(of, "allow") if is_strict else "allow"
        if origin.is_tainted and least == "allow" and destroys(proposal):
            least = "ask"
        if WORDS.index(least) <= WORDS.index(word):
            return _ruling(word, acts)
        if least == "ask" and acts == "net" and _carries_nothing(proposal):
            return _ruling(word, acts)
        ruling = _ruling(least, acts, AFTER_UNTRUSTED if origin.is_tainted else AFTER_FILES)
        return replace(_with_links(ruling, proposal), sources=origin.sources)

    def permits(self, right: Right, role: Role, place: Place) -> bool:
        """Return True if people of a role may do in a place what they ask for themselves, by a command.

        The command is their approval, so only what the role's row denies is refused. Rows of owners are for what the
        model does: their own commands are never denied.
        """
        least = right.least(place)
        if least is None or not role.is_at_least(least):
            return False
        return right.acts == "talk" or role is Role.OWNER or self._rows[role][right.acts] != "deny"

    def weakest_writer(self, limits: Row) -> Role:
        """Return the least role of those who can have files changed, under the limits of a chat."""
        writers = [role for role in Role if any(self._word(role, of, limits) != "deny" for of in _CHANGES_FILES)]
        return writers[-1] if writers else Role.OWNER

    def setting(self, proposal: Proposal, role: Role, limits: Row | None = None) -> str:
        """Return the name of the setting that decides about the call while the input is trusted."""
        of, row = self._class(proposal), "user" if role is Role.MEMBER else role
        is_limited = WORDS.index((limits or {}).get(of, "allow")) > WORDS.index(self._rows[role][of])
        return f"{TOOLS}{of}" if is_limited else f"{row}.{of}"

    def is_tainted(self, proposal: Proposal) -> bool:
        """Return True if the conversation contains untrusted input."""
        return origin_of(proposal.messages).is_tainted

    def _word(self, role: Role, of: Class, limits: Row) -> Word:
        return max(self._rows[role][of], limits.get(of, "allow"), key=WORDS.index)

    def _class(self, proposal: Proposal) -> Class:
        acts = proposal.tool.acts
        is_shut_in = acts == "exec" and self._shut_in is not None and self._shut_in(proposal)
        return "sandboxed" if is_shut_in else acts


def _ruling(word: Word, acts: Acts, *why: str) -> Ruling:
    if word == "allow":
        return Ruling(word)
    return Ruling(word, (_DOES[acts], *why, *(["not_allowed"] if word == "deny" else [])))


def _carries_nothing(proposal: Proposal) -> bool:
    """Return True if a call that sends data can carry out nothing that untrusted input could have asked for.

    An address that a user gave, letter by letter, was not composed from what the model knows. But the choice among a
    page's links can encode something too (a page may offer one per letter). So at most two are followed per user
    message, and none if the model knows anything beyond that message. Search terms go to a service that the owner
    chose, but must not hold what files contain.
    """
    call, messages = proposal.call, proposal.messages
    if not isinstance(proposal.tool, FunctionTool):
        return False  # another tool under the name of ours
    if call.name == SEARCH:
        return not _has_read(messages)
    url = call.arguments.get("url")
    if call.name != FETCH or not isinstance(url, str):
        return False
    if is_given(url, messages):
        return True
    link = link_of(url, messages)
    return link is not None and link.choices <= MOST_LINKS and _knows_one_message_only(messages)


def _with_links(ruling: Ruling, proposal: Proposal) -> Ruling:
    """Let an approval of one link of a page cover all its links, for the same message."""
    url, by = proposal.call.arguments.get("url"), proposal.messages
    is_ours = proposal.call.name == FETCH and isinstance(proposal.tool, FunctionTool)
    link = link_of(url, by) if is_ours and isinstance(url, str) and ruling.behavior == "ask" else None
    asked = next((each.id for each in reversed(by) if isinstance(each, UserMessage)), "")
    if link is None:
        return ruling
    return replace(ruling, reason=(*ruling.reason, LINKS), covers=f"links {link.page} {asked}")


def _has_read(messages: Sequence[AgentMessage]) -> bool:
    """Return True if files, memory, history or program output may have been read.

    A summary with untrusted input counts, since its contents are no longer known.
    """
    return any(
        (isinstance(message, SummaryMessage | UserMessage | NotificationMessage) and message.origin.is_data)
        or (isinstance(message, ToolResultMessage) and message.tool_name not in _SAYS_NOTHING)
        for message in messages
    )


def _knows_one_message_only(messages: Sequence[AgentMessage]) -> bool:
    """Return True if the model knows only pages and a single user message: no earlier turn, memory or file."""
    said = [message for message in messages if isinstance(message, UserMessage)]
    others = any(isinstance(message, SummaryMessage | NotificationMessage) for message in messages)
    is_alone = len(said) == 1 and not (said[0].private or said[0].by_agent or said[0].origin.is_data)
    return is_alone and not others and not _has_read(messages)


def destroys(proposal: Proposal) -> bool:
    """Return True if the call forgets a fact or overwrites a file that this conversation did not create."""
    call = proposal.call
    if call.name == FORGET:
        return True
    path = call.arguments.get("path")
    if call.name != WRITE or not isinstance(path, str):
        return False
    try:
        is_there = os.path.lexists(proposal.workspace / path)
    except (OSError, ValueError):
        return False
    return is_there and os.path.normpath(path) not in _created(proposal)


def _created(proposal: Proposal) -> set[str]:
    """Return the paths of files that calls in this conversation have created."""
    new = {
        message.tool_call_id
        for message in proposal.messages
        if isinstance(message, ToolResultMessage) and message.tool_name == WRITE and _says_created(message)
    }
    return {
        os.path.normpath(str(call.arguments.get("path")))
        for message in proposal.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
        if call.id in new
    }


def _says_created(message: ToolResultMessage) -> bool:
    return not message.is_error and text_of(message.content).startswith("Created ")
