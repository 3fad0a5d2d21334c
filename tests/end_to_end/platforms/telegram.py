"""Emulated Telegram."""

from typing import cast

from parley.testing.emulators import telegram_chat
from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_text import units
from parley.testing.emulators.telegram_updates import Json
from tests.end_to_end.platforms.emulated import Emulated, Refusal
from tests.end_to_end.platforms.platform import Chat, Emulator, Facts
from tests.end_to_end.program import START_SECONDS, Program

STRANGE: list[Json] = [
    {"message": {"message_id": "seven", "chat": None}},
    {"message": {}},
    {"message": [1, 2, 3]},
    {"message": {"message_id": 5, "date": 1, "chat": {"id": 1, "type": "private"}}},
    {"message": {"message_id": 5, "date": 1, "chat": {"id": 1, "type": "private"}, "from": {"id": "x"}, "text": "hi"}},
    {"brand_new_kind": {"id": 1}},
    {"callback_query": {"id": "1", "from": {"id": 1, "is_bot": False, "first_name": "A"}, "chat_instance": "1"}},
    {"poll": {"id": "1"}},
    {},
]
"""Events that the adapter does not expect."""


class Telegram(Emulated):
    facts = Facts(
        name="telegram",
        longest=4096,
        measure=units,
        longest_said=4096,
        halves=True,
        emulated=True,
        groups=True,
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
    )
    chat_parameter = "chat_id"
    send, edit, reply, download = "sendMessage", "editMessageText", "sendMessage", "download"
    first = "getMe"
    refused = Refusal(
        "TELEGRAM_BOT_TOKEN", "4242000001:REVOKED-canary", ("Telegram rejects the bot token", "@BotFather")
    )
    strange = STRANGE

    def __init__(self) -> None:
        self.telegram = TelegramEmulator()
        super().__init__(self.telegram, cast("Emulator", self.telegram))
        self.secrets = (self.telegram.token, self.telegram.token.partition(":")[2])
        self._polls = 0

    def settle(self, program: Program) -> None:
        super().settle(program)
        program.set("TELEGRAM_BOT_TOKEN", self.telegram.token)
        program.set("TELEGRAM_BASE_URL", self.telegram.url)

    def id_of(self, number: int) -> str:
        return str(7_000_000_000 + number)

    async def launch(self) -> None:
        self._polls = len(self.telegram.calls_of("getUpdates"))
        await super().launch()

    async def listening(self) -> None:
        await self.telegram.wait_for(
            lambda: len(self.telegram.calls_of("getUpdates")) > self._polls and self.telegram.polling, START_SECONDS
        )

    async def menu(self) -> set[str]:
        own = "all_private_chats", ""
        await self.telegram.wait_for(lambda: own in self.telegram.command_menus, START_SECONDS)
        return {*self.telegram.commands}

    async def begin(self) -> None:
        await super().begin()
        self.telegram.flood.on = True

    def lift_limits(self) -> None:
        self.telegram.flood.on = False

    def hurry(self, times: float) -> None:
        self.telegram.flood.quickness = times

    def revoke(self) -> None:
        self.telegram.token = "4242000001:ANOTHER"  # noqa: S105
        self.telegram.kill_connections()

    async def heard(self) -> None:
        await self.telegram.wait_for(lambda: self.telegram.updates.unconfirmed == 0, START_SECONDS)

    def pictures(self, chat: Chat) -> list[bytes]:
        """Return the photos; a picture sent as a document is not shown as one."""
        messages = cast("telegram_chat.Chat", chat).bot_messages
        return [message.photo.content for message in messages if message.photo]
