"""Values that people are offered while they type the arguments of several commands.

Each shows only what the person may see by the command itself; the table has checked that they may use it.
"""

from collections.abc import Iterable

from channels.commands import Suggestion
from gateway.commands.command import Unfinished
from gateway.permissions.question_text import one_line
from gateway.runs.chat_models import ChatModels
from gateway.schedule.jobs.jobs import Jobs

MOST_CHARS = 60
"""Characters of a label beside its value."""


def suggested(value: str, about: str = "") -> Suggestion:
    """Return a value with a few words about it."""
    words = one_line(about, MOST_CHARS)
    return Suggestion(value=value, label=f"{value} {words}".strip())


def suggested_models(models: ChatModels, typing: Unfinished) -> Iterable[Suggestion]:
    """Return the models that the person may choose."""
    return (suggested(each.id) for each in models.offered if models.allows(typing.role, each.id))


async def suggested_jobs(jobs: Jobs, typing: Unfinished) -> Iterable[Suggestion]:
    """Return the jobs of the chat; for guests in groups their own."""
    found = await jobs.shown(typing.chat)
    mine = (each for each in found if each.person == typing.sender.id or not typing.is_guest_in_group)
    return [suggested(each.id, each.words) for each in mine]
