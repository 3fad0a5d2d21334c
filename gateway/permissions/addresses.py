"""Tells addresses that were given in a conversation from those that the model made up.

An address that the model composes can carry out whatever it has read; one that was given as a whole cannot.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TypeGuard
from urllib.parse import urlsplit

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, UserMessage, text_of
from agent_core.sources import UNKNOWN

FETCH = "web_fetch"
SEARCH = "web_search"
WEB = frozenset({FETCH, SEARCH})
"""Tools whose results contain links written by neither the model nor users."""
MOST_LINKS = 2
"""Links from pages that may be followed per user message: the choice among links can encode information."""

_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}]+", re.IGNORECASE)
_NAKED = re.compile(
    r"(?<![A-Za-z0-9_@/.-])(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?::\d{1,5})?(?:[/?][^\s<>\"'`|\\^{}]*)?", re.I
)
_TRAILING = ".,;:!?)]}*_~'\""
_NOT_ASCII = re.compile(r"[^\x21-\x7e]")
_GOES_ON = LatePattern(
    "[\u2018-\u201f\u2026\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
    "|(?<=[A-Za-z0-9])[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Signs that follow an address without a space: foreign punctuation, or the next word in a script without spaces."""
_CLOSING = {")": "(", "]": "[", "}": "{"}


class Link(Struct, frozen=True):
    """An address that a web result contained before the model mentioned it."""

    page: str
    """Id of the first result that contained it."""
    source: str
    """Source of that result."""
    choices: int
    """Number of such addresses requested since the last user message, including this one."""


def is_given(url: str, messages: Sequence[AgentMessage]) -> bool:
    """Return True if a user wrote exactly this address in the conversation.

    It is one address, not several: its end and its scheme are no matter of choice, since a choice could encode
    something. Without a scheme it is https.
    """
    wanted, is_plain = _key(url), _is_plain(url)
    said = (text_of(message.content) for message in messages if _is_from_person(message))
    return bool(wanted) and any(
        wanted == key and is_plain == _is_plain(address)
        for text in said
        if wanted.casefold() in text.casefold()
        for address in _whole_addresses(text)
        for key in (_key(address), _in_lower_case(_key(address)))
    )


def link_of(url: str, messages: Sequence[AgentMessage]) -> Link | None:
    """Return the link for this address, or None if no web result contained it before the model wrote it."""
    wanted = _key(url)
    page = _brought_by(wanted, messages) if wanted else None
    if page is None:
        return None
    chosen: dict[str, None] = {}
    for asked in _fetched(messages):
        if _key(asked) == wanted or not is_given(asked, messages):
            chosen.setdefault(_key(asked))
    chosen.setdefault(wanted)
    source = next(iter(page.origin.sources), UNKNOWN)
    return Link(page.id, source, list(chosen).index(wanted) + 1)


def given_in(text: str, messages: Sequence[AgentMessage]) -> tuple[str, ...]:
    """Return the addresses in a text that users wrote exactly so, with their schemes, for `is_one_of`."""
    said = (text_of(message.content) for message in messages if _is_from_person(message))
    known = {_whole(address) for each in said for address in _whole_addresses(each)}
    found = dict.fromkeys(map(_whole, _whole_addresses(text)))
    return tuple(each for each in found if each in known)


def stay_in(given: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those of the given addresses that a text has."""
    found = {_whole(address) for address in _whole_addresses(text)}
    return tuple(each for each in given if each in found or each in {_without_scheme(whole) for whole in found})


def is_one_of(url: str, given: Collection[str]) -> bool:
    """Return True for one of the given addresses; those that earlier versions stored have no scheme."""
    whole = _whole(url)
    return whole in given or _without_scheme(whole) in given


def _whole(address: str) -> str:
    """Return an address as it is asked for: with its scheme, which is https if it names none, and its host in lower
    case."""
    return f"http{'' if _is_plain(address) else 's'}://{_in_lower_case(_key(address))}"


def _without_scheme(whole: str) -> str:
    return whole.partition("://")[2]


def _brought_by(wanted: str, messages: Sequence[AgentMessage]) -> ToolResultMessage | None:
    for message in messages:
        if isinstance(message, AssistantMessage) and _stands_in(_written(message), wanted, _URL, _NAKED):
            return None  # the model wrote it first, so a page repeating it proves nothing
        if isinstance(message, ToolResultMessage) and _stands_in(_brought(message), wanted, _URL):
            return message
    return None


def _fetched(messages: Sequence[AgentMessage]) -> Iterator[str]:
    """Yield the addresses that the model requested since the last user message, including its latest answer."""
    found: list[str] = []
    for message in messages:
        if _is_from_person(message):
            found = []
        elif isinstance(message, AssistantMessage):
            found += [str(call.arguments.get("url", "")) for call in message.tool_calls if call.name == FETCH]
    yield from found


def _is_from_person(message: AgentMessage) -> TypeGuard[UserMessage]:
    return isinstance(message, UserMessage) and message.is_trusted


def _brought(message: ToolResultMessage) -> str:
    return text_of(message.content) if message.tool_name in WEB else ""


def _written(message: AssistantMessage) -> str:
    calls = json.dumps([call.arguments for call in message.tool_calls], ensure_ascii=False)
    return f"{message.text}\n{calls}"


def _stands_in(text: str, wanted: str, *patterns: re.Pattern[str]) -> bool:
    """Return True if the text contains the address. Texts without it are skipped before the slow pattern search."""
    if wanted.casefold() not in text.casefold():
        return False
    return any(wanted in _keys(pattern, text) for pattern in patterns)


def _whole_addresses(text: str) -> Iterator[str]:
    """Yield the addresses in a text, each as one: a part of an address is none itself."""
    for pattern, where in ((_URL, text), (_NAKED, _URL.sub(" ", text))):
        for found in pattern.finditer(where):
            is_enclosed = where[found.start() - 1 : found.start()] == "("
            yield _bare(_GOES_ON.compiled.split(found.group(), maxsplit=1)[0], is_enclosed=is_enclosed)


def _bare(url: str, *, is_enclosed: bool) -> str:
    """Return an address without the punctuation of the sentence that it ends: `https://a.example/b_(c)).`.

    One in parentheses ends where they do.
    """
    end = len(url)
    if is_enclosed and url.count(")") > url.count("("):
        return url[: url.rindex(")")]
    surplus = {close: url.count(close) - url.count(opened) for close, opened in _CLOSING.items()}
    while end and url[end - 1] in _TRAILING and surplus.get(url[end - 1], 1) > 0:
        end -= 1
        if url[end] in surplus:
            surplus[url[end]] -= 1
    return url[:end]


def _is_plain(url: str) -> bool:
    """Return True if the address is to be read without encryption."""
    return url.strip().lower().startswith("http://")


def _keys(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the possible ends of each address in the text.

    These are the whole match, the match without trailing punctuation, and the match up to the first non-ASCII letter,
    since some languages put no space after an address.
    """
    for found in pattern.finditer(text):
        for begun in (found.group(), _NOT_ASCII.split(found.group())[0]):
            for shorter in _without_punctuation(begun):
                if key := _key(shorter):
                    yield key
                    yield _in_lower_case(key)


def _without_punctuation(url: str) -> Iterator[str]:
    """Yield the address with zero to three trailing marks removed: `(https://a.example/b_(c)).` ends with two."""
    for _ in range(4):
        yield url
        if url[-1:] not in _TRAILING:
            return
        url = url[:-1]


def _key(url: str) -> str:
    """Normalise an address: drop the scheme, a bare slash at the end, and the fragment, which is never sent."""
    rest = re.sub(r"^https?://", "", url.strip(), flags=re.IGNORECASE).partition("#")[0]
    return rest.removesuffix("/") if rest.count("/") == 1 else rest


def _in_lower_case(key: str) -> str:
    """Return the key with its host in lower case."""
    host = urlsplit(f"//{key}").netloc
    return host.lower() + key[len(host) :]
