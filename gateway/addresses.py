"""Where an address in a conversation comes from: somebody gave it, or the model made it up.

An address that the model composed can carry away whatever the model has read; one that was given whole cannot.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard
from urllib.parse import urlsplit

from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, UserMessage, text_of

FETCH = "web_fetch"
SEARCH = "web_search"
WEB = frozenset({FETCH, SEARCH})
"""Tools whose results' links were written by neither the model nor anybody here."""
MOST_LINKS = 10
"""How many links may be followed between two messages of a person: which are chosen can spell something."""

_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}]+", re.IGNORECASE)
_NAKED = re.compile(
    r"(?<![A-Za-z0-9_@/.-])(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?::\d{1,5})?(?:[/?][^\s<>\"'`|\\^{}]*)?", re.I
)
_TRAILING = ".,;:!?)]}*_~'\""
_NOT_ASCII = re.compile(r"[^\x21-\x7e]")


def is_given(url: str, messages: Sequence[AgentMessage], *, links: bool) -> bool:
    """Whether a person here wrote this address, as a whole; or, with `links`, the web brought it, before the model
    spoke of it, and few links were followed since somebody here spoke."""
    wanted = _key(url)
    if not wanted:
        return False
    said = (text_of(message.content) for message in messages if _is_from_person(message))
    if any(_stands_in(text, wanted, _URL, _NAKED) for text in said):
        return True
    return links and _fetches(messages) <= MOST_LINKS and _was_brought(wanted, messages)


def given_in(text: str, messages: Sequence[AgentMessage]) -> tuple[str, ...]:
    """Which addresses of a text a person here wrote, each as a whole; for `is_one_of`."""
    found = dict.fromkeys(key for pattern in (_URL, _NAKED) for key in _keys(pattern, text))
    return tuple(key for key in found if is_given(key, messages, links=False))


def is_one_of(url: str, given: Collection[str]) -> bool:
    return _key(url) in given


def _was_brought(wanted: str, messages: Sequence[AgentMessage]) -> bool:
    for message in messages:
        if isinstance(message, AssistantMessage) and _stands_in(_written(message), wanted, _URL, _NAKED):
            return False  # a page that repeats it would make it look given
        if isinstance(message, ToolResultMessage) and _stands_in(_brought(message), wanted, _URL):
            return True
    return False


def _fetches(messages: Sequence[AgentMessage]) -> int:
    """Addresses that the model asked for since somebody here spoke, those of its last answer among them."""
    count = 0
    for message in messages:
        if _is_from_person(message):
            count = 0
        elif isinstance(message, AssistantMessage):
            count += sum(call.name == FETCH for call in message.tool_calls)
    return count


def _is_from_person(message: AgentMessage) -> TypeGuard[UserMessage]:
    return isinstance(message, UserMessage) and not message.by_agent


def _brought(message: ToolResultMessage) -> str:
    return text_of(message.content) if message.tool_name in WEB else ""


def _written(message: AssistantMessage) -> str:
    calls = json.dumps([call.arguments for call in message.tool_calls], ensure_ascii=False)
    return f"{message.text}\n{calls}"


def _stands_in(text: str, wanted: str, *patterns: re.Pattern[str]) -> bool:
    """A long talk is full of other addresses, and everybody waits while they are read: most texts need not be."""
    if wanted.casefold() not in text.casefold():
        return False
    return any(wanted in _keys(pattern, text) for pattern in patterns)


def _keys(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What an address that begins here may be: all of it, without the sentence's punctuation, and up to the first
    letter of a language that puts no space after it."""
    for found in pattern.finditer(text):
        for begun in (found.group(), _NOT_ASCII.split(found.group())[0]):
            for shorter in _without_punctuation(begun):
                if key := _key(shorter):
                    yield key
                    yield _in_lower_case(key)


def _without_punctuation(url: str) -> Iterator[str]:
    """With none, one, two or three of the signs at its end taken away: of `(https://a.example/b_(c)).` it is two."""
    for _ in range(4):
        yield url
        if url[-1:] not in _TRAILING:
            return
        url = url[:-1]


def _key(url: str) -> str:
    """The address without what makes no difference: http or https, the bare slash, the fragment, which is not sent."""
    rest = re.sub(r"^https?://", "", url.strip(), flags=re.IGNORECASE).partition("#")[0]
    return rest.removesuffix("/") if rest.count("/") == 1 else rest


def _in_lower_case(key: str) -> str:
    """With the host as most people write it."""
    host = urlsplit(f"//{key}").netloc
    return host.lower() + key[len(host) :]
