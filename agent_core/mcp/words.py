"""Names, descriptions and errors from servers, made safe for prompts and users."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

LONGEST_NAME = 64
"""Characters; a limit of the model providers."""
LONGEST = 300
"""Characters of a description."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")


def plain(text: str, most: int = LONGEST) -> str:
    """Return the text as one line of at most `most` characters, without control or invisible characters."""
    text = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def tool_names(server: str, originals: Iterable[str], taken: Collection[str] = ()) -> Mapping[str, str]:
    """Map the server's tool names to unique ones of the form `<server>_<tool>`.

    A name that is too long or taken ends in a checksum, so that it does not change when other tools come and go. Server
    names contain no `_`, so tools of two servers cannot collide.
    """
    used = set(taken)
    names: dict[str, str] = {}
    for original in sorted(set(originals), key=lambda name: (_UNFIT.search(name) is not None, name)):
        name = _UNFIT.sub("_", f"{server}_{original}")
        if len(name) > LONGEST_NAME or name in used:
            checksum = hashlib.sha256(f"{server}\0{original}".encode(errors="replace")).hexdigest()[:8]
            name = f"{name[: LONGEST_NAME - 9]}_{checksum}"
        used.add(name)
        names[original] = name
    return names
