"""A plugin with buttons for tests: a poll whose votes are rows, and whose message shows them."""

from collections.abc import Sequence
from typing import ClassVar

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Rewritten, Settling
from gateway.commands.command import Command, Invocation
from gateway.commands.press import Press, press_action
from gateway.permissions.rights import TALK, always
from gateway.plugin import Plugin
from gateway.store.connection import Connection

START = """
CREATE TABLE poll_polls (id INTEGER PRIMARY KEY, chat TEXT NOT NULL, question TEXT NOT NULL, closed INTEGER NOT NULL);
CREATE TABLE poll_votes (poll INTEGER NOT NULL, person TEXT NOT NULL, choice INTEGER NOT NULL, times INTEGER NOT NULL);
CREATE UNIQUE INDEX poll_once ON poll_votes (poll, person);
"""
CHOICES = ("Tea", "Coffee")


class Poll(Plugin):
    """Asks a group what it drinks. Counts how often each press was made, to show that each counts once.

    The poll in `examples` cannot show that: there a vote that is counted twice leaves the same row.
    """

    name = "poll"
    migrations: ClassVar[Sequence[str]] = (START,)

    async def ask(self, given: Invocation) -> Answer:
        def change(connection: Connection) -> OutboundMessage:
            connection.execute(
                "INSERT INTO poll_polls (chat, question, closed) VALUES (?, ?, 0)",
                (str(given.chat), given.arguments or "What?"),
            )
            (poll,) = connection.execute("SELECT max(id) FROM poll_polls").fetchone()
            return shown(connection, int(poll))

        return Settling(change)

    async def vote(self, given: Invocation) -> Answer:
        poll, choice = map(int, given.arguments.split())

        def change(connection: Connection) -> Rewritten:
            connection.execute(
                "INSERT INTO poll_votes VALUES (?, ?, ?, 1) ON CONFLICT (poll, person) DO UPDATE"
                " SET choice = excluded.choice, times = poll_votes.times + 1",
                (poll, given.sender.id, choice),
            )
            return Rewritten(shown(connection, poll))

        return Settling(change)

    async def close(self, given: Invocation) -> Answer:
        poll = int(given.arguments)

        def change(connection: Connection) -> Rewritten:
            connection.execute("UPDATE poll_polls SET closed = 1 WHERE id = ?", (poll,))
            return Rewritten(shown(connection, poll))

        return Settling(change)

    def commands(self) -> Sequence[Command]:
        return (Command("poll", {"en": "Ask", "zh": "投票"}, self.ask, rights=always(TALK), arguments="[QUESTION]"),)

    def presses(self) -> Sequence[Press]:
        return Press("vote", self.vote, always(TALK)), Press("close", self.close, always(TALK))


def shown(connection: Connection, poll: int) -> OutboundMessage:
    """Return the message of a poll as it stands."""
    (question, closed) = connection.execute("SELECT question, closed FROM poll_polls WHERE id = ?", (poll,)).fetchone()
    query = "SELECT choice, count(*) FROM poll_votes WHERE poll = ? GROUP BY choice"
    votes = {int(choice): int(count) for choice, count in connection.execute(query, (poll,)).fetchall()}
    told = ", ".join(f"{each} {votes.get(number, 0)}" for number, each in enumerate(CHOICES))
    row = [
        Button(label=each, action=press_action(Poll.name, "vote", f"{poll} {number}"))
        for number, each in enumerate(CHOICES)
    ]
    end = Button(label="Close", action=press_action(Poll.name, "close", str(poll)), style="quiet")
    return OutboundMessage(markdown=f"{question} {told}", buttons=() if closed else (tuple(row), (end,)))


PLUGIN = Poll
