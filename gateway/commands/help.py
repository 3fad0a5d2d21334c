"""The commands /start and /help."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer
from gateway.commands.command import LONGEST_NAME, Command, Invocation, reply
from gateway.commands.more import MORE, short_first
from gateway.permissions.rights import TALK, always
from gateway.settings.current import CurrentSettings
from gateway.texts.about import About
from gateway.texts.say import Language, arguments_in, say

EXAMPLES: dict[Language, tuple[str, ...]] = {
    "en": (
        "What time is it in Tokyo?",
        "What is 17 * 23?",
        "Remind me in 5 minutes to stretch",
        "Book a flight to Tokyo",
    ),
    "zh": ("东京现在几点？", "17 * 23 等于多少？", "5分钟后提醒我活动一下", "我想订一张去东京的机票"),
}
"""Requests that every model can handle with the built-in tools and skills, even the demo model."""


class HelpCommands:
    """The commands /start and /help."""

    def __init__(self, about: Callable[[], About], current: CurrentSettings) -> None:
        self._about = about
        self._current = current

    async def start(self, given: Invocation) -> OutboundMessage:
        lines = [say("start", given.language, slash=given.slash, name=self._current.now.ai_name)]
        if self._about().demo:
            lines.append(say("demo", given.language))
        buttons = tuple((Button(label=example, action=example),) for example in EXAMPLES[given.language])
        return OutboundMessage(markdown="\n\n".join(lines), buttons=buttons)

    async def help_(self, given: Invocation) -> Answer:
        """List the main commands or, if asked for, all of them, or explain one."""
        wanted = given.arguments.strip().lstrip("/!").casefold()
        shown = given.commands
        named = next((command for command in shown if command.name == wanted), None)
        if named is not None:
            return reply(f"{named.about[given.language]}\n\n{named.usage(given.slash, given.language)}")
        if wanted and wanted not in MORE:
            return reply(_unknown(wanted, given))
        main = [command for command in shown if command.main]
        rows = _list(main, given, "help", with_arguments=False)
        hint = say("help_hint", given.language, slash=given.slash)
        return short_first(
            given, "help", reply(f"{rows}\n\n{hint}"), reply(_list(shown, given, "help_all")), label="help_more"
        )

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "start",
                {"en": "Say hello and show what to try", "zh": "打招呼并给出示例"},
                self.start,
                rights=always(TALK),
            ),
            Command(
                "help",
                {"en": "List the commands, or explain one", "zh": "列出命令，或说明其中一个"},
                self.help_,
                rights=always(TALK),
                arguments="[NAME|more]",
                example="remind",
            ),
        )


def _unknown(wanted: str, given: Invocation) -> str:
    name = literal(wanted[:LONGEST_NAME])
    if wanted in given.withheld:
        return say("help_for_admins", given.language, slash=given.slash, name=name)
    meant = get_close_matches(wanted, [each.name for each in given.commands], n=1)
    if meant:
        return say("unknown_command_meant", given.language, slash=given.slash, name=name, meant=meant[0])
    return say("unknown_command", given.language, slash=given.slash, name=name)


def _list(commands: Sequence[Command], given: Invocation, title: str, *, with_arguments: bool = True) -> str:
    arguments = [arguments_in(each.arguments, given.language) if with_arguments else "" for each in commands]
    rows = (
        f"- {given.slash}{command.name} {hint}".rstrip() + f" – {command.about[given.language]}"
        for command, hint in zip(commands, arguments, strict=True)
    )
    return "\n".join([say(title, given.language), "", *rows])
