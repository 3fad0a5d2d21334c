"""Plans: what a program wants to be done at a time, which its person asks for or not."""

from collections.abc import Sequence

from msgspec import Struct

from agent_core.origin import DATA
from channels.base import Button, ChatKey, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Rewritten, Said
from gateway.commands.command import Invocation, reply
from gateway.commands.press import Press, press_action
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.api.table import ApiKey
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.store.table import Table, first_readable
from gateway.texts.say import LANGUAGES, say

PLANS = """
CREATE TABLE api_plans (
  id INTEGER PRIMARY KEY,
  chat TEXT NOT NULL,
  principal TEXT NOT NULL,
  language TEXT NOT NULL,
  name TEXT NOT NULL,
  words TEXT NOT NULL
);
"""
KIND, TOPIC = "api_plan", "plan"
LONGEST = 1_000
"""Characters of a plan."""


class Plan(Struct, frozen=True):
    """A program's request for something later, such as a reminder, in its own words."""

    id: int
    language: str
    name: str
    """That of the key."""
    words: str


class Plans(Table):
    """Reads plans."""

    async def find(self, number: int) -> Plan | None:
        """Return a plan."""

        def read(connection: Connection) -> Plan | None:
            rows = connection.execute("SELECT id, language, name, words FROM api_plans WHERE id = ?", (number,))
            return first_readable(rows, lambda row: Plan(*row), "api_plans")

        return await self.read(read)


class PlanWork:
    """Shows plans in the chat, where their person lets the agent set them."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._plans = core.store.table(Plans)

    async def propose(self, key: ApiKey, words: str) -> None:
        """Show a plan in the chat of a key."""
        row = str(key.chat), key.principal, key.language, key.name, self._core.secrets.mask(words[:LONGEST])

        def change(connection: Connection) -> Sequence[Owed]:
            insert = (
                "INSERT INTO api_plans (chat, principal, language, name, words) VALUES (?, ?, ?, ?, ?) RETURNING id"
            )
            [(number,)] = connection.execute(insert, row).fetchall()
            return [Owed(KIND, str(number), key.chat)]

        await self._core.owe(change)

    async def show(self, item: Owed) -> Sequence[Post]:
        """Return the message with a plan and its button."""
        plan = await self._plans.find(int(item.key))
        if plan is None:
            return ()
        language = next((each for each in LANGUAGES if each == plan.language), self._core.settings.language)
        text = say("api_plan", language, name=literal(plan.name), words=literal(plan.words))
        button = Button(label=say("api_plan_button", language), action=press_action("api", TOPIC, str(plan.id)))
        message = OutboundMessage(markdown=text, buttons=((button,),))
        return [Post(f"api-plan-{plan.id}:proactive:0", f"api-plan-{plan.id}", item.chat, message, DATA)]

    async def press(self, given: Invocation) -> Answer:
        """Let the agent set the plan, as something that its person passes on."""
        plan = await self._plans.find(int(given.arguments)) if given.arguments.isdecimal() else None
        if plan is None:
            return Rewritten(reply(say("api_plan_gone", given.language)))
        return Said(say("api_plan_said", given.language, words=plan.words), DATA)

    @property
    def presses(self) -> Sequence[Press]:
        return (Press(TOPIC, self.press, always(Right("write", Role.ADMIN, Role.ADMIN))),)


def erase_plans(connection: Connection, principal: str, direct: Sequence[ChatKey]) -> None:
    """Erase the plans of a person, and all of these chats."""
    connection.execute("DELETE FROM api_plans WHERE principal = ?", (principal,))
    for chat in direct:
        connection.execute("DELETE FROM api_plans WHERE chat = ?", (str(chat),))
