"""Discord in the showroom."""

import re
from collections.abc import Iterable, Sequence

from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from parley.testing.emulators.discord_state import THREAD, THREAD_STARTER, Channel, Form, Message, Person
from tests.emulators.showroom.exhibit import GROUP, PEOPLE, Exhibit, Now, Said, Upload, direct
from tests.emulators.showroom.shown import Part, Quote, ShownButton, ShownMenu, ShownMessage, Sign
from tests.emulators.showroom.trouble import Troubles

WRITES = ("POST message", "PATCH message", "POST interaction", "PATCH answer", "POST followup")
TYPING_SECONDS = 10.0
_MENTION = re.compile(r"<@!?(\d+)>")


class DiscordExhibit(Exhibit[Person, Chat, Message]):
    name = "discord"
    title = "Discord"
    group_title = "#general"
    help = "/help"
    hint = "Type / for the commands"

    def __init__(self, now: Now) -> None:
        self.discord = DiscordEmulator()
        people = {name: self.discord.person(name, language="en-GB") for name in PEOPLE}
        rooms = {direct(name): self.discord.private(person) for name, person in people.items()}
        rooms[GROUP] = self.discord.group("Team", list(people.values()))
        more = {"forget": ("Forget the session", self.discord.invalidate)}
        super().__init__(self.discord, people, rooms, Troubles(self.discord, WRITES, more), now)
        self._names = {person.id: person.name for person in (self.discord.bot, *people.values())}

    @property
    def settings(self) -> dict[str, str]:
        return {"DISCORD_BOT_TOKEN": self.discord.token, "DISCORD_BASE_URL": self.discord.api_url}

    @property
    def connected(self) -> bool:
        return self.discord.connected

    @property
    def commands(self) -> dict[str, str]:
        return self.discord.commands

    def person_id(self, name: str) -> str:
        return self.people[name].id

    def _messages(self, chat: Chat) -> Sequence[Message]:
        return [each for each in chat.everything if not (each.deleted or each.kind == THREAD_STARTER)]

    def _id(self, message: Message) -> str:
        return message.id

    def _sender(self, message: Message) -> Person:
        return message.sender

    def _show(self, room: str, message: Message) -> ShownMessage:
        menus = [
            ShownMenu(menu.placeholder, tuple(ShownButton(label, data) for label, data in menu.options.items()))
            for menu in message.menus
        ]
        rows = [[ShownButton(each.text, each.data, each.url) for each in row] for row in message.buttons]
        asked, answered = message.interaction, message.reference
        return ShownMessage(
            message.id,
            message.sender.name,
            message.sender.is_bot,
            self._when(message.at),
            tuple(self._parts(message)),
            edited=message.edited_timestamp is not None,
            buttons=tuple(tuple(row) for row in rows),
            menus=tuple(menus),
            files=self._shown_files(room, message),
            thread=_root(message.channel),
            quote=None if answered is None else Quote(answered.sender.name, self._named(answered.content)),
            only_for=asked.person.name if asked is not None and message.ephemeral else None,
            used=f"{asked.person.name} used /{asked.name}" if asked is not None and asked.name else "",
            waiting=message.loading,
            reactions=tuple(each for each, people in message.reactions.items() if people),
        )

    def _previews(self, chat: Chat) -> Sequence[ShownMessage]:
        """Return the open forms, which are filled in by lines such as `Time: tomorrow`."""
        return [self._shown_form(each) for each in chat.channel.forms if each.is_open]

    def _shown_form(self, form: Form) -> ShownMessage:
        lines = [f"**{form.title}**", *(f"{label}:" for label in _labels(form)), "-# Write these lines to fill it in."]
        text = Part("\n".join(lines), "discord", "embed")
        opened = self._when(form.opened_by.at)
        name = self.discord.bot.name
        return ShownMessage(form.data, name, by_bot=True, at=opened, parts=(text,), only_for=form.person.name)

    def _parts(self, message: Message) -> Iterable[Part]:
        if message.content:
            yield Part(self._named(message.content), "discord", "embed" if message.has_layout else "")
        for embed in message.embeds:
            words = [str(embed[name]) for name in ("title", "description") if embed.get(name)]
            yield Part(self._named("\n".join(words)), "discord", "embed")

    def _named(self, text: str) -> str:
        return _MENTION.sub(lambda found: f"@{self._names.get(found[1], 'unknown-user')}", text)

    def _signs(self, chat: Chat) -> Sequence[Sign]:
        channels = [chat.channel, *chat.channel.threads.values()]
        return [Sign("is typing", _root(each)) for each in channels if self._typing(each)]

    def _typing(self, channel: Channel) -> bool:
        typed = [each for each in channel.actions if each.action == "typing"]
        if not typed or self.discord.clock() - typed[-1].at > TYPING_SECONDS:
            return False
        said = [each for each in channel.messages.values() if each.sender == self.discord.bot]
        return not said or said[-1].at < typed[-1].at

    def _files(self, message: Message) -> Sequence[Upload]:
        return [Upload(each.name, each.mime, each.content) for each in message.files]

    async def _say(
        self, chat: Chat, person: Person, text: str, said: Said, answered: Message | None, root: Message | None
    ) -> None:
        file = said.file
        document = None if file is None else (file.name, file.content, file.mime)
        where = chat if root is None else chat.thread(root)
        form = next((each for each in where.channel.forms if each.is_open and each.person == person), None)
        if form is not None and (filled := _filled(form, text)):
            await where.submits(person, form, filled)
            return
        await where.says(person, text, reply_to=answered, document=document)

    async def _press(self, chat: Chat, person: Person, message: Message, label: str, data: str | None) -> None:
        if any(menu.options.get(label) == data for menu in message.menus):
            await chat.picks(person, label, message=message)
        else:
            await chat.presses(person, label, data=data, message=message)

    async def _edit(self, chat: Chat, message: Message, text: str) -> None:
        await chat.edits(message, text)


def _root(channel: Channel) -> str | None:
    """Return the message below which the channel's messages are shown."""
    return channel.origin.id if channel.kind == THREAD and channel.origin is not None else None


def _labels(form: Form) -> list[str]:
    return [str(each["label"]) for each in form.components if isinstance(each, dict) and "label" in each]


def _filled(form: Form, text: str) -> dict[str, str]:
    """Return what lines such as `Time: tomorrow` fill in; a label alone has the lines below it."""
    labels = "|".join(map(re.escape, _labels(form)))
    parts = re.split(rf"^({labels}):", text, flags=re.MULTILINE)
    return {label: value.strip() for label, value in zip(parts[1::2], parts[2::2], strict=True)}
