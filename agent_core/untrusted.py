"""Marking of untrusted input, so that a model can tell it from what users ask.

A mark is no protection: a model may follow instructions inside it all the same. Permissions limit what that can do.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence

from agent_core.late_pattern import LatePattern
from agent_core.messages import (
    AgentMessage,
    Derived,
    NotificationMessage,
    TextContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from agent_core.origin import Origin, joined

MOST_WORDS = 3
"""Words of a name that a model reads."""
LONGEST_WORD = 20
LONGEST_WIDE = 8
"""Letters of a word, and of one in a script without spaces between words."""
SOMEBODY = "somebody"
"""Stands for a sender whose name has no letters."""

_MARK = "<untrusted {0}>\n{1}\n</untrusted {0}>"
_MARKED = LatePattern(r"<untrusted ([0-9a-f]{8})>\n(.*)\n</untrusted \1>", re.DOTALL)

_OURS = "context|notification|untrusted"
_THEIRS = (
    "system-reminder|function_calls?|function_results?|invoke|tool_calls?|tool_responses?|tool_results?"
    "|start_of_turn|end_of_turn|bos|eos|s|think"
)
_TAG = LatePattern(
    rf"<(?=/?(?:[a-z]+:)?(?:{_OURS}|{_THEIRS})[\s/>]"
    r"|<\s{0,9}/?\s{0,9}SYS\s{0,9}>"  # bounded: an unbounded search takes minutes on many spaces
    "|[|\uff5c](?![\\s|>]))",  # operators of programming languages continue like that
    re.IGNORECASE,
)
"""Control tokens and tags of model chat templates; tags of HTML and of configuration files are left alone."""
_BRACKET = LatePattern(r"\[(?=/?(?:INST|SYS|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])", re.IGNORECASE)
_UNSEEN = LatePattern(
    "[\U000e0000-\U000e007f"  # tags: invisible letters
    "\u202a-\u202e\u2066-\u2069"  # change the text direction
    "\u200b\u2060-\u2064\u206a-\u206f\u180e\ufeff\ufff9-\ufffb"  # zero width, and of no use here
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_JOINERS = LatePattern("(?:(?!\ufe0f\u200d)[\u200c-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]){2,}")
"""Languages and emoji need one of these at a time; a series can encode hidden text."""
_BREAKS = LatePattern(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_WIDE = LatePattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_JOINTS = frozenset("'\u2019-_\u00b7\u30fb")
"""Signs inside a word of a name."""


def origin_of(messages: Iterable[AgentMessage]) -> Origin:
    """Return the origin of a conversation, for as long as the model can read it, and of anything made from it."""
    return joined(message.origin for message in messages if isinstance(message, Derived))


def marked(text: str, boundary: str) -> str:
    """Return the text as data between marks. `boundary` is any text that its author cannot choose."""
    content = harmless(text)
    name = hashlib.sha256(f"{boundary}\0{content}".encode()).hexdigest()[:8]
    return _MARK.format(name, content)


def bare(text: str) -> str:
    """Return the text between the marks; a text without marks is returned as it is."""
    found = _MARKED.fullmatch(text)
    return found[2] if found else text


def harmless(text: str) -> str:
    """Return the text without control tokens of models and without invisible characters."""
    if not text.isascii():
        text = _JOINERS.sub("", _UNSEEN.sub("", text))
    elif not text.isprintable():
        text = _UNSEEN.sub("", text)
    return _BRACKET.sub("\u27e6", _TAG.sub("\u2039", text))


def inside(text: str, tag: str) -> str:
    """Return the text so that it cannot close such a tag."""
    return re.sub(rf"<(?=\s{{0,9}}/\s{{0,9}}{tag}\b)", "\u2039", text, flags=re.IGNORECASE)


def name_of(speaker: str) -> str:
    """Return a sender's name as models read it: at most three words, up to the first sign; "" if there is no letter.

    Others can set a name, as moderators of a server do. So it must not tell a model more than a name does: an address,
    say.
    """
    text = harmless(unicodedata.normalize("NFKC", _BREAKS.sub(" ", speaker)))
    begin = next((at for at, char in enumerate(text) if char.isalnum()), len(text))
    told: list[str] = []
    for word in text[begin:].split()[:MOST_WORDS]:
        told.append(_up_to_a_sign(word))
        if told[-1] != word:
            break
    return " ".join(filter(None, told))


def _up_to_a_sign(word: str) -> str:
    """Return the beginning of a word of a name; an initial keeps its dot."""
    if word.endswith(".") and word[:-1].isalpha():
        return word[: LONGEST_WORD + 1]
    most = LONGEST_WIDE if _WIDE.search(word) else LONGEST_WORD
    signs = (
        at for at, char in enumerate(word[:most]) if not (unicodedata.category(char)[0] in "LMN" or char in _JOINTS)
    )
    return word[: next(signs, most)].rstrip("'\u2019-")


def shown(message: UserMessage | ToolResultMessage) -> UserMessage | ToolResultMessage:
    """Return the message as sent to a model: text of others in it is marked."""
    if isinstance(message, UserMessage):
        changed: dict[str, object] = {"source": name_of(message.source) or SOMEBODY} if message.source else {}
        if message.origin.is_data and message.context:
            changed["context"] = marked(message.context, message.id)
    else:
        changed = {"content": _marked_parts(message.content, message.id)} if message.origin.is_data else {}
    return message.model_copy(update=changed) if changed else message


def passed_on(message: NotificationMessage) -> str:
    """Return a notification's text as sent to a model; what it quotes is delimited."""
    quoted = marked(message.quoted, message.id) if message.origin.is_data else harmless(message.quoted)
    return f"{message.text}\n{quoted}" if quoted else message.text


def _marked_parts(content: Sequence[UserContent], boundary: str) -> tuple[UserContent, ...]:
    return tuple(
        TextContent(text=marked(part.text, boundary)) if isinstance(part, TextContent) else part for part in content
    )
