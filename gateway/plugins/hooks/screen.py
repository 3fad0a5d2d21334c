"""The screen of webhooks: which there are, and what came."""

from collections.abc import Callable

from channels.base import ChatKey
from gateway.admin.insight import Insight
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.admin.tables import Action, Amount, Moment, Pick, PlainTable, tables_view
from gateway.plugin import Core
from gateway.plugins.hooks.table import MOST_SHOWN, Event, Hook, Hooks, State

OF_HOOKS = "hooks_column_name", "hooks_column_chat", "hooks_column_sender", "hooks_column_does", "hooks_column_who"
OF_EVENTS = "hooks_column_when", "hooks_column_name", "hooks_column_event", "hooks_column_size", "hooks_column_state"
VERBS = {"pause": "hooks_button_pause", "resume": "hooks_button_resume"}
STATES = {
    State.WAITS: "hooks_state_waits",
    State.POSTED: "hooks_state_posted",
    State.ANSWERED: "hooks_state_answered",
    State.FAILED: "hooks_state_failed",
    State.NO_RIGHT: "hooks_state_no_right",
}


class HooksScreen:
    """Lists the webhooks of all chats for owners, and their newest events. Admins see those that they have set."""

    name = "hooks"
    group = Group.WORK
    icon = "webhook"

    def __init__(self, core: Core, hooks: Hooks) -> None:
        self._hooks = hooks
        self._insight = Insight(core.access, core.roles)

    async def view(self, visit: Visit) -> View:
        """Return the webhooks and events. Raises NoSuchItem, as none has a page of its own."""
        if visit.item:
            raise NoSuchItem
        hooks = [each for each in await self._hooks.all() if self._insight.may_read(visit, each.chat, each.person)]
        events = await self._hooks.newest([each.id for each in hooks]) if hooks else []
        by_id, names = {each.id: each for each in hooks}, self._insight.names(visit)
        return tables_view(
            PlainTable(
                visit.say("page_hooks"),
                ["", *map(visit.say, OF_HOOKS), "", ""],
                [self._row(visit, names.of, each) for each in hooks],
                visit.say("page_hooks_none"),
                each=[Action(f"/hook {verb}", visit.say(label)) for verb, label in VERBS.items()],
            ),
            PlainTable(
                visit.say("hooks_events", most=MOST_SHOWN),
                [*map(visit.say, OF_EVENTS)],
                [_event_row(visit, each, by_id[each.hook]) for each in events],
                visit.say("hooks_no_events"),
            ),
        )

    def _row(
        self, visit: Visit, name: Callable[[ChatKey], str], hook: Hook
    ) -> list[str | Action | Moment | Amount | Pick]:
        verb = "resume" if hook.paused else "pause"
        return [
            Pick(str(hook.id), hook.name),
            hook.name,
            name(hook.chat),
            hook.sender,
            hook.instruction or visit.say("hooks_does_post"),
            self._insight.person(hook.chat, hook.person),
            Action(f"/hook {verb} {hook.id}", visit.say(VERBS[verb])),
            Action(f"/hook rm {hook.id}", visit.say("hooks_button_rm"), is_dangerous=True),
        ]


def _event_row(visit: Visit, event: Event, hook: Hook) -> list[str | Action | Moment | Amount | Pick]:
    return [Moment(event.at), hook.name, event.kind, Amount(f"{event.size} B"), visit.say(STATES[event.state])]
