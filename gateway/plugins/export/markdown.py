"""An exported chat as Markdown. All messages are block quotes, so that their text cannot imitate other messages."""

import re
from collections.abc import Iterable, Iterator
from html import escape

from gateway.plugins.export.entries import Began, Called, Entry, Noted, Said
from gateway.plugins.export.heading import Heading
from gateway.security.printing import harmless

_LOUD = re.compile(r"([\\`*_\[\]<>#|~])")


def written(heading: Heading, entries: Iterable[Entry]) -> Iterator[str]:
    yield f"# {_plain(heading.chat)}\n\n{_plain(heading.line)}\n"
    for entry in entries:
        yield harmless(_written(heading, entry))


def _written(heading: Heading, entry: Entry) -> str:
    match entry:
        case Began():
            return f"\n## {heading.day(entry.at)}\n"
        case Said():
            return _said(heading, entry)
        case Called():
            return _called(entry)
        case Noted():
            return f"\n_{_plain(entry.text)}_\n"


def _said(heading: Heading, entry: Said) -> str:
    lines = [f"\n**{_plain(entry.who or heading.ai_name)}** · {heading.moment(entry.at)}\n"]
    if entry.quoted:
        lines += [_quoted(_quoted(_typed(entry.quoted))), ">"]
    text = _typed(entry.text) if entry.who else entry.text
    if text.strip():
        lines.append(_quoted(text))
    lines += [f"\n📎 {_plain(name)}" for name in entry.files]
    return "\n".join(lines) + "\n"


def _called(entry: Called) -> str:
    sign = "✗" if entry.is_error else "✓"
    took = "" if entry.duration_ms is None else f", {entry.duration_ms / 1000:.1f} s"
    parts = [
        f"\n<details><summary>{sign} {escape(entry.tool)}{took}</summary>\n",
        _fenced(entry.arguments, "json"),
        _fenced(entry.result, ""),
        "</details>",
    ]
    if entry.file:
        parts.append(f"\n📎 {_plain(entry.file)}")
    return "\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Escape Markdown and join lines."""
    return _LOUD.sub(r"\\\1", " ".join(text.split()) if "\n" in text else text)


def _typed(text: str) -> str:
    """Escape Markdown and keep line breaks."""
    return "  \n".join(map(_plain, text.splitlines()))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _fenced(text: str, language: str) -> str:
    """Put text in a code block that it cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"
