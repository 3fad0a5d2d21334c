"""The command /tools: what tools may do in a group, whoever asks for it."""

from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.levels import DEFAULT, WORDS, level_words, place_of
from gateway.permissions.group_rules import GroupRules
from gateway.permissions.groups import TOOLS
from gateway.permissions.roles import Role
from gateway.plugins.groups.told import OF_GROUPS, told
from gateway.settings.permissions import NAMES
from gateway.settings.permissions import WORDS as RULINGS
from gateway.texts.say import say

_CLASSES = {"读取": "read", "写入": "write", "网络": "net", "程序": "exec", "沙箱": "sandboxed", "管理": "admin"}
_RULINGS = {"允许": "allow", "询问": "ask", "禁止": "deny"}


class GroupToolCommands:
    """The command /tools. It only takes away from what a person's role allows."""

    def __init__(self, rules: GroupRules) -> None:
        self._rules = rules

    async def tools(self, given: Invocation) -> Answer:
        """Show or set the limit of a class of tools: for the group with its threads, unless a level is named."""
        words = given.arguments.split()
        if not words:
            return reply(self._limits(given))
        level = WORDS.get(words[-1].lower()) if len(words) > 2 else None  # noqa: PLR2004
        of, *rest = (each.lower() for each in (words[:-1] if level else words))
        of, word = _CLASSES.get(of, of), _RULINGS.get(rest[0], rest[0]) if len(rest) == 1 else ""
        if of not in NAMES or word not in (*RULINGS, *DEFAULT):
            return reply(self.commands[0].usage(given.slash, given.language))
        place, name = place_of(given.chat, level or "channel"), f"{TOOLS}{of}"
        await self._rules.set(given.chat, given.sender.id, place, name, None if word in DEFAULT else word)
        before = told(self._rules.groups, given, name, place).before
        return Rewritten(reply("\n\n".join(filter(None, (before, self._limits(given))))))

    def _limits(self, given: Invocation) -> str:
        language, groups = given.language, self._rules.groups
        lines = []
        for of, word in groups.limits(given.chat).items():
            place = groups.place(given.chat, f"{TOOLS}{of}") or groups.place(given.chat, f"{TOOLS}exec")
            level = level_words(place, language) if place else ""
            lines.append(say(f"tools_{word}", language, of=of, what=say(f"tools_class_{of}", language), level=level))
        parts = [say("tools_limited", language), "\n".join(lines)] if lines else [say("tools_free", language)]
        if given.is_admin:
            parts.append(say("tools_how", language, slash=given.slash))
        return "\n\n".join(parts)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "tools",
                {"en": "What my tools may do in a group", "zh": "我的工具在群里可以做什么"},
                self.tools,
                rights=OF_GROUPS,
                arguments="[read|write|net|exec|sandboxed|admin] [allow|ask|deny|default] [here|workspace|everywhere]",
                example="exec deny",
                offered_to=Role.MEMBER,
                after="speakers",
            ),
        )
