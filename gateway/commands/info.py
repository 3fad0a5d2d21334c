"""Commands that tell: /start, /help, /status."""

from datetime import timedelta
from math import ceil

from channels.base import Button, OutboundMessage
from gateway.about import About
from gateway.commands.table import Command, Invocation, reply
from gateway.texts import Language, arguments_in, say

EXAMPLES: dict[Language, tuple[str, ...]] = {
    "en": (
        "What time is it in Tokyo?",
        "What is 17 * 23?",
        "Remind me in 5 minutes to stretch",
        "Book a flight to Tokyo",
    ),
    "zh": ("东京现在几点？", "17 * 23 等于多少？", "5分钟后提醒我活动一下", "我想订一张去东京的机票"),
}
"""Things that every model can do with the tools and skills there are, the demo model too."""


async def start(given: Invocation) -> OutboundMessage:
    lines = [say("start", given.language, slash=given.slash, name=given.desk.about.name)]
    if given.desk.about.demo:
        lines.append(say("demo", given.language))
    buttons = tuple((Button(label=example, action=example),) for example in EXAMPLES[given.language])
    return OutboundMessage(markdown="\n\n".join(lines), buttons=buttons)


async def help_(given: Invocation) -> OutboundMessage:
    rows = [
        f"- {given.slash}{command.name} {arguments_in(command.arguments, given.language)}".rstrip()
        + f" – {command.about[given.language]}"
        for command in given.commands
        if not command.hidden
    ]
    return reply("\n".join([say("help", given.language), "", *rows]))


async def status(given: Invocation) -> OutboundMessage:
    about, language = given.desk.about, given.language
    seconds = given.session.running_for
    if seconds is None:
        state = say("status_idle", language)
    else:
        state = say("status_running", language, seconds=round(seconds), waiting=given.session.waiting_count)
    up = timedelta(seconds=round(given.desk.clock.time() - about.started))
    # Why it is that model may name a server of the owner's, and is said in English only.
    owner = given.desk.access.is_owner(given.session.key, given.sender)
    model = f"{about.model} ({about.why})" if owner and language == "en" else about.model
    lines = [
        say("status_model", language, model=model),
        *_resting(given, owner=owner),
        say("status_run", language, state=state),
        await _context(given),
        _programs(about, language, owner=owner),
        say("status_up", language, time=str(up), version=about.version),
        say("status_chat", language, chat=str(given.session.key)),
    ]
    if asked := len(await given.desk.approvals.open_in(given.session.key)):
        lines.insert(2, say("status_questions", language, count=asked))
    if count := given.desk.tasks.in_background(given.session.key, given.sender):
        lines.insert(2, say("status_tasks", language, count=count))
    if about.demo:
        lines.insert(1, say("demo", language))
    return reply("\n".join(f"- {line}" for line in lines))


async def _context(given: Invocation) -> str:
    used, window = await given.session.conversation.tokens(), given.desk.about.context_window
    return say("status_context", given.language, used=f"{used:,}", window=f"{window:,}")


def _resting(given: Invocation, *, owner: bool) -> list[str]:
    """Models that have failed are the owner's to look after."""
    resting = given.desk.agents.resting() if owner else {}
    models = [
        say("resting_for", given.language, model=model, minutes=ceil(seconds / 60))
        for model, seconds in resting.items()
    ]
    return [say("status_resting", given.language, models=", ".join(models))] if models else []


def _programs(about: About, language: Language, *, owner: bool) -> str:
    """Whether programs are run here; why not tells of the machine, so only owners read it."""
    if about.sandbox:
        return say("status_programs", language, sandbox=about.sandbox)
    if owner:
        return say("status_no_programs_why", language, why=about.no_sandbox)
    return say("status_no_programs", language)


COMMANDS = (
    Command("start", {"en": "Say hello and show what to try", "zh": "打招呼并给出示例"}, start),
    Command("help", {"en": "List the commands", "zh": "列出命令"}, help_),
    Command("status", {"en": "Show the model and what is running", "zh": "显示模型与运行状态"}, status),
)
