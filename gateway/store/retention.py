"""Shortens old data: steps, tool call records and tool results of sessions that are over.

Messages of users and models are kept whole, and no row is deleted.
"""

import json
from hashlib import sha256

from pydantic import JsonValue

from agent_core.json_text import UNREADABLE
from agent_core.messages import AgentMessage, ImageContent, JsonObject, TextContent, ToolResultMessage, message_adapter
from gateway.store.connection import Connection
from gateway.store.steps import SHORTENED
from gateway.store.table import Table
from gateway.store.unreadable import stored_object

LONG = 500
"""Texts of up to this many characters are not shortened."""
SHORT = 200
"""Characters that are kept of a shortened text."""
RUNS = 10
"""The most runs shortened in one transaction, as others wait for it."""

_OLD_RUNS = (
    "SELECT run, started FROM runs WHERE started >= :since AND started < :before AND coalesce(ended, 0) < :before"
    " AND shortened = 0 AND state = 'done'"
    " AND session NOT IN (SELECT session FROM chats)"
    " AND session NOT IN (SELECT session FROM runs WHERE state != 'done')"
    " ORDER BY started LIMIT :most"
)


class Retention(Table):
    """Shortens old entries, a few at a time."""

    _since = 0.0
    """The time at which the last run began that was shortened in this pass; 0 if none was."""

    async def shorten(self, before: float) -> int:
        """Shorten the oldest runs that ended before `before`. Returns how many were shortened, at most `RUNS`."""

        def change(connection: Connection) -> list[tuple[str, float]]:
            values = {"since": self._since, "before": before, "most": RUNS}
            runs = connection.execute(_OLD_RUNS, values).fetchall()
            for run, _ in runs:
                _shorten_steps(connection, run)
                _shorten_calls(connection, run)
                _shorten_results(connection, run)
                connection.execute("UPDATE runs SET shortened = 1 WHERE run = ?", (run,))
            return runs

        runs = await self._writer.submit(change)
        self._since = runs[-1][1] if runs else 0.0
        return len(runs)

    async def free_pages(self) -> bool:
        """Return some free space to the file system. Returns True if there is more."""

        return await self._writer.database.give_back_pages()


def shortened(text: str) -> str:
    """Return the beginning of a long text and the digest of the whole; a short text is returned as it is."""
    if len(text) <= LONG:
        return text
    return f"{text[:SHORT]}… [shortened: {len(text)} characters, sha256 {_digest(text)}]"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _shorten_steps(connection: Connection, run: str) -> None:
    query = "SELECT seq, event, state FROM steps WHERE run = ? AND (length(event) > ? OR length(state) > ?)"
    rows = connection.execute(query, (run, LONG, LONG)).fetchall()
    done = [(_event(event), state and _object(state), seq) for seq, event, state in rows]
    connection.executemany("UPDATE steps SET event = ?, state = ? WHERE seq = ?", done)


def _shorten_calls(connection: Connection, run: str) -> None:
    query = (
        "SELECT seq, arguments, result, error FROM tool_calls"
        " WHERE run = ? AND (length(arguments) > ? OR length(result) > ? OR length(error) > ?)"
    )
    rows = connection.execute(query, (run, LONG, LONG, LONG)).fetchall()
    done = [
        (_object(arguments), result and shortened(result), error and shortened(error), seq)
        for seq, arguments, result, error in rows
    ]
    connection.executemany("UPDATE tool_calls SET arguments = ?, result = ?, error = ? WHERE seq = ?", done)


def _shorten_results(connection: Connection, run: str) -> None:
    query = (
        "SELECT seq, message FROM transcript"
        " WHERE run = ? AND length(message) > ? AND json_extract(message, '$.role') = 'tool_result'"
    )
    done = []
    for seq, text in connection.execute(query, (run, LONG)).fetchall():
        try:
            message = message_adapter.validate_json(text)
        except ValueError:
            continue  # a row written by another version stays as it is
        done.append((_result(message).model_dump_json(), seq))
    connection.executemany("UPDATE transcript SET message = ? WHERE seq = ?", done)


def _result(message: AgentMessage) -> AgentMessage:
    if not isinstance(message, ToolResultMessage):
        return message
    content = tuple(_part(part) for part in message.content)
    return message.model_copy(update={"content": content, "details": _details(message.details)})


def _part(part: TextContent | ImageContent) -> TextContent | ImageContent:
    if isinstance(part, TextContent):
        return part.model_copy(update={"text": shortened(part.text)})
    whole = part.model_dump_json()
    return TextContent(text=f"[shortened: a picture, sha256 {_digest(whole)}]") if len(whole) > LONG else part


def _details(details: JsonValue) -> JsonValue:
    """Shorten the details of a tool result, keeping the kind of failure."""
    whole = json.dumps(details, ensure_ascii=False)
    if len(whole) <= LONG:
        return details
    kept: JsonObject = {}
    if isinstance(details, dict) and "failure" in details:
        kept["failure"] = details["failure"]
    return {**kept, SHORTENED: _digest(whole), "characters": len(whole)}


def _object(whole: str) -> str:
    """Replace a long JSON text by its digest and its beginning."""
    if len(whole) <= LONG:
        return whole
    return json.dumps({SHORTENED: _digest(whole), "characters": len(whole), "begins": whole[:SHORT]})


def _event(whole: str) -> str:
    """Shorten the texts of an event, so that the run can still be retold from it."""
    if len(whole) <= LONG:
        return whole
    try:
        kept = stored_object(whole)
    except UNREADABLE:
        return whole  # it cannot be read any more
    cut = {key: _cut(item) for key, item in kept.items()}
    return json.dumps({**cut, SHORTENED: _digest(whole)}, ensure_ascii=False)


def _cut(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return value if len(value) <= SHORT else f"{value[:SHORT]}… [shortened: {len(value)} characters]"
        case dict():
            return {key: _cut(item) for key, item in value.items()}
        case list():
            return [_cut(item) for item in value]
        case _:
            return value
