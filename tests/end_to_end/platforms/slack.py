"""Emulated Slack over Socket Mode."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from parley.testing.emulators import slack_chat, slack_state
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram_updates import Json
from tests.end_to_end.platforms.emulated import Emulated, Refusal
from tests.end_to_end.platforms.platform import Chat, Emulator, Facts, Person
from tests.end_to_end.program import START_SECONDS, Program

STRANGE: list[Json] = [
    {"type": "message"},
    {"type": "message", "channel": None, "ts": "now", "user": 7, "text": ["hi"]},
    {"type": "message", "channel": "C1", "ts": "1.2", "subtype": "message_changed"},
    {"type": "message", "channel": "C1", "ts": "1.2", "subtype": "brand_new", "text": "hi"},
    {"type": "app_mention", "channel": "C1", "ts": "1.3"},
    {"type": "brand_new_kind", "id": 1},
    {"type": "reaction_added", "item": {}},
    {"type": 5},
    {},
]
"""Events that the adapter does not expect."""


class Slack(Emulated):
    facts = Facts(
        name="slack",
        longest=12_000,
        longest_said=12_000,
        emulated=True,
        groups=True,
        tells_history=True,
        people_edit=True,
        files=True,
        photos=True,
        shows_typing=True,
        command_sign="!",
        knows_language=True,
        same_again=True,
        plans=True,
        knows_resends=True,
    )
    chat_parameter = "channel"
    send, edit, reply = "chat.postMessage", "chat.update", "chat.postMessage"
    download, first = "download", "auth.test"
    refused = Refusal("SLACK_BOT_TOKEN", "xoxb-REVOKED-canary", ("Slack rejects the bot token", "api.slack.com/apps"))
    strange = STRANGE

    def __init__(self) -> None:
        self.slack = SlackEmulator()
        super().__init__(self.slack, cast("Emulator", self.slack))
        self.secrets = (self.slack.bot_token, self.slack.app_token)
        self._opened = 0

    def settle(self, program: Program) -> None:
        super().settle(program)
        # A kill may cost an event its first retry, on the other dead socket; Slack's minute to the next is shortened.
        self.slack.line.retry_delays = (0.0, 1.0, 5.0)
        program.set("SLACK_BOT_TOKEN", self.slack.bot_token)
        program.set("SLACK_APP_TOKEN", self.slack.app_token)
        program.set("SLACK_BASE_URL", self.slack.api_url)

    def id_of(self, number: int) -> str:
        return f"U{7_000_000_000 + number}"

    async def launch(self) -> None:
        self._opened = len(self.slack.calls_of("apps.connections.open"))
        await super().launch()

    async def listening(self) -> None:
        await self.slack.wait_for(
            lambda: len(self.slack.calls_of("apps.connections.open")) > self._opened and self.slack.connected,
            START_SECONDS,
        )

    async def begin(self) -> None:
        await super().begin()
        self.slack.forgetful = False
        self.slack.pace.on = True
        self.slack.pace.forget()  # it counts the calls in all chats, and tests follow each other faster than people do

    def lift_limits(self) -> None:
        self.slack.pace.on = False

    def hurry(self, times: float) -> None:
        self.slack.pace.quickness = times

    def revoke(self) -> None:
        self.slack.revoke()

    async def heard(self) -> None:
        """Wait until every event is acknowledged, which happens once it is stored."""
        await self.slack.wait_for(lambda: self.slack.unheard == 0, START_SECONDS)

    async def room(self, title: str, people: Sequence[Person]) -> Chat:
        """Create a thread: a question in the channel itself would be answered in a thread of its own."""
        channel = cast("slack_chat.Chat", self.emulator.group(title, people))
        first = await cast("Chat", channel).says(people[0], f"This is about {title}.")
        return cast("Chat", channel.thread(cast("slack_state.Message", first)))


class SlackPane(Slack):
    """Slack whose private chats are threads of the assistant's pane, where answers are streamed."""

    facts = replace(Slack.facts, streams=True)
    edit = "chat.appendStream"

    def private(self, person: Person) -> Chat:
        chat = cast("slack_chat.Chat", super().private(person))
        return cast("Chat", chat.pane(cast("slack_state.Person", person)))
