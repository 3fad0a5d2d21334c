"""Names the other chats in which a job posts, and its author."""

from collections.abc import Iterable

from channels.base import ChatKey, Sender
from channels.text import literal
from gateway.permissions.access import Access
from gateway.permissions.question_text import one_line, shown
from gateway.store.job import Job
from gateway.store.job_targets import JobTarget, TargetState
from gateway.texts.say import Language, say

MOST_NAME = 120
"""Characters of a name. The longest ones of platforms are those of a server of Discord with its channel."""
_STATES = {
    TargetState.WANTED: "target_wanted",
    TargetState.ASKED: "target_asked",
    TargetState.REFUSED: "target_refused_place",
    TargetState.GONE: "target_gone_place",
}


def where(access: Access, chat: ChatKey, language: Language) -> str:
    """Return the name of a chat with its platform, as Markdown."""
    platform = chat.platform.title()
    if not access.is_group(chat):
        return say("target_private", language, platform=platform)
    name = access.name_of_chat(chat) or chat.chat
    named = name if "#" in name else f"#{name}"
    return say("target_group", language, name=plain(named), platform=platform)


def plain(name: str) -> str:
    """Return a name of a chat or person as one line of Markdown, its invisible characters written out."""
    return literal(one_line(shown(name), MOST_NAME))


def author_of(access: Access, job: Job) -> str:
    """Return the name of who has set a job."""
    principal = access.principal(job.chat, Sender(id=job.person, name=""))
    return access.name_of(principal) or principal


def places(access: Access, job: Job, targets: Iterable[JobTarget], language: Language) -> str:
    """Return where a job posts, each place with whether it agreed; empty if that is its own chat alone."""
    named = [_place(access, job, each, language) for each in targets]
    return say("target_fact", language, places=", ".join(named)) if named else ""


def _place(access: Access, job: Job, target: JobTarget, language: Language) -> str:
    if target.chat == job.chat:
        return say("target_here", language)
    place = where(access, target.chat, language)
    is_own = target.state is TargetState.WANTED and not access.is_group(target.chat)
    key = None if is_own else _STATES.get(target.state)
    return say(key, language, where=place) if key else place
