"""Addresses of servers with the OpenAI chat protocol, as people have them.

Azure's have a version behind them, name the model, and want the key in a header of their own.
"""

import re
from urllib.parse import parse_qs, urlsplit, urlunsplit

CHAT = "/chat/completions"
_DEPLOYMENT = re.compile(r"/deployments/([^/]+)")


def is_address(base_url: str) -> bool:
    """Return True if a server can be asked at this address."""
    try:
        parts = urlsplit(base_url.strip())
        is_named = parts.port != 0 and re.fullmatch(r"[\w.-]+|[\da-fA-F:.]+(?:%\w+)?", parts.hostname or "")
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(is_named)


def below(base_url: str, path: str) -> str:
    """Return the address of a path below the base URL, which may be that of the chat itself."""
    parts = urlsplit(base_url.strip())
    return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix(CHAT) + path))


def with_key(base_url: str, key: str) -> dict[str, str]:
    """Return the header with the key; none if there is none."""
    if not key:
        return {}
    is_azure = "api-version" in parse_qs(urlsplit(base_url).query)
    return {"api-key": key} if is_azure else {"Authorization": f"Bearer {key}"}


def deployment_in(base_url: str) -> str:
    """Return the name of the model that the address is for; empty if it is for any."""
    found = _DEPLOYMENT.search(urlsplit(base_url).path)
    return found[1] if found else ""
