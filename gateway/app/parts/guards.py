"""The permissions of calls, the questions about them, and the budgets."""

from channels.base import ChatKey
from gateway.app.parts.base import Base
from gateway.app.parts.files import FileParts
from gateway.app.parts.people import PeopleParts
from gateway.permissions.agent_spending import AgentSpending
from gateway.permissions.approvals import Approvals
from gateway.permissions.budget_notices import BudgetNotices
from gateway.permissions.budgets import Budgets, by_scope
from gateway.permissions.gates import Gates
from gateway.permissions.ledger import Ledger
from gateway.permissions.permissions import ChatPermissions, RecordedPermissions
from gateway.permissions.policy import Policy
from gateway.permissions.room import OwnRoom, SharedRoom
from gateway.permissions.rules import Rules
from gateway.store.shared_spending import SharedSpending


class Guards:
    """The permissions of calls, the questions about them, and the budgets."""

    def __init__(self, base: Base, people: PeopleParts, files: FileParts) -> None:
        store, clock, current, access = base.store, base.clock, base.current, people.access
        self._base, self._access = base, access
        self.approvals = Approvals(
            store, base.delivery, access, clock, current, base.new_request_id, hold=base.drain.hold
        )
        self.gates = Gates(clock=clock)
        self.rules = Rules(base.agent_parts.policy or Policy(), access, self.gates)
        decided = ChatPermissions(
            self.rules,
            self.approvals,
            files.versions,
            store,
            base.agent_parts.skills,
            sandbox=base.agent_parts.sandbox,
            network=base.agent_parts.network,
        )
        self._decided = decided
        self.permissions = self.asking()
        self.budget_notices = BudgetNotices(store, base.delivery, access, people.owners, current)
        ledger, spending = Ledger(current.zone, people.roles.linked), store.spending
        shared = SharedRoom(ledger, spending, clock) if isinstance(spending, SharedSpending) else None
        self.budgets = Budgets(
            store,
            clock,
            base.new_id,
            shared or OwnRoom(ledger, spending, clock),
            self.budget_notices,
            defaults=by_scope(current.allowances),
            hold=base.drain.hold,
        )

    def asking(self, first: str = "") -> RecordedPermissions:
        """Return what decides about calls, with questions that begin with the text of a key if it is not empty."""
        decided = self._decided.saying(first) if first else self._decided
        return RecordedPermissions(decided, self._base.store.run_records)

    def spending_of(self, chat: ChatKey, job: str) -> AgentSpending:
        """Return what charges the model calls of a chat, and of a job if it is not empty."""
        return AgentSpending(self.budgets, self._access, self._base.current, chat, job)
