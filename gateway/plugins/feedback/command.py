"""The command /feedback: what people said of answers."""

from channels.base import OutboundMessage
from channels.text import literal
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.feedback.table import Feedback
from gateway.texts.moments import moment_words
from gateway.texts.say import say

DAYS = 30
MOST_BAD = 10
_MOMENT = "%Y-%m-%d %H:%M"
_SHOWN_ID = 8
"""Characters of a run's id."""


class FeedbackCommand:
    """The command /feedback."""

    def __init__(self, core: Core, rows: Feedback) -> None:
        self._core = core
        self._rows = rows

    async def feedback(self, given: Invocation) -> OutboundMessage:
        """Tell how many answers were praised and blamed: in a group those of the group, else all."""
        language, zone = given.language, self._core.settings.zone
        since = self._core.clock.time() - DAYS * 24 * 3600
        found = await self._rows.since(since, given.chat if given.in_group else None)
        if not found:
            return reply(say("feedback_none", language, days=DAYS))
        bad = [each for each in found if not each.is_good]
        parts = [say("feedback_sums", language, days=DAYS, good=len(found) - len(bad), bad=len(bad))]
        if bad:
            lines = [
                f"- {moment_words(each.at, zone, _MOMENT)}, `{each.run[:_SHOWN_ID]}`, {literal(str(each.chat))}"
                for each in bad[:MOST_BAD]
            ]
            parts += [say("feedback_bad_ones", language, slash=given.slash), "\n".join(lines)]
        return reply("\n\n".join(parts))

    @property
    def command(self) -> Command:
        return Command(
            "feedback",
            {"en": "Show which answers people praised or blamed", "zh": "查看大家对回答的好评和差评"},
            self.feedback,
            rights=always(Right("read", Role.ADMIN, Role.ADMIN)),
            offered_to=Role.ADMIN,
            after="usage",
        )
