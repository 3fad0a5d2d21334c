"""Slack in the showroom."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_chat import COMMAND, EMOJI, Chat
from parley.testing.emulators.slack_state import Message, Person
from tests.emulators.showroom.exhibit import GROUP, PEOPLE, Exhibit, Now, Said, Upload, direct
from tests.emulators.showroom.shown import Part, ShownButton, ShownMessage, Sign
from tests.emulators.showroom.slack_parts import parts_of
from tests.emulators.showroom.trouble import Troubles

STREAMS = ("chat.startStream", "chat.appendStream", "chat.stopStream")
WRITES = ("chat.postMessage", "chat.postEphemeral", "chat.update", "response_url", *STREAMS)
RECENT = 40
"""Number of recent messages that are searched for a status."""
_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>]*)?>")
_EMOJI = {name: emoji for emoji, name in EMOJI.items()}


class SlackExhibit(Exhibit[Person, Chat, Message]):
    name = "slack"
    title = "Slack"
    group_title = "#team"
    help = "/parley help"
    hint = "/parley help, or !help in a thread"

    def __init__(self, now: Now) -> None:
        self.slack = SlackEmulator()
        people = {name: self.slack.person(name, language="en-GB") for name in PEOPLE}
        rooms = {direct(name): self.slack.private(person) for name, person in people.items()}
        rooms[GROUP] = self.slack.group(self.group_title.removeprefix("#"), list(people.values()))
        more = {"refresh": ("Refresh sockets", self.slack.refresh)}
        super().__init__(self.slack, people, rooms, Troubles(self.slack, WRITES, more), now)
        self._names = {person.id: person.name for person in (self.slack.bot, *people.values())}

    @property
    def settings(self) -> dict[str, str]:
        tokens = {"SLACK_BOT_TOKEN": self.slack.bot_token, "SLACK_APP_TOKEN": self.slack.app_token}
        return {**tokens, "SLACK_BASE_URL": self.slack.api_url}

    @property
    def connected(self) -> bool:
        return self.slack.connected

    @property
    def commands(self) -> dict[str, str]:
        return {"parley": "Ask Parley, or give it a command: help, skills, tasks, stop"}

    def person_id(self, name: str) -> str:
        return self.people[name].id

    def _messages(self, chat: Chat) -> Sequence[Message]:
        return chat.messages

    def _id(self, message: Message) -> str:
        return message.ts

    def _sender(self, message: Message) -> Person:
        return message.sender

    def _show(self, room: str, message: Message) -> ShownMessage:
        rows = [[ShownButton(each.text, each.data, each.url, each.style) for each in row] for row in message.buttons]
        return ShownMessage(
            message.ts,
            message.sender.name,
            message.sender.is_bot,
            self._when(message.at),
            tuple(self._parts(message)),
            edited=message.edited is not None,
            buttons=tuple(tuple(row) for row in rows),
            files=self._shown_files(room, message),
            thread=None if message.reply_to is None else message.reply_to.ts,
            only_for=None if message.ephemeral_to is None else self._names.get(message.ephemeral_to),
            reactions=tuple(_EMOJI.get(each, f":{each}:") for each, people in message.reactions.items() if people),
        )

    def _parts(self, message: Message) -> Iterable[Part]:
        if message.blocks and message.sender.is_bot:
            is_streamed = message.stream is not None and not message.stream.ended and message.edited is None
            for block in message.blocks:
                for part in parts_of(block, is_streamed=is_streamed):
                    yield replace(part, text=self._named(part.text))
        elif message.source:
            yield Part(self._named(message.source), "mrkdwn")
        for each in message.attachments:
            yield Part(str(each.get("text") or each.get("fallback") or ""), "mrkdwn", "embed")

    def _named(self, text: str) -> str:
        return _MENTION.sub(lambda found: f"@{self._names.get(found[1], found[1])}", text)

    def _signs(self, chat: Chat) -> Sequence[Sign]:
        roots = [each for each in chat.messages if each.reply_to is None][-RECENT:]
        return [Sign(status, each.ts) for each in roots if (status := _status_in(chat.thread(each)))]

    def _notices(self, chat: Chat) -> Sequence[str]:
        return chat.notices

    def _files(self, message: Message) -> Sequence[Upload]:
        return [Upload(each.name, each.mime, each.content) for each in message.files]

    async def _say(
        self, chat: Chat, person: Person, text: str, said: Said, answered: Message | None, root: Message | None
    ) -> None:
        if refusal := _refusal(text, threaded=(root or answered) is not None):
            chat.notices.append(refusal)
            self.slack.changes.notify()
            return
        file = said.file
        document = None if file is None else (file.name, file.content, file.mime)
        await chat.says(person, text, reply_to=root or answered, document=document)

    async def _press(self, chat: Chat, person: Person, message: Message, label: str, data: str | None) -> None:
        await chat.presses(person, label, data=data, message=message)

    async def _edit(self, chat: Chat, message: Message, text: str) -> None:
        await chat.edits(message, text)


def _status_in(thread: Chat) -> str:
    """Return what Slack shows below a thread while the app works there."""
    is_at_work = thread.session is not None and thread.session.status == "processing"
    return thread.status or ("Working…" if is_at_work and not thread.streaming else "")


def _refusal(text: str, *, threaded: bool) -> str:
    """Return Slack's own response to a command that it does not know or does not allow in threads, or ""."""
    if not text.startswith("/"):
        return ""
    name, _, rest = text.partition(" ")
    if name != COMMAND:
        return f"{name} is not a valid command; write {COMMAND} {name[1:]}, or !{name[1:]}"
    return f"{name} is not supported in threads; write !{rest.strip() or 'help'}" if threaded else ""
