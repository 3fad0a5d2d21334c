"""Commands about an answer: /why tells how it came about, and the button Details shows the tool calls of its run."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from zoneinfo import ZoneInfo

from agent_core.origin import CLEAN
from channels.base import (
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    Sender,
    TaskEnded,
)
from channels.capabilities import LinksToMessages
from channels.commands import Suggestion
from channels.text import literal
from gateway.chat.replies import Answer, Once
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.more import short_first, split_more
from gateway.permissions.permissions import COVERED, RULE
from gateway.permissions.question_text import one_line, shown
from gateway.permissions.rights import LOOK, always
from gateway.permissions.sources import named, origin_of_post
from gateway.permissions.unattended import JOB
from gateway.plugin import Core
from gateway.plugins.why.details import code, cost, details, model
from gateway.schedule.jobs.preview import in_short
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, Firing
from gateway.store.question import Question, QuestionState
from gateway.store.rows import InboxItem, Post, inbox_seqs
from gateway.store.run_records import Account, CallRecord, RunRecord, SendRecord
from gateway.texts.moments import moment_words
from gateway.texts.say import Language, say

MOST_WORDS = 100
"""Characters of the message that began a run."""
MOST_NAME = 40
MOST_ID = 20
"""Characters of a mistyped id that a reply quotes."""
MOST_RUNS = 25
"""Runs that are offered while an id is typed."""
_COMMAND_REPLY = "inbox-"
_MOMENT = "%Y-%m-%d %H:%M"
_DECIDED = {
    QuestionState.PENDING: "why_pending",
    QuestionState.APPROVED: "why_approved",
    QuestionState.USED: "why_approved",
    QuestionState.DENIED: "why_denied",
    QuestionState.EXPIRED: "why_expired",
    QuestionState.WITHDRAWN: "why_withdrawn",
}


class WhyCommands:
    """The command /why and the button "Details"."""

    def __init__(self, core: Core) -> None:
        self._store = core.store
        self._delivery = core.delivery
        self._access = core.access
        self._clock = core.clock

    async def details(self, given: Invocation) -> Answer:
        """Show the calls of a run. Pressed again, the same message is edited."""
        run_id = given.arguments.strip()
        run = await self._store.run_records.find(run_id, given.chat) if run_id else None
        if run is None:
            return reply(say("details_gone", given.language))
        if not _may_see(given, run):
            return reply(say("why_not_yours", given.language))
        account = await self._store.run_records.account(run)
        said = await self._store.transcript.messages_of(run.run)
        return Once(f"{run.run}:details", reply(details(account, said, given.language)))

    async def why(self, given: Invocation) -> Answer:
        """Tell how a message came about: the one replied to, the run with a certain id, or else the last answer."""
        language, wanted = given.language, split_more(given.arguments)[0].strip("`").lower()
        if wanted:
            run = await self._by_id(given, wanted)
            unknown = say("why_unknown_id", language, id=literal(wanted[:MOST_ID]), slash=given.slash)
            return await self._told(given, run, None) if run else reply(unknown)
        post = await self._replied(given)
        if post is not None:
            return await self._told(given, await self._run_of(post), post)
        if _replied_to(given) is not None and _replied_to(given) != given.chat.thread:
            return reply(say("why_not_mine", language, slash=given.slash))
        await self._delivery.caught_up(given.chat)
        run = await self._store.run_records.last(given.chat)
        return await self._told(given, run, None) if run else reply(say("why_nothing", language, slash=given.slash))

    def _name_of(self, chat: ChatKey, person: str) -> str:
        """Return the name of somebody on the platform of a chat, or their id if it is not known."""
        return self._access.name_of(self._access.principal(chat, Sender(id=person, name=""))) or person

    async def _by_id(self, given: Invocation, run_id: str) -> RunRecord | None:
        """Return a run of this chat; for owners in private chats, of any chat."""
        chat = None if given.is_owner and not given.in_group else given.chat
        return await self._store.run_records.find(run_id, chat)

    async def _replied(self, given: Invocation) -> Post | None:
        """Return our message that the command replies to.

        The first message of a thread counts only if there is no answer in the thread itself.
        """
        replied = _replied_to(given)
        if replied is None:
            return None
        await self._delivery.caught_up(given.chat)
        found = await self._store.outbox.parts(given.chat, replied)
        if not found and given.chat.thread is not None:
            above = given.chat.without_thread
            if replied != given.chat.thread or await self._store.run_records.last(given.chat) is None:
                found = await self._store.outbox.parts(above, replied)
        return found[0] if found else None

    async def _run_of(self, post: Post) -> RunRecord | None:
        if post.run:
            return await self._store.run_records.find(post.run, post.chat)
        session, _, call = post.key.split(":", 2)  # sent by a tool
        return await self._store.run_records.of_call(session, call)

    async def _told(self, given: Invocation, run: RunRecord | None, post: Post | None) -> Answer:
        if run is None:
            return await self._without_run(given, post)
        if not _may_see(given, run):
            return reply(say("why_not_yours", given.language))
        account = await self._store.run_records.account(run)
        zone = given.session.conversation.zone()
        lines = [
            self._head(run, given.language, zone),
            await self._trigger(given, run, zone),
            say("why_model", given.language, model=model(run, given.language), tokens=f"{run.tokens:,}"),
        ]
        in_full = [
            *lines,
            *([_skills(account, given.language)] if run.ended is not None else []),  # they are recorded at its end
            say("why_sources", given.language, names=await self._sources(run, given)),
            say("why_delivery", given.language, sent=self._sent(account, post, given.language, zone)),
        ]
        calls = _calls(account, given.language, partial(self._name_of, given.chat))
        allowed = ["\n".join([say("why_calls", given.language), "", *calls])] if calls else []
        short, long = ("\n\n".join(["\n".join(f"- {each}" for each in rows), *allowed]) for rows in (lines, in_full))
        return short_first(given, f"why {run.run[:8]}", reply(short), reply(long))

    async def _without_run(self, given: Invocation, post: Post | None) -> OutboundMessage:
        """Tell about a message that no model wrote: a reminder, or the reply to a command."""
        if post is None:
            return reply(say("details_gone", given.language))
        language, zone = given.language, given.session.conversation.zone()
        sends = await self._store.run_records.sends(post.run)
        sent = self._one_sent(next((each for each in sends if each.key == post.key), None), language, zone)
        firing = await self._store.firings.named(post.run)
        if firing is not None:
            return reply("\n".join([f"- {await self._by_job(firing, given, zone)}", f"- {sent}"]))
        seqs = inbox_seqs([post.run]) if post.run.startswith(_COMMAND_REPLY) else []
        item = await self._store.run_records.heard(seqs[0]) if seqs else None
        if item is None or not isinstance(item.event, CommandInvoked | ButtonPressed):
            return reply(say("why_no_run", language, sent=sent))
        event = item.event
        name = f"/{event.name}" if isinstance(event, CommandInvoked) else event.action.split(maxsplit=1)[0]
        return reply(say("why_reply_to", language, name=_plain(name), who=_name(event.sender.name), sent=sent))

    def _head(self, run: RunRecord, language: Language, zone: ZoneInfo) -> str:
        when = slot_words(run.started, zone, language, self._clock.time())
        if run.ended is None:
            return say("why_running", language, id=run.run[:8], when=when)
        seconds = round(run.ended - run.started)
        head = say("why_run", language, id=run.run[:8], when=when, seconds=seconds, cost=cost(run.cost_usd))
        return f"{head} ({say('why_resumed', language, count=run.resumed)})" if run.resumed else head

    async def _trigger(self, given: Invocation, run: RunRecord, zone: ZoneInfo) -> str:
        firing = await self._store.firings.named(run.run)
        if firing is not None:
            return await self._by_job(firing, given, zone)
        said = await self._store.transcript.messages_of(run.run, most=1)
        seqs = inbox_seqs([each.id for each in said])
        item = await self._store.run_records.heard(seqs[0]) if seqs else None
        return _by_event(given, item) if item else say("why_by_unknown", given.language)

    async def _by_job(self, firing: Firing, given: Invocation, zone: ZoneInfo) -> str:
        job = await self._store.jobs.find(firing.job)
        when = slot_words(firing.due, zone, given.language, self._clock.time())
        if job is not None and isinstance(job.work, CheckIn):
            return say("why_by_check_in", given.language, when=when)
        return say("why_by_job", given.language, id=firing.job, when=when, words=in_short(job) if job else "")

    async def _sources(self, run: RunRecord, given: Invocation) -> str:
        post = Post(f"{run.run}:answer:0", run.run, given.chat, OutboundMessage(markdown=""), CLEAN)
        sources = (await origin_of_post(self._store, post)).sources
        return named(sources, given.language) if sources else say("why_none", given.language)

    def _sent(self, account: Account, post: Post | None, language: Language, zone: ZoneInfo) -> str:
        """Return the delivery of the message asked about, or of the answer."""
        key = post.key if post is not None else f"{account.run.run}:answer:0"
        found = next((each for each in account.sends if each.key == key), None)
        return self._one_sent(found or (account.sends[0] if account.sends else None), language, zone)

    def _one_sent(self, send: SendRecord | None, language: Language, zone: ZoneInfo) -> str:
        if send is None:
            return say("why_not_recorded", language)
        if send.state == "failed":
            return say("why_not_sent", language, count=send.attempts, reason=literal(send.reason or ""))
        if send.state != "sent" or send.said_at is None:
            return say("why_being_sent", language, count=max(send.attempts, 1))
        when = slot_words(send.said_at, zone, language, self._clock.time())
        if not send.attempts:
            return say("why_edited", language, when=when)
        return say("why_sent", language, when=when, count=send.attempts)

    async def _suggested(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the latest runs that the person may ask about, with their times."""
        person, zone = None if typing.is_admin else typing.sender.id, typing.session.conversation.zone()
        found = await self._store.run_records.newest(typing.chat, person, MOST_RUNS)
        return [
            Suggestion(value=run.run[:8], label=f"{run.run[:8]} {moment_words(run.started, zone, _MOMENT)}")
            for run in found
        ]

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "why",
                {"en": "Tell how an answer came about", "zh": "说明回答是怎样得出的"},
                self.why,
                rights=always(LOOK),
                arguments="[ID|more]",
                example="3f9a1c2b",
                on_messages={"en": "Why?", "zh": "为什么？"},
                after="rename",
                suggest=self._suggested,
            ),
            Command(
                "details",
                {"en": "Show the tool calls of a run", "zh": "显示工具调用"},
                self.details,
                rights=always(LOOK),
                hidden=True,
            ),
        )


def _may_see(given: Invocation, run: RunRecord) -> bool:
    return given.is_admin or run.person == given.sender.id


def _replied_to(given: Invocation) -> str | None:
    return given.event.reply_to if isinstance(given.event, CommandInvoked) else None


def _by_event(given: Invocation, item: InboxItem) -> str:
    """Return what a user or a task did that began the run, quoted as plain text."""
    event, language = item.event, given.language
    if isinstance(event, TaskEnded):
        return say("why_by_task", language, words=_plain(event.prompt))
    if isinstance(event, MessageReceived | MessageEdited):
        channel = given.session.conversation.channel
        linked = event.message_id if isinstance(channel, LinksToMessages) else ""
        link = channel.link(event.chat, linked) if linked and isinstance(channel, LinksToMessages) else None
        words = _plain(event.words) + (f" [{say('why_message_link', language)}]({link})" if link else "")
        return say("why_by_message", language, who=_name(event.sender.name), words=words)
    words = (
        event.action if isinstance(event, ButtonPressed) else event.name if isinstance(event, CommandInvoked) else ""
    )
    return say("why_by_press", language, who=_name(event.sender.name), words=_plain(words))


def _plain(text: str) -> str:
    return code(text, MOST_WORDS) if text.strip() else "…"


def _name(name: str) -> str:
    return literal(one_line(shown(name), MOST_NAME))


def _skills(account: Account, language: Language) -> str:
    names = ", ".join(code(name, MOST_NAME) for name in account.run.skill_names)
    return say("why_skills", language, names=names or say("why_none", language))


def _calls(account: Account, language: Language, name_of: Callable[[str], str]) -> list[str]:
    """Return a line for each tool and what allowed it, with the number of its calls if there are several."""
    asked = {_call_of(question): question for question in account.questions}
    lines = Counter((call.tool, _ruling(call, asked.get(call.call), language, name_of)) for call in account.calls)
    return [
        f"- {code(tool, MOST_NAME)}{f' × {count}' if count > 1 else ''}: {by}" for (tool, by), count in lines.items()
    ]


def _call_of(question: Question) -> str:
    return question.call.partition(":")[2] if question.is_of_model else question.call


def _ruling(call: CallRecord, question: Question | None, language: Language, name_of: Callable[[str], str]) -> str:
    if question is not None and question.is_of_model:
        return say("why_asked", language)
    if question is not None and (not call.ruled_by or call.behavior == "begun"):
        who = _name(name_of(question.answered_by)) if question.answered_by else say("ask_somebody", language)
        return say(_DECIDED[question.state], language, id=question.id, who=who)
    return _rule(call, language)


def _rule(call: CallRecord, language: Language) -> str:
    """Return what decided about a call of which no person was asked."""
    kind, _, name = (call.ruled_by or "").partition(" ")
    match kind:
        case "":
            return say("why_not_recorded", language)
        case _ if kind == RULE:
            return say("why_by_rule", language, id=name)
        case _ if kind == COVERED:
            return say("why_covered", language)
        case _ if kind == JOB:
            return say("why_planned", language)
        case _:
            return say("why_refused" if call.behavior == "deny" else "why_by_setting", language, setting=kind)
