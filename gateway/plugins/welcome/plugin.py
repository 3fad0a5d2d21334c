"""The plugin of the welcome: its command."""

from collections.abc import Sequence

from agent_core.origin import CLEAN
from channels.base import Button, OutboundMessage
from gateway.chat.replies import Quoting
from gateway.commands.command import Command, Invocation
from gateway.permissions.rights import TALK, always
from gateway.plugin import Plugin
from gateway.plugins.welcome.texts import EXAMPLES, TEXTS
from gateway.texts.say import say


class Welcome(Plugin):
    """The command /start: a greeting, and what to try first."""

    name = "welcome"
    texts = TEXTS

    async def start(self, given: Invocation) -> Quoting:
        """Say hello, and offer requests to try."""
        lines = [say("welcome_hello", given.language, slash=given.slash, name=self.core.settings.now.ai_name)]
        if notice := self.core.models.now.notice(given.language):
            lines.append(notice)
        buttons = tuple((Button(label=example, action=example),) for example in EXAMPLES[given.language])
        return Quoting(OutboundMessage(markdown="\n\n".join(lines), buttons=buttons), CLEAN)

    def commands(self) -> Sequence[Command]:
        return (
            Command(
                "start",
                {"en": "Say hello and show what to try", "zh": "打招呼并给出示例"},
                self.start,
                rights=always(TALK),
                after="help",
            ),
        )


PLUGIN = Welcome
