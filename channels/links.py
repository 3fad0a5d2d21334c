"""Detection of links whose text claims a different address than their target. Pure.

Such a link gets the real address as its text, or the real host appended. Text that some renderers treat as code and
others as a link counts as a link.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

from channels.fences import Fences, code_spans
from channels.link_claims import (
    NONE,
    REORDERING,
    Claims,
    Place,
    claims_of,
    displayed,
    leads_on,
    looks_like_another,
    mailbox_of,
    names_account,
    place_of,
    place_without_scheme,
)

_LONGEST_LABEL = 1_000
"""Characters of a link's text that are examined; the host is always appended to longer texts."""
_LONGEST_ADDRESS = 4_000
_LONGEST_SHOWN = 80
"""Characters of an address that are appended to a text."""
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}:|//)", re.IGNORECASE)
_OVERRIDE = re.compile(r"[\u202d\u202e]|&#(?:0{0,9}823[78]|[xX]0{0,9}202[dDeE]);")
"""Characters that turn around all text behind them, as such and in Markdown."""
_EDGE = re.compile(r"[\[\]\\]")
_RAW = re.compile(r"(?:[^\s()<>\\]|\\[^\s])+")
_ANGLED = re.compile(r"<([^<>\n]{0,4000})>")
_END = re.compile(r"\s*+(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))?\s*+\)", re.DOTALL)
_SPACE = re.compile(r"\s*+")
_NAME = r"\[((?:[^\[\]\\]|\\.){0,999})\]"
_REFERENCE = re.compile(_NAME)
_DEFINITION = re.compile(
    rf"^(?:[ \t>]|[-*+][ \t]|\d{{1,9}}[.)][ \t]){{0,20}}{_NAME}:[ \t]*\n?[ \t>]*<?([^\s<>]+)", re.MULTILINE
)
_PLAIN_INDENT = re.compile(r" {0,3}(?:`{3}|~{3})")
_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]{0,30}:[/\\]{1,3}|//)([^/\\?#]+)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ESCAPED = re.compile(r"([\\`*_~\[\]<>])")


class _Target(NamedTuple):
    address: str
    end: int
    is_inline: bool


def show_link_targets(markdown: str) -> str:
    """Return the text with every misleading link made explicit."""
    if "](" not in markdown and "]:" not in markdown:
        return markdown
    references = {_name(found[1]): found[2] for found in reversed(list(_DEFINITION.finditer(markdown)))}
    better: list[tuple[int, int, str]] = []
    for link in _misleading_links(markdown, references, list(_code(markdown))):
        while better and better[-1][0] >= link[0]:  # an image inside this link
            better.pop()
        better.append(link)
    parts, at = [], 0
    for start, end, words in better:
        parts += [markdown[at:start], words]
        at = end
    return _OVERRIDE.sub("", "".join([*parts, markdown[at:]]))


def _code(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that every renderer treats as code."""
    at = 0
    for start, end in Fences(markdown).blocks():
        if not _PLAIN_INDENT.match(markdown, start):
            break
        yield from _inline_code(markdown, at, start)
        yield start, end
        at = end
    yield from _inline_code(markdown, at, len(markdown))


def _inline_code(markdown: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield code within one line, in paragraphs without characters that could make a backtick literal."""
    for paragraph in re.finditer(r"[^\n]+(?:\n[^\n]+)*", markdown[start:end]):
        text, at = paragraph[0], start + paragraph.start()
        if "`" not in text or "\\`" in text or "<" in text:
            continue
        whole = set(code_spans(text))
        line_at = 0
        for line in text.split("\n"):
            for begin, close in code_spans(line):
                if (begin + line_at, close + line_at) in whole:
                    yield at + line_at + begin, at + line_at + close
            line_at += len(line) + 1


def _misleading_links(
    text: str, references: Mapping[str, str], code: list[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and new text of each link that claims another address."""
    opened: list[int] = []
    at, next_code = 0, 0
    while edge := _EDGE.search(text, at):
        at = edge.end()
        while next_code < len(code) and code[next_code][1] <= edge.start():
            next_code += 1
        if next_code < len(code) and code[next_code][0] <= edge.start():
            at = code[next_code][1]
        elif edge[0] == "\\":
            at += 1
        elif edge[0] == "[":
            opened.append(edge.start())
        elif opened:
            start = opened.pop()
            label = text[start + 1 : edge.start()]
            is_unclear = len(label) > _LONGEST_LABEL or REORDERING.search(unescape(label))
            claims = None if is_unclear else claims_of(label)
            if claims == NONE or (target := _target(text, label, edge.end(), references)) is None:
                continue
            words = _better(label, claims, target.address)
            is_image = start > 0 and text[start - 1] == "!"
            if not is_image:
                opened.clear()
            if words is not None:
                behind = text[edge.end() : target.end] if target.is_inline else f"(<{target.address}>)"
                yield start, target.end, f"[{words}]{behind}"
            at = target.end


def _target(text: str, label: str, at: int, references: Mapping[str, str]) -> _Target | None:
    """Return the target of the link whose text ends before `at`."""
    if text.startswith("(", at) and (found := _inline(text, at)):
        return found
    if not references:
        return None
    name, end = label, at
    if named := _REFERENCE.match(text, at):
        name, end = named[1] or label, named.end()
    elif text.startswith(":", at):
        return None
    address = references.get(_name(name))
    return _Target(address, end, is_inline=False) if address else None


def _inline(text: str, at: int) -> _Target | None:
    """Return the target in parentheses at this position."""
    space = _SPACE.match(text, at + 1)
    begin = space.end() if space else at + 1
    if found := _ANGLED.match(text, begin):
        address, end = found[1], found.end()
    else:
        end = _raw_end(text, begin)
        address = text[begin:end]
    close = _END.match(text, end)
    return _Target(address, close.end(), is_inline=True) if close else None


def _raw_end(text: str, at: int) -> int:
    depth, most = 0, at + _LONGEST_ADDRESS
    while at < min(len(text), most):
        if found := _RAW.match(text, at):
            at = found.end()
        elif text[at] == "(":
            depth, at = depth + 1, at + 1
        elif text[at] == ")" and depth:
            depth, at = depth - 1, at + 1
        else:
            break
    return at


def _better(label: str, claims: Claims | None, address: str) -> str | None:
    """Return the replacement for the link's text, or None if it claims no other place. `claims` is None for a text that
    is too long to examine, or that is seen in another order than it has."""
    if REORDERING.search(unescape(label)):
        in_order = REORDERING.sub("", label)
        label = _ESCAPED.sub(r"\\\1", displayed(label)) if REORDERING.search(unescape(in_order)) else in_order
        return _better(label, None, address) or label
    readings, seen = [*_readings(address)], displayed(label).strip()
    if any(seen == displayed(in_ascii(reading)) for reading in readings):
        return None
    found = (_shown_instead(label, claims, reading) for reading in readings)
    return next((each for each in found if each is not None), None)


def _readings(address: str) -> Iterator[str]:
    """Yield what renderers may take for the address: most undo escapes and entities in it, some do not."""
    yield from dict.fromkeys((unescape(_ESCAPE.sub(r"\1", address)), address))


def _shown_instead(label: str, claims: Claims | None, address: str) -> str | None:
    target = _place(address)
    if target is None:
        return None
    shown = str(target) if target.host else _ESCAPED.sub("", address)[:_LONGEST_SHOWN]
    if claims is None:
        return None if label.endswith(f"({shown})") else f"{label} ({shown})"
    seen = displayed(label).strip()
    if seen.endswith(f"({shown})"):
        return None
    if all(place.is_said_of(target) for place in claims.places):
        is_there = all(leads_on(each, address) for each in claims.addresses)
        if not (is_there and names_account(claims.names, target, address)):
            return _with_path(label, claims, address)
        return f"{label} ({shown})" if looks_like_another(target.host) and shown not in seen else None
    return _ESCAPED.sub(r"\\\1", in_ascii(address)) if claims.is_all else f"{label} ({shown})"


def _with_path(label: str, claims: Claims, address: str) -> str | None:
    """Return the replacement for a text that names another place on the same host, as another project on a forge."""
    if claims.is_all:
        return _ESCAPED.sub(r"\\\1", in_ascii(address))
    told = _ESCAPED.sub(r"\\\1", in_ascii(address)[:_LONGEST_SHOWN])
    return None if displayed(label).strip().endswith(displayed(f"({told})")) else f"{label} ({told})"


def in_ascii(address: str) -> str:
    """Return the address as it is, with a host in ASCII."""
    found = _AUTHORITY.match(address)
    if found is None or found[2].isascii():
        return address
    user, at, host = found[2].rpartition("@")
    return f"{found[1]}{user}{at}{place_of(host, '')}{address[found.end() :]}"


def _place(address: str) -> Place | None:
    """Return the place that an address leads to, without a host if it has none; None if it is a path."""
    if not _SCHEME.match(address):
        return place_without_scheme(address)
    scheme, _, rest = address.partition(":") if not address.startswith("//") else ("", "", address)
    if scheme.lower() == "mailto":
        return mailbox_of(rest)
    if not rest.startswith(("/", "\\")):
        return Place("")
    return place_of(re.split(r"[/\\?#]", unescape(rest).lstrip("/\\"), maxsplit=1)[0], scheme or "https")


def _name(reference: str) -> str:
    return " ".join(reference.casefold().split())
