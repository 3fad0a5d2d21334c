"""The ids of questions to people, and what became of an answer."""

import hashlib
import secrets
from enum import StrEnum

from gateway.store.question import QuestionState

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter looks like another or like a digit."""
MISREAD = str.maketrans("oil", "011", "-")


class Reply(StrEnum):
    """Result of an answer."""

    TAKEN = "taken"
    UNKNOWN = "unknown"
    """There is no such question in that chat."""
    NOT_YOURS = "not yours"
    TOO_LATE = "too late"
    ONLY_ONCE = "only once"
    """The call cannot be allowed permanently."""
    WAS_APPROVED = "was approved"
    WAS_DENIED = "was denied"
    WAS_WITHDRAWN = "was withdrawn"


REPLIES = {
    QuestionState.APPROVED: Reply.WAS_APPROVED,
    QuestionState.USED: Reply.WAS_APPROVED,
    QuestionState.DENIED: Reply.WAS_DENIED,
    QuestionState.EXPIRED: Reply.TOO_LATE,
    QuestionState.WITHDRAWN: Reply.WAS_WITHDRAWN,
}


def new_request_id() -> str:
    """Return an id short enough to type. It need not be secret, since the answering user is checked."""
    return "".join(secrets.choice(ALPHABET) for _ in range(6))


def id_named(name: str) -> str:
    """Return six characters derived from a name."""
    number = int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:8], "big")
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(6))


def typed_id(text: str) -> str:
    """Return the id that was typed, correcting characters that are easily confused."""
    first = next(iter(text.split()), "")
    return first.strip("`'\".,:;").lower().translate(MISREAD)
