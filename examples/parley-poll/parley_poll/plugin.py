"""The plugin poll: what it adds to Parley."""

from collections.abc import Sequence

from parley import (
    NOT_KNOWN,
    OTHERWISE,
    TALK,
    Answer,
    Button,
    ChatKey,
    Command,
    Core,
    Invocation,
    Language,
    OutboundMessage,
    Plugin,
    Rewritten,
    Right,
    Rights,
    Role,
    Tool,
    ToolContext,
    ToolFailed,
    ToolResult,
    literal,
    reply,
    say,
    tool,
    whispered,
)
from parley_poll.table import BY_CHAT, START, Poll, Polls
from parley_poll.texts import TEXTS

MOST_ANSWERS = 8
LONGEST = 60
VOTE = "vote"


class PollPlugin(Plugin):
    """Polls with buttons."""

    name = "poll"
    texts = TEXTS
    tool_names = frozenset({"poll_results"})
    migrations = (START, BY_CHAT)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._polls = core.store.table(Polls)

    async def poll(self, given: Invocation) -> Answer:
        """Ask, or vote."""
        match given.arguments.split():
            case ["vote", number, answer] if number.isdecimal() and answer.isdecimal():
                return await self._vote(given, int(number), int(answer))
        question, *answers = [part.strip()[:LONGEST] for part in given.arguments.split("|")]
        answers = list(dict.fromkeys(filter(None, answers)))
        if not question or not 1 < len(answers) <= MOST_ANSWERS:
            return reply(say("poll_needs_answers", given.language, most=MOST_ANSWERS, slash=given.slash))
        masked = [self.core.secrets.mask(text) for text in (question, *answers)]
        return _shown(await self._polls.ask(given.chat, given.asked, masked[0], masked[1:]), given.language)

    async def _vote(self, given: Invocation, number: int, answer: int) -> Answer:
        person = self.core.access.principal(given.chat, given.sender)
        poll = await self._polls.vote(given.chat, number, person, answer)
        if poll is None:
            return whispered(given, say("poll_gone", given.language))
        return Rewritten(_shown(poll, given.language))

    def commands(self) -> Sequence[Command]:
        """Anybody in the chat may vote; members may ask."""
        asking = Right("write", direct=Role.MEMBER, group=Role.MEMBER)
        return (
            Command(
                "poll",
                {"en": "Ask the chat, with a button for each answer", "zh": "发起投票，每个选项一个按钮"},
                self.poll,
                rights=Rights({VOTE: TALK, OTHERWISE: asking}),
                arguments="QUESTION",
                example={"en": "Lunch? | Pizza | Soup", "zh": "午饭？ | 披萨 | 汤"},
            ),
        )

    def tools(self) -> Sequence[Tool]:
        @tool(execution="parallel", label="Counting the votes", labels={"zh": "统计投票"})
        async def poll_results(*, context: ToolContext) -> ToolResult:
            """Return the polls of this chat with the votes for each answer, newest first."""
            if context.chat_id is None:
                raise ToolFailed("there is no chat whose polls could be read")
            polls = await self._polls.of(ChatKey.parse(context.chat_id))
            lines = [f"{poll.question} {', '.join(f'{name}: {votes}' for name, votes in poll.votes)}" for poll in polls]
            return ToolResult.of("\n".join(lines) or "There is no poll in this chat.", NOT_KNOWN)

        return (poll_results,)


def _shown(poll: Poll, language: Language) -> OutboundMessage:
    """Return the message of a poll, with a button for each answer."""
    lines = [say("poll_line", language, answer=literal(name), votes=votes) for name, votes in poll.votes]
    title = say("poll_asked", language, question=literal(poll.question))
    buttons = [
        (Button(label=name, action=f"/poll {VOTE} {poll.id} {place}"),) for place, (name, _) in enumerate(poll.votes)
    ]
    return OutboundMessage(markdown="  \n".join([title, *lines]), buttons=tuple(buttons))
