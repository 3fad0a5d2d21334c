"""The plugin poll: what it adds to Parley."""

from collections.abc import Sequence

from parley import (
    NOT_KNOWN,
    TALK,
    Answer,
    Button,
    ChatKey,
    Command,
    Connection,
    Core,
    Forgotten,
    Invocation,
    OutboundMessage,
    Plugin,
    Press,
    Rewritten,
    Right,
    Role,
    Screen,
    Settling,
    Tool,
    ToolContext,
    ToolFailed,
    ToolResult,
    always,
    literal,
    press_action,
    reply,
    say,
    tool,
    whispered,
)
from parley_poll.screen import PollsScreen
from parley_poll.table import BY_CHAT, START, Poll, Polls, add, erase, vote
from parley_poll.texts import TEXTS

MEMBERS = Right("write", direct=Role.MEMBER, group=Role.MEMBER)
MOST_CHOICES = 8
LONGEST = 60


class PollPlugin(Plugin):
    """Polls with buttons."""

    name = "poll"
    texts = TEXTS
    tool_names = frozenset({"poll_results"})
    migrations = (START, BY_CHAT)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._polls = core.store.table(Polls)

    async def ask(self, given: Invocation) -> Answer:
        """Ask the chat, with a button for each choice."""
        parts = self.core.secrets.mask(given.arguments).split("|")
        question, *choices = [part.strip()[:LONGEST] for part in parts]
        choices = list(dict.fromkeys(filter(None, choices)))
        if not question or not 1 < len(choices) <= MOST_CHOICES:
            return reply(say("poll_needs_choices", given.language, most=MOST_CHOICES, slash=given.slash))
        asker = self.core.access.principal(given.chat, given.sender)
        # the row is written in the transaction that queues the message: a kill leaves both or neither
        return Settling(lambda connection: shown(add(connection, given.chat, asker, question, choices)))

    async def vote(self, given: Invocation) -> Answer:
        """Count the vote, and show it in the message that was pressed."""
        number, choice = map(int, given.arguments.split())
        person = self.core.access.principal(given.chat, given.sender)

        def change(connection: Connection) -> OutboundMessage | Rewritten:
            poll = vote(connection, number, person, choice)
            return Rewritten(shown(poll)) if poll else whispered(given, say("poll_gone", given.language))

        return Settling(change)

    def commands(self) -> Sequence[Command]:
        return (
            Command(
                "poll",
                {"en": "Ask the chat, with a button for each choice", "zh": "发起投票，每个选项一个按钮"},
                self.ask,
                rights=always(MEMBERS),
                arguments="QUESTION",
                example={"en": "Lunch? | Pizza | Soup", "zh": "午饭？ | 披萨 | 汤"},
            ),
        )

    def presses(self) -> Sequence[Press]:
        return (Press("vote", self.vote, always(TALK)),)

    def screens(self) -> Sequence[Screen]:
        return (PollsScreen(self.core, self._polls),)

    def tools(self) -> Sequence[Tool]:
        @tool(execution="parallel", label="Counting the votes", labels={"zh": "统计投票"})
        async def poll_results(*, context: ToolContext) -> ToolResult:
            """Return the polls of this chat with the votes for each choice, newest first."""
            if context.chat_id is None:
                raise ToolFailed("there is no chat whose polls could be read")
            lines = [f"{each.question} {each.tally}" for each in await self._polls.of(ChatKey.parse(context.chat_id))]
            return ToolResult.of("\n".join(lines) or "There is no poll in this chat.", NOT_KNOWN)

        return (poll_results,)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


def shown(poll: Poll) -> OutboundMessage:
    """Return the message of a poll as it stands, in the words of who asked: it reads the same in each language."""
    lines = [f"**{literal(poll.question)}**", *(f"{literal(choice)}: {count}" for choice, count in poll.votes)]
    rows = [
        (Button(label=choice, action=press_action(PollPlugin.name, "vote", f"{poll.id} {place}")),)
        for place, (choice, _) in enumerate(poll.votes)
    ]
    return OutboundMessage(markdown="  \n".join(lines), buttons=tuple(rows))
