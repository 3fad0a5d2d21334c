"""Detection of links whose text claims a different address than their target. Pure.

Such a link gets the real address as its text, or the real host appended. Text that some renderers treat as code and
others as a link counts as a link.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple

from channels.fences import Fences, code_spans

_LONGEST_LABEL = 1_000
"""Characters of a link's text that are examined; the host is always appended to longer texts."""
_LONGEST_ADDRESS = 4_000
_MARKS = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|[*_~`\\\[\]!]")
_CLAIM = re.compile(
    r"(?P<scheme>https?:/{1,3})(?P<named>[^\s/?#]+)\S*+|(?<![\w.@-])(?P<bare>[\w-]++(?:\.[\w-]++)++)\S*+"
)
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}:|//)", re.IGNORECASE)
_FILES = frozenset(
    [
        "c",
        "cfg",
        "conf",
        "cpp",
        "css",
        "csv",
        "doc",
        "docx",
        "gif",
        "go",
        "gz",
        "h",
        "htm",
        "html",
        "ini",
        "ipynb",
        "java",
        "jpeg",
        "jpg",
        "js",
        "json",
        "lock",
        "log",
        "md",
        "mp3",
        "mp4",
        "pdf",
        "png",
        "pptx",
        "py",
        "rb",
        "rs",
        "sh",
        "sql",
        "svg",
        "tar",
        "toml",
        "ts",
        "tsx",
        "txt",
        "wav",
        "webp",
        "xlsx",
        "xml",
        "yaml",
        "yml",
        "zip",
    ]
)
"""File extensions, which are not taken for the last part of a host name."""
_EDGE = re.compile(r"[\[\]\\]")
_RAW = re.compile(r"(?:[^\s()<>\\]|\\[^\s])+")
_ANGLED = re.compile(r"<([^<>\n]{0,4000})>")
_END = re.compile(r"\s*+(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))?\s*+\)", re.DOTALL)
_SPACE = re.compile(r"\s*+")
_DEFINITION = re.compile(r"^[ \t>]{0,20}\[([^\[\]\n]{1,999})\]:[ \t]*\n?[ \t]*<?([^\s<>]+)", re.MULTILINE)
_PLAIN_INDENT = re.compile(r" {0,3}(?:`{3}|~{3})")
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
    return "".join([*parts, markdown[at:]])


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
            if not (claims := _claims(label)) or not (target := _target(text, label, edge.end(), references)):
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
    if text.startswith("[", at) and (close := text.find("]", at, at + _LONGEST_LABEL)) > 0:
        name, end = text[at + 1 : close] or label, close + 1
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


def _claims(label: str) -> frozenset[str]:
    """Return the hosts that a reader would take the text for; contains "" if the text is too long to examine."""
    if len(label) > _LONGEST_LABEL:
        return frozenset({""})
    return frozenset(filter(None, map(_claimed, _CLAIM.finditer(_read(label)))))


def _claimed(found: re.Match[str]) -> str:
    if found["named"]:
        return _plain_host(found["named"])
    top = found["bare"].rpartition(".")[2]
    is_host = (len(top) > 1 and top.isalpha() and top not in _FILES) or top.startswith("xn--")
    return _plain_host(found["bare"]) if is_host else ""


def _read(label: str) -> str:
    """Return the text as displayed: without Markdown marks, tags and invisible characters."""
    text = unicodedata.normalize("NFKC", _MARKS.sub("", unescape(label)))
    return "".join(
        char for char in text if unicodedata.category(char) not in ("Cf", "Mn", "Cc") or char == "\n"
    ).lower()


def _better(label: str, claims: frozenset[str], address: str) -> str | None:
    """Return the replacement for the link's text, or None if it claims no other address."""
    if not _SCHEME.match(address):
        return None
    host = _host(address)
    if claims <= {host}:
        return None
    seen = _read(label).strip() if "" not in claims else ""
    if seen.endswith(f"({host})") or ("" in claims and label.endswith(f"({host})")):
        return None
    if (found := _CLAIM.fullmatch(seen)) and _claimed(found):
        return _ESCAPED.sub(r"\\\1", address)
    return f"{label} ({host or _ESCAPED.sub('', address)[:80]})"


def _host(address: str) -> str:
    """Return the host as written in the address, or ""."""
    scheme, _, rest = address.partition(":") if not address.startswith("//") else ("", "", address)
    if scheme.lower() == "mailto":
        return _plain_host(rest.partition("?")[0])
    if not rest.startswith(("/", "\\")):
        return ""
    return _plain_host(re.split(r"[/\\?#]", unescape(rest).lstrip("/\\"), maxsplit=1)[0])


def _plain_host(authority: str) -> str:
    host = unicodedata.normalize("NFKC", authority.rpartition("@")[2]).lower()
    return re.sub(r":\d*$", "", host).rstrip(".,;:!?)'\"").removeprefix("www.")


def _name(reference: str) -> str:
    return " ".join(reference.casefold().split())
