"""The forms of /cron by which a chat takes the reports of other chats, or does not: allow, refuse, stop."""

from collections.abc import Awaitable, Callable, Mapping

from channels.base import Button, OutboundMessage
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import Invocation, reply
from gateway.schedule.jobs.elsewhere import Elsewhere, allowing
from gateway.schedule.jobs.places import plain
from gateway.schedule.jobs.preview import kind_inside, rule_of
from gateway.store.job_targets import TargetState
from gateway.texts.say import say


class JobTargetActs:
    """Answers whether a chat takes the posts of a job of another chat."""

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._elsewhere = elsewhere

    @property
    def acts(self) -> Mapping[str, Callable[[Invocation, str, str], Awaitable[Answer]]]:
        """The forms by their first words, for the table in /cron."""
        return {"allow": self._allow, "refuse": self._refuse, "stop": self._stop}

    async def _allow(self, given: Invocation, job_id: str, seen: str) -> Answer:
        """Take the posts of a job, or ask again if it has other words now than those that were seen."""
        return await self._answered(given, job_id, TargetState.OPEN, "target_allowed_here", seen.removeprefix("@"))

    async def _refuse(self, given: Invocation, job_id: str, _: str) -> Answer:
        return await self._answered(given, job_id, TargetState.REFUSED, "target_refused_here")

    async def _stop(self, given: Invocation, job_id: str, _: str) -> Answer:
        """End it here. The report whose button was pressed stays on the screen."""
        told = await self._answered(given, job_id, TargetState.REFUSED, "target_stopped_here")
        return told.message if isinstance(told, Rewritten) else told

    async def _answered(self, given: Invocation, job_id: str, state: TargetState, key: str, seen: str = "") -> Answer:
        language, chat = given.language, given.chat.without_thread
        found = await self._elsewhere.answer(job_id, chat, given.sender, given.asked, state, seen)
        if found is None:
            return reply(say("target_not_here", language, id=job_id))
        job, counts = found
        if not counts:
            return Rewritten(self._elsewhere.question(job))
        kind, who = kind_inside(job, language), plain(given.sender.name)
        text = say(key, language, who=who, kind=kind, id=job.id, rule=rule_of(job, language))
        is_open = state is TargetState.OPEN
        label = "target_stop_button" if is_open else "target_allow_again_button"
        action = f"/cron stop {job.id}" if is_open else allowing(job)
        button = Button(label=say(label, language), action=action)
        return Rewritten(OutboundMessage(markdown=text, buttons=((button,),)))
