"""Composes the message that a firing posts in its chat."""

from collections.abc import Callable, Sequence

from channels.attachments import Attachment
from channels.base import Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.runs.model_trouble import Reader, trouble_text
from gateway.schedule.jobs.announcer import Announcer
from gateway.schedule.jobs.chat_notes import attached
from gateway.schedule.jobs.notices import words
from gateway.schedule.jobs.outcome import Outcome
from gateway.security.secrets import Secrets
from gateway.store.job import Firing, FiringState, Job
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import Language


class FiringMessages:
    """Composes the messages of firings."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        announcer: Announcer,
        files: Callable[[Firing], Sequence[Attachment]],
        secrets: Secrets,
    ) -> None:
        """`files` returns the attachments of a firing's message."""
        self._store = store
        self._delivery = delivery
        self._access = access
        self._announcer = announcer
        self._files = files
        self._secrets = secrets

    async def text(self, job: Job, firing: Firing, outcome: Outcome, failures: int) -> str:
        """Return the text for users, empty if there is nothing to tell.

        Args:
            failures: Consecutive failures of the job, including this one.
        """
        language = self._announcer.language_of(job)
        others = await self._store.jobs.in_chat(job.chat) if firing.state is FiringState.FAILED else ()
        trouble = self._trouble(job, firing, outcome, language)
        return words(job, firing, outcome, language, failures=failures, others=others, trouble=trouble)

    async def is_held(self, job: Job, firing: Firing) -> bool:
        """Return True if the message has to wait for the end of the quiet hours."""
        return await self._announcer.held(job, firing)

    async def posts(self, job: Job, firing: Firing) -> list[Post]:
        """Return the firing's message in parts that fit the platform."""
        message = self._announcer.message(job, firing, await attached(firing, self._files))
        parts = self._delivery.voice(firing.chat).split(message)
        return [
            Post(f"{firing.name}:proactive:{number}", firing.name, firing.chat, part)
            for number, part in enumerate(parts)
        ]

    def _trouble(self, job: Job, firing: Firing, outcome: Outcome, language: Language) -> str:
        """Return an explanation of a model failure for its readers, or an empty string."""
        if outcome.trouble is None or outcome.run is None:
            return ""
        channel = self._delivery.channel(firing.chat)
        is_owner = self._access.is_owner(firing.chat, Sender(id=job.person, name=""))
        reader = Reader(language, channel.limits.slash, is_owner=is_owner and not channel.is_group(firing.chat))
        return trouble_text(outcome.trouble, firing.name, outcome.run.model, reader, self._secrets)
