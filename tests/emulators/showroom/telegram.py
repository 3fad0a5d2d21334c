"""Telegram in the showroom."""

from collections.abc import Sequence

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_methods import FLOOD_COUNTED
from parley.testing.emulators.telegram_state import Message, Person, StoredFile
from parley.testing.emulators.telegram_text import Entity
from tests.emulators.showroom.exhibit import GROUP, PEOPLE, Exhibit, Now, Said, Upload, direct
from tests.emulators.showroom.shown import Part, Quote, ShownButton, ShownMessage, Sign, Span
from tests.emulators.showroom.trouble import Troubles

TYPING_SECONDS = 5.0
BETWEEN_POLLS = 2.0
"""Longest time in seconds between two polls of a running bot."""


class TelegramExhibit(Exhibit[Person, Chat, Message]):
    name = "telegram"
    title = "Telegram"
    group_title = "Team"
    help = "/help"
    hint = "Type / for the commands"

    def __init__(self, now: Now) -> None:
        self.telegram = TelegramEmulator(first_id=int(now()))
        people = {name: self.telegram.person(name, language="en", username=name.lower()) for name in PEOPLE}
        rooms = {direct(name): self.telegram.private(person) for name, person in people.items()}
        rooms[GROUP] = self.telegram.group(self.group_title, list(people.values()))
        super().__init__(self.telegram, people, rooms, Troubles(self.telegram, FLOOD_COUNTED, {}), now)

    @property
    def settings(self) -> dict[str, str]:
        return {"TELEGRAM_BOT_TOKEN": self.telegram.token, "TELEGRAM_BASE_URL": self.telegram.url}

    @property
    def connected(self) -> bool:
        if self.telegram.polling:
            return True
        polls = self.telegram.calls_of("getUpdates")
        return bool(polls) and self.telegram.clock() - polls[-1].at < BETWEEN_POLLS

    @property
    def commands(self) -> dict[str, str]:
        menus = self.telegram.command_menus
        return menus.get(("all_private_chats", "")) or self.telegram.commands

    def person_id(self, name: str) -> str:
        return str(self.people[name].id)

    def _messages(self, chat: Chat) -> Sequence[Message]:
        return chat.messages

    def _id(self, message: Message) -> str:
        return str(message.message_id)

    def _sender(self, message: Message) -> Person:
        return message.sender

    def _show(self, room: str, message: Message) -> ShownMessage:
        rows = [[ShownButton(each.text, each.data, each.url, each.style) for each in row] for row in message.buttons]
        answered = message.reply_to
        return ShownMessage(
            self._id(message),
            message.sender.name,
            message.sender == self.telegram.bot,
            self._when(message.at),
            _parts(message.text, message.entities),
            edited=message.edit_date is not None,
            buttons=tuple(tuple(row) for row in rows),
            files=self._shown_files(room, message),
            quote=None if answered is None else Quote(answered.sender.name, answered.shown),
            reactions=tuple(message.reactions),
        )

    def _previews(self, chat: Chat) -> Sequence[ShownMessage]:
        draft, bot = chat.draft, self.telegram.bot
        if draft is None:
            return ()
        parts = _parts(draft.text, draft.entities)
        return (ShownMessage("draft", bot.name, by_bot=True, at=self._when(draft.at), parts=parts, waiting=not parts),)

    def _signs(self, chat: Chat) -> Sequence[Sign]:
        actions, said = chat.actions, chat.bot_messages
        if not actions or self.telegram.clock() - actions[-1].at > TYPING_SECONDS:
            return ()
        return () if said and said[-1].at > actions[-1].at else (Sign("is typing"),)

    def _files(self, message: Message) -> Sequence[Upload]:
        return [_upload(each) for each in message.files.values()]

    async def _say(
        self, chat: Chat, person: Person, text: str, said: Said, answered: Message | None, root: Message | None
    ) -> None:
        file = said.file
        photo = file.content if file is not None and file.mime in ("image/jpeg", "image/png") else None
        document = (file.name, file.content, file.mime) if file is not None and photo is None else None
        await chat.says(person, text, reply_to=answered or root, photo=photo, document=document)

    async def _press(self, chat: Chat, person: Person, message: Message, label: str, data: str | None) -> None:
        await chat.presses(person, label, data=data, message=message)

    async def _edit(self, chat: Chat, message: Message, text: str) -> None:
        await chat.edits(message, text)


def _parts(text: str, entities: Sequence[Entity]) -> tuple[Part, ...]:
    spans = tuple(Span(each.type, each.offset, each.length, each.url) for each in entities)
    return (Part(text, "telegram", spans=spans),) if text else ()


def _upload(file: StoredFile) -> Upload:
    return Upload(file.name, file.mime, file.content)
