"""Emulated Discord."""

import asyncio
from collections.abc import Sequence
from typing import cast

from parley.testing.emulators import discord_chat
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.telegram_updates import Json
from tests.end_to_end.platforms.emulated import Emulated, Refusal
from tests.end_to_end.platforms.inbox import taken_in
from tests.end_to_end.platforms.platform import Chat, Emulator, Facts, Person
from tests.end_to_end.program import START_SECONDS, Program

STRANGE: list[Json] = [
    {"t": "MESSAGE_CREATE", "d": {"id": "seven", "channel_id": None}},
    {"t": "MESSAGE_CREATE", "d": {}},
    {"t": "MESSAGE_CREATE", "d": [1, 2, 3]},
    {"t": "MESSAGE_CREATE", "d": {"id": "5", "channel_id": "1", "author": {"id": "x"}, "content": ["hi"]}},
    {"t": "MESSAGE_UPDATE", "d": {"id": "5"}},
    {"t": "BRAND_NEW_KIND", "d": {"id": "1"}},
    {"t": "INTERACTION_CREATE", "d": {"id": "1", "type": 3}},
    {"t": "GUILD_CREATE", "d": {"id": "1", "channels": "none"}},
    {"t": "MESSAGE_CREATE", "d": None},
]
"""Events that the adapter does not expect."""


class Discord(Emulated):
    facts = Facts(
        name="discord",
        longest=2000,
        longest_said=2000,
        emulated=True,
        groups=True,
        tells_history=True,
        shows_replies=True,
        tells_replies=True,
        people_edit=True,
        files=True,
        photos=True,
        captions=True,
        shows_typing=True,
        menu=True,
        knows_language=True,
        same_again=True,
        knows_resends=True,
    )
    chat_parameter = "channel"
    send, edit, reply = "POST message", "PATCH message", "PATCH answer"
    download, first = "GET attachment", "GET me"
    refused = Refusal(
        "DISCORD_BOT_TOKEN",
        "MTIwNDI0MjAwMDAwMDAwMDAwMQ.Revok.REVOKED-canary-of-a-token",
        ("Discord rejects the bot token", "discord.com/developers/applications"),
    )
    strange = STRANGE

    def __init__(self) -> None:
        self.discord = DiscordEmulator()
        super().__init__(self.discord, cast("Emulator", self.discord))
        self.secrets = (self.discord.token, self.discord.token.rpartition(".")[2])
        self._connections = 0
        self._chats: list[discord_chat.Chat] = []

    def settle(self, program: Program) -> None:
        super().settle(program)
        program.set("DISCORD_BOT_TOKEN", self.discord.token)
        program.set("DISCORD_BASE_URL", self.discord.api_url)

    def id_of(self, number: int) -> str:
        return str(7_000_000_000 + number)

    async def launch(self) -> None:
        self._connections = len(self.discord.calls_of("gateway"))
        await super().launch()

    async def listening(self) -> None:
        """Wait until the program is connected and has registered its commands, which users need."""
        await self.discord.wait_for(
            lambda: (
                len(self.discord.calls_of("gateway")) > self._connections
                and self.discord.connected
                and bool(self.discord.commands)
            ),
            START_SECONDS,
        )

    async def menu(self) -> set[str]:
        return {*self.discord.commands}

    def lift_limits(self) -> None:
        self.discord.pace.on = False

    def hurry(self, times: float) -> None:
        self.discord.pace.quickness = times

    def revoke(self) -> None:
        self.discord.revoke()

    async def begin(self) -> None:
        await super().begin()
        self._chats.clear()
        self.discord.pace.on = True

    def private(self, person: Person) -> Chat:
        return self._kept(super().private(person))

    async def room(self, title: str, people: Sequence[Person]) -> Chat:
        return self._kept(await super().room(title, people))

    def _kept(self, chat: Chat) -> Chat:
        self._chats.append(cast("discord_chat.Chat", chat))
        return chat

    async def heard(self) -> None:
        """Wait until all messages and commands are stored. Discord's heartbeats only confirm what was received, so the
        store is read and commands are answered, and a further heartbeat then proves that the program has gone on."""
        for _ in range(START_SECONDS * 100):
            there = await taken_in(self.program.home)
            if not self.discord.unanswered and all(there.get(each, 0) >= count for each, count in self._said().items()):
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError(f"not taken in: {self._said()} of {there}")
        await self.discord.solicit()
        await self.discord.wait_for(lambda: self.discord.unheard == 0, START_SECONDS)

    def _said(self) -> dict[str, int]:
        """Return the number of events of each message for Parley."""
        bot = self.discord.bot
        return {
            message.id: 1 + len(message.edits)
            for chat in self._chats
            for message in chat.messages
            if not message.sender.is_bot and (chat.channel.guild is None or f"<@{bot.id}>" in message.content)
        }
