"""An exported chat as a self-contained HTML file without scripts or external resources."""

from collections.abc import Iterable, Iterator
from html import escape

from channels.web.render import plain, render
from gateway.plugins.export.entries import Began, Called, Entry, Noted, Said
from gateway.plugins.export.heading import Heading
from gateway.security.printing import harmless

_HEAD = """<!doctype html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }}
section {{ margin: 1.2rem 0; overflow-wrap: anywhere; }}
section.person {{ border-left: 4px solid #59f; padding-left: .8rem; }}
section.parley {{ border-left: 4px solid #5b8; padding-left: .8rem; }}
.typed {{ white-space: pre-wrap; margin: 0; }}
header, .note, details {{ color: #777; font-size: .9rem; }}
pre {{ overflow-x: auto; white-space: pre-wrap; }}
.wide {{ overflow-x: auto; }}
.to-left {{ text-align: left; }} .to-center {{ text-align: center; }} .to-right {{ text-align: right; }}
td, th {{ border: 1px solid #888; padding: .2rem .5rem; }}
</style></head><body>
<h1>{title}</h1><p class="note">{line}</p>
"""


def written(heading: Heading, entries: Iterable[Entry]) -> Iterator[str]:
    yield _HEAD.format(title=escape(harmless(heading.chat)), line=escape(heading.line))
    for entry in entries:
        yield harmless(_written(heading, entry))
    yield "</body></html>\n"


def _written(heading: Heading, entry: Entry) -> str:
    match entry:
        case Began():
            return f"<h2>{heading.day(entry.at)}</h2>\n"
        case Said():
            return _said(heading, entry)
        case Called():
            return _called(entry)
        case Noted():
            return f'<p class="note">{escape(entry.text)}</p>\n'


def _said(heading: Heading, entry: Said) -> str:
    kind, name = ("person", entry.who) if entry.who else ("parley", heading.ai_name)
    quoted = f"<blockquote>{plain(entry.quoted)}</blockquote>" if entry.quoted else ""
    words = plain(entry.text) if entry.who else render(entry.text)
    files = "".join(map(_file, entry.files))
    head = f"<header><b>{escape(name)}</b> · {heading.moment(entry.at)}</header>"
    return f'<section class="{kind}">{head}{quoted}{words}{files}</section>\n'


def _called(entry: Called) -> str:
    sign = "✗" if entry.is_error else "✓"
    took = "" if entry.duration_ms is None else f", {entry.duration_ms / 1000:.1f} s"
    return (
        f"<details><summary>{sign} {escape(entry.tool)}{took}</summary>"
        f"<pre>{escape(entry.arguments)}</pre><pre>{escape(entry.result)}</pre></details>\n"
        f"{_file(entry.file) if entry.file else ''}"
    )


def _file(name: str) -> str:
    return f"<p>📎 {escape(name)}</p>"
