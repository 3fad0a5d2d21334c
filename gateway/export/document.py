"""An exported chat as one JSON document: every message of every conversation, as `message_adapter` reads it."""

import json
from collections.abc import Iterator

from agent_core.messages import message_adapter
from gateway.export.heading import Heading
from gateway.masking import masked
from gateway.secrets import Secrets
from gateway.store.archive import Archive, SaidRow

_ESCAPED = {code: f"\\u{code:04x}" for code in range(127, 160)}
"""What steers a terminal and JSON leaves as it is; escaped here, it is still the same document where it is printed."""


def written(heading: Heading, archive: Archive, secrets: Secrets) -> Iterator[str]:
    """Piece by piece. The conversations of sub-agents are there by themselves (S3-26)."""
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
        if isinstance(row, SaidRow):  # what cannot be read is no message
            message = message_adapter.dump_json(masked(row.message, secrets.mask)).decode()
            yield f"{comma}\n{message.translate(_ESCAPED)}"
            comma = ","
