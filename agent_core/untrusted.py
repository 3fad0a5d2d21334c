"""Marking what strangers may have written, so that a model can tell it from what people ask of it.

A mark is no lock: a model may follow what stands in it all the same, and what that may lead to is decided elsewhere.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

from agent_core.messages import (
    AgentMessage,
    NotificationMessage,
    SummaryMessage,
    TextContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)

LONGEST_NAME = 60
"""Characters of a speaker's name."""

_MARK = "<untrusted {0}>\n{1}\n</untrusted {0}>"
_MARKED = re.compile(r"<untrusted ([0-9a-f]{8})>\n(.*)\n</untrusted \1>", re.DOTALL)

_OURS = "context|notification|untrusted"
_THEIRS = (
    "system-reminder|function_calls?|function_results?|invoke|tool_calls?|tool_responses?|tool_results?"
    "|start_of_turn|end_of_turn|bos|eos|s|think"
)
_TAG = re.compile(
    rf"<(?=/?(?:[a-z]+:)?(?:{_OURS}|{_THEIRS})[\s/>]"
    r"|<\s{0,9}/?\s{0,9}SYS\s{0,9}>"  # not any number of spaces: looking for the end of many takes minutes
    "|[|\uff5c](?![\\s|>]))",  # operators of languages go on like that
    re.IGNORECASE,
)
"""What opens or closes something in a model's own language; tags of HTML and of configurations stay as they are."""
_BRACKET = re.compile(r"\[(?=/?(?:INST|SYS|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\U000e0000-\U000e007f"  # tags: letters that nobody sees
    "\u202a-\u202e\u2066-\u2069"  # what turns the direction of a line
    "\u200b\u2060-\u2064\u206a-\u206f\u180e\ufeff\ufff9-\ufffb"  # widthless, and of no use here
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_JOINERS = re.compile("(?:(?!\ufe0f\u200d)[\u200c-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]){2,}")
"""Languages and emoji need one of these at a time; many can spell something."""
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_COLONS = str.maketrans(":\uff1a", "  ")


def is_tainted(messages: Iterable[AgentMessage]) -> bool:
    """Whether words of strangers stand in the conversation: they work for as long as the model can read them."""
    return any(
        isinstance(message, UserMessage | ToolResultMessage | SummaryMessage | NotificationMessage)
        and message.untrusted
        for message in messages
    )


def marked(text: str, boundary: str) -> str:
    """The text as data, between marks of its own. `boundary` is anything that the text's writer cannot choose."""
    content = harmless(text)
    name = hashlib.sha256(f"{boundary}\0{content}".encode()).hexdigest()[:8]
    return _MARK.format(name, content)


def bare(text: str) -> str:
    """What stands between the marks; a text without them as it is."""
    found = _MARKED.fullmatch(text)
    return found[2] if found else text


def harmless(text: str) -> str:
    """Without what a model may take for its own language, and without what people do not see."""
    if not text.isascii():
        text = _JOINERS.sub("", _UNSEEN.sub("", text))
    elif not text.isprintable():
        text = _UNSEEN.sub("", text)
    return _BRACKET.sub("\u27e6", _TAG.sub("\u2039", text))


def inside(text: str, tag: str) -> str:
    """The text for a place between such tags, which nothing in it ends."""
    return re.sub(rf"<(?=\s{{0,9}}/\s{{0,9}}{tag}\b)", "\u2039", text, flags=re.IGNORECASE)


def name_of(speaker: str) -> str:
    """A person's name for the start of a line: it neither leaves the line nor ends before its end."""
    return harmless(_BREAKS.sub(" ", speaker)).translate(_COLONS).strip()[:LONGEST_NAME]


def shown(message: UserMessage | ToolResultMessage) -> UserMessage | ToolResultMessage:
    """The message as a model gets it: what others wrote in it is marked."""
    if isinstance(message, UserMessage):
        changed: dict[str, object] = {"source": name_of(message.source)} if message.source else {}
        if message.untrusted and message.context:
            changed["context"] = marked(message.context, message.id)
    else:
        changed = {"content": _marked_parts(message.content, message.id)} if message.untrusted else {}
    return message.model_copy(update=changed) if changed else message


def passed_on(message: NotificationMessage) -> str:
    """A notification's words as a model gets them; what it quotes ends where it ends."""
    quoted = marked(message.quoted, message.id) if message.untrusted else harmless(message.quoted)
    return f"{message.text}\n{quoted}" if quoted else message.text


def _marked_parts(content: Sequence[UserContent], boundary: str) -> tuple[UserContent, ...]:
    return tuple(
        TextContent(text=marked(part.text, boundary)) if isinstance(part, TextContent) else part for part in content
    )
