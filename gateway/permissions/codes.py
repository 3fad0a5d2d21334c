"""One-time codes that people type."""

import secrets

from gateway.permissions.request import ALPHABET, MISREAD

LENGTH = 8
LONGEST = 40
"""Characters of a typed code that are looked at."""


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def typed(text: str) -> str:
    """Return a code as it was meant, correcting characters that are easily confused."""
    return "".join(text[:LONGEST].split()).strip("`'\".,:;").lower().translate(MISREAD)
