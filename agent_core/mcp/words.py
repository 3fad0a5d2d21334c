"""Words that servers choose, made fit for prompts and for people: names, descriptions, reasons."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

LONGEST_NAME = 64
"""Characters, by the rules of the model providers."""
LONGEST = 300
"""Characters of a description."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")


def plain(text: str, most: int = LONGEST) -> str:
    """In one line, without control characters and without those that are not seen, cut to `most`."""
    text = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def tool_names(server: str, originals: Iterable[str], taken: Collection[str] = ()) -> Mapping[str, str]:
    """What the server calls its tools -> what we call them: `<server>_<tool>`, each name once.

    Where that is too long, or taken, the end is a checksum, so that a name keeps its meaning when others come and go.
    A server's own name has no `_`, so that tools of two servers never meet.
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
