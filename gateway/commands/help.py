"""The command /help."""

from collections.abc import Iterable, Sequence

from channels.commands import Suggestion
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, Unfinished, reply
from gateway.commands.more import MORE, short_first
from gateway.commands.suggested import suggested
from gateway.permissions.rights import TALK, always
from gateway.texts.say import arguments_in, say


class HelpCommands:
    """The command /help."""

    async def help_(self, given: Invocation) -> Answer:
        """List the main commands or, if asked for, all of them, or explain one."""
        wanted = given.arguments.strip().lstrip("/!").casefold()
        shown = given.commands
        named = next((command for command in shown if command.name == wanted), None)
        if named is not None:
            return reply(f"{named.about[given.language]}\n\n{named.usage(given.slash, given.language)}")
        if wanted and wanted not in MORE:
            return reply(await given.unknown(wanted))
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
                "help",
                {"en": "List the commands, or explain one", "zh": "列出命令，或说明其中一个"},
                self.help_,
                rights=always(TALK),
                suggest=_commands,
                arguments="[NAME|more]",
                example="remind",
            ),
        )


def _list(commands: Sequence[Command], given: Invocation, title: str, *, with_arguments: bool = True) -> str:
    arguments = [arguments_in(each.arguments, given.language) if with_arguments else "" for each in commands]
    rows = (
        f"- {given.slash}{command.name} {hint}".rstrip() + f" – {command.about[given.language]}"
        for command, hint in zip(commands, arguments, strict=True)
    )
    return "\n".join([say(title, given.language), "", *rows])


async def _commands(typing: Unfinished) -> Iterable[Suggestion]:
    return (suggested(each.name, each.about[typing.language]) for each in typing.commands)
