"""The screen of polls on the page."""

from parley import Core, Insight, NoSuchItem, PlainTable, View, Visit, tables_view
from parley_poll.table import Polls

MOST_SHOWN = 100


class PollsScreen:
    """Lists the polls of all chats for owners, newest first, with their votes. Admins see what they asked."""

    name = "polls"

    def __init__(self, core: Core, polls: Polls) -> None:
        self._polls = polls
        self._insight = Insight(core.access, core.roles)

    async def view(self, visit: Visit) -> View:
        """Return a table of the polls. Raises NoSuchItem, as no poll has a page of its own."""
        if visit.item:
            raise NoSuchItem
        names = self._insight.names(visit)
        polls = [each for each in await self._polls.all() if self._insight.may_read(visit, each.chat, each.asker)]
        rows = [(names.of(each.chat), each.question, each.tally) for each in polls[:MOST_SHOWN]]
        columns = [visit.say(key) for key in ("poll_chat", "poll_question", "poll_votes")]
        return tables_view(PlainTable(visit.say("page_polls"), columns, rows, visit.say("poll_none")))
