"""The hidden command /reword: has a message answered again whose words were edited."""

from channels.base import Button, MessageEdited, OutboundMessage
from channels.text import visible
from gateway.chat.replies import Answer, Once
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.retry import answered_again, last_exchange, may_change, may_have_changed
from gateway.permissions.access import Access
from gateway.permissions.rights import TALK, always
from gateway.store.exchanges import Exchange, Exchanges, again
from gateway.texts.say import say

REWORD = "reword"
SHOWN = 16
"""Characters of a run's id in the button."""


class RewordCommand:
    """Has the last message answered again when it was edited.

    It begins at once, unless something was written, sent or run for the old words; then a button offers it.
    """

    def __init__(self, access: Access, exchanges: Exchanges) -> None:
        self._access = access
        self._exchanges = exchanges

    async def reword(self, given: Invocation) -> Answer:
        """Handle an edit, or a press of the button that an edit has left."""
        if isinstance(given.event, MessageEdited):
            return await self._edited(given, given.event)
        return await self._pressed(given, given.arguments.strip())

    async def _edited(self, given: Invocation, edit: MessageEdited) -> Answer:
        """Begin the run of the message anew, or offer it. Edits that change no words or an older message do nothing."""
        last = await last_exchange(self._exchanges, given)
        if last is not None and last.is_taken_out:
            return await answered_again(given, last)  # the program died before the run began
        if not visible(edit.words) or not await self._exchanges.changes_words(edit):
            return None
        if await self._reworded_waiting(given, edit):
            return None
        stored = last if last is not None and last.sent(edit.message_id) is not None else None
        if not self._is_last(given, edit, stored) or not self._may_answer_again(given, stored):
            return None
        return await self._begun_anew(given, edit, stored)

    def _is_last(self, given: Invocation, edit: MessageEdited, stored: Exchange | None) -> bool:
        """Return True unless the message is older than the chat's last exchange or the run that has just begun."""
        current = given.session.current
        if current.begun_with(edit.message_id) is not None:
            return True
        return stored is not None and (current.run is None or current.run.id in stored.runs)

    async def _reworded_waiting(self, given: Invocation, edit: MessageEdited) -> bool:
        """Give the new words to a message that waits to be answered again. Return False if there is none."""
        session = (await given.session.conversation.settings()).session
        for item in list(given.session.mail):
            waits = await self._exchanges.last(session, item.event.event_id) if item.is_again else None
            if waits is not None and waits.sent(edit.message_id):
                given.session.mail.replace(again(item, waits.message, item.model))
                return True
        return False

    def _may_answer_again(self, given: Invocation, stored: Exchange | None) -> bool:
        if not given.session.stops.may_cut_off_run(given.sender):
            return False
        return stored is None or self._access.may_act_for(given.chat, given.sender, stored.message.sender.id)

    async def _begun_anew(self, given: Invocation, edit: MessageEdited, stored: Exchange | None) -> Answer:
        """End the run, take back the exchange and return its message, unless something may have been changed for it.

        `stored` is None if the run has just begun.
        """
        session = given.session
        tools = (await session.conversation.agent()).loop.tools
        before = stored.tools if stored is not None else frozenset()
        if stored is not None and not session.current.is_begun_here:
            before |= stored.open_tools
        # Nothing is awaited between this look at the calls of the run and its end.
        if any(may_change(tools, name) for name in before | session.current.called):
            run = session.current.run
            return _offer(given, stored.runs[0] if stored is not None else run.id if run is not None else "")
        await session.stops.cut_off_run()
        ended = await last_exchange(self._exchanges, given)
        if ended is None or ended.sent(edit.message_id) is None:
            return None
        if await may_have_changed(given, ended.tools | ended.open_tools):  # begun just before the end
            return _offer(given, ended.runs[0])
        return await answered_again(given, ended)

    async def _pressed(self, given: Invocation, run: str) -> Answer:
        """Answer the message again with its new words, if it is still the last one."""
        last, current = await last_exchange(self._exchanges, given), given.session.current.run
        is_last = last is not None and (last.is_taken_out or current is None or current.id in last.runs)
        if last is None or not is_last or not run or not last.runs[0].startswith(run):
            return reply(say("retry_nothing", given.language))
        if not self._may_answer_again(given, last):
            return reply(say("retry_not_yours", given.language))
        await given.session.stops.cut_off_run()
        return await answered_again(given, await last_exchange(self._exchanges, given) or last)

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                REWORD,
                {"en": "Answer an edited message again", "zh": "重新回答修改过的消息"},
                self.reword,
                rights=always(TALK),
                hidden=True,
                takes_back=True,
            ),
        )


def _offer(given: Invocation, run: str) -> Once:
    """Return the line with a button to answer again. It is posted once for each exchange."""
    button = Button(label=say("reword_button", given.language), action=f"/{REWORD} {run[:SHOWN]}")
    words = say("reword_offer", given.language)
    return Once(f"{REWORD}-{run}", OutboundMessage(markdown=words, buttons=((button,),), silent=True))
