"""An exported chat as one JSON document with all messages of all sessions, as `message_adapter` reads them."""

import json
from collections.abc import Iterator

from agent_core.messages import message_adapter
from gateway.plugins.export.heading import Heading
from gateway.security.masking import masked
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive, SaidRow

_ESCAPED = {code: f"\\u{code:04x}" for code in range(127, 160)}
"""Control characters that JSON leaves unescaped; escaped so that printing the document cannot affect a terminal."""


def written(heading: Heading, archive: Archive, secrets: Secrets) -> Iterator[str]:
    """Yield the document in pieces. Sub-agents have sessions of their own in it."""
    facts = {"chat": heading.chat, "exported": heading.moment(heading.now), "timezone": heading.zone.key}
    yield json.dumps(facts, ensure_ascii=False)[:-1] + ', "sessions": ['
    for number, session in enumerate(archive.sessions(heading.chat)):
        yield f'{"," if number else ""}\n{{{json.dumps("session")}: {json.dumps(session)}, "messages": ['
        yield from _messages(archive, heading.chat, session, secrets)
        yield "]}"
    yield "\n]}\n"


def _messages(archive: Archive, chat: str, session: str, secrets: Secrets) -> Iterator[str]:
    comma = ""
    for row in archive.said_at(chat, session):
        if isinstance(row, SaidRow):  # an unreadable row is not exported
            message = message_adapter.dump_json(masked(row.message, secrets.mask)).decode()
            yield f"{comma}\n{message.translate(_ESCAPED)}"
            comma = ","
