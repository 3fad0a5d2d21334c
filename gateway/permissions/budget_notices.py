"""Messages about budgets: a quiet word once most of one is used, and a question to those who may raise it."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

from agent_core.background import Background
from agent_core.origin import NOT_KNOWN
from channels.base import Button, Channel, ChatKey, OutboundMessage, Sender
from channels.text import literal
from gateway.permissions.access import Access
from gateway.permissions.ledger import day_after, first_day
from gateway.settings.current import CurrentSettings
from gateway.store.budget import Account, Budget, Payer, Scope, chat_account
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.amounts import USD, Allowance, Unit, allowance_words, amount_words, exact
from gateway.texts.say import LANGUAGES, Language, language_of, say

_WHOSE = {
    Scope.CHAT: "budget_of_chat",
    Scope.PERSON: "budget_of_person",
    Scope.JOB: "budget_of_job",
    Scope.ALL: "budget_of_all",
}


class Messages(Protocol):
    """Sends messages, see `gateway.delivery.delivery.Delivery`."""

    def knows(self, chat: ChatKey) -> bool: ...

    def channel(self, chat: ChatKey) -> Channel: ...

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None: ...


class TellsAdmins(Protocol):
    """Notifies owners and admins in their private chats, see `gateway.upkeep.owners.Owners`."""

    def tell_admins_once(
        self, notice: str, messages: Mapping[Language, OutboundMessage], besides: ChatKey | None
    ) -> None:
        """Send a message to each owner and admin who has not got this notice yet, but not to the chat `besides`."""
        ...


class BudgetNotices:
    """Tells people about budgets, only once for a budget and a period, or for a run that waits."""

    def __init__(
        self, store: Store, delivery: Messages, access: Access, admins: TellsAdmins, current: CurrentSettings
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._admins = admins
        self._current = current
        self._told: set[str] = set()
        self._telling = Background("a message about a budget failed")

    def near(self, budget: Budget, payer: Payer, used: int, day: date) -> None:
        """Tell that most of a budget is used: in the payer's chat, or the admins if it is that of the installation."""
        notice = f"near-{_name(budget, day)}"
        if notice not in self._told:
            self._told.add(notice)
            self._telling.start(self._tell(notice, "budget_near", budget, payer, (used, 0, day)), notice)

    def used_up(self, budget: Budget, payer: Payer, used: int, needed: int, day: date) -> None:
        """Tell that a run waits for room in a budget, with a button that raises it for those who may.

        The chat is told for each run, as the button of an earlier one may be of no use any more.
        """
        notice = f"up-{_name(budget, day)}-{payer.run}"
        if notice not in self._told:
            self._told.add(notice)
            self._telling.start(self._tell(notice, "budget_up", budget, payer, (used, needed, day)), notice)

    async def settled(self) -> None:
        """Wait until all messages are sent."""
        await self._telling.join()

    async def close(self) -> None:
        await self._telling.stop()

    async def _tell(self, notice: str, key: str, budget: Budget, payer: Payer, facts: tuple[int, int, date]) -> None:
        chat = payer.chat
        if not self._delivery.knows(chat):
            return
        is_up = key == "budget_up"
        person = Sender(id=payer.user, name="")
        may_raise = self._access.is_admin(chat, person)
        is_private = not self._delivery.channel(chat).is_group(chat)
        is_of_all = budget.account.scope is Scope.ALL
        if is_up or not is_of_all:
            shows_button = is_up and (may_raise or not is_private)
            tag = await self._store.chats.language_of(chat, person.id)
            language = language_of(tag, self._current.language)
            message = self._message(key, budget, facts, language, chat, with_button=shows_button)
            await self._post(notice, chat, message)
        is_told_here = is_private and may_raise
        if is_of_all or (is_up and not is_told_here):
            messages = {each: self._message(key, budget, facts, each, None, with_button=is_up) for each in LANGUAGES}
            notice = f"budget-{key}-{_name(budget, facts[2])}"
            self._admins.tell_admins_once(notice, messages, chat if is_up and is_told_here else None)

    def _message(
        self,
        key: str,
        budget: Budget,
        facts: tuple[int, int, date],
        language: Language,
        chat: ChatKey | None,
        *,
        with_button: bool,
    ) -> OutboundMessage:
        used, needed, day = facts
        allowance = budget.allowance
        text = say(
            key,
            language,
            whose=whose(budget.account, language, chat, self._access),
            allowance=allowance_words(allowance, language),
            used=amount_words(used, allowance.unit, language),
            needed=amount_words(needed, allowance.unit, language),
            percent=min(100, used * 100 // allowance.amount),
            day=f"{day_after(day, allowance.period)}",
        )
        if not with_button:
            return OutboundMessage(markdown=text, silent=key == "budget_near")
        more = raised(budget, used, needed)
        label = say("budget_raise_button", language, allowance=allowance_words(more, language))
        action = f"/budget raise {target_of(budget.account, chat)} {exact(more)}"
        return OutboundMessage(markdown=text, buttons=((Button(label=label, action=action, style="primary"),),))

    async def _post(self, notice: str, chat: ChatKey, message: OutboundMessage) -> None:
        post = Post(f"budget-{notice}:notice:0", f"budget-{notice}", chat, message, NOT_KNOWN)
        if await self._store.outbox.find(post.key) is None:
            await self._store.outbox.add([post])
            await self._delivery.deliver(chat, [post])


def raised(budget: Budget, used: int, needed: int) -> Allowance:
    """Return the allowance that a button offers: twice as much, or more if the waiting call needs it.

    There is room for two such calls then: the conversation grows while the call waits, and a run seldom ends with it.
    """
    allowance = budget.allowance
    step = USD if allowance.unit is Unit.USD else 1000
    least = -(-(used + 2 * needed) // step) * step
    return Allowance(allowance.period, allowance.unit, max(2 * allowance.amount, least))


def digest(account: Account) -> str:
    """Return a short name of an account, because the action of a button has only 64 bytes."""
    return hashlib.sha256(f"{account.scope} {account.subject}".encode()).hexdigest()[:12]


def target_of(account: Account, chat: ChatKey | None = None) -> str:
    """Return the words by which /budget names an account; `chat` is where they are said."""
    match account.scope:
        case Scope.ALL:
            return "all"
        case Scope.CHAT if chat is not None and chat_account(chat) == account:
            return "here"
        case Scope.JOB:
            return f"job {account.subject}"
        case _:
            return f"~{digest(account)}"


def whose(account: Account, language: Language, chat: ChatKey | None, access: Access) -> str:
    """Name the account in a sentence; `chat` is where it is said."""
    if account.scope is Scope.CHAT and chat is not None and chat_account(chat) == account:
        return say("budget_of_here", language)
    name = " ".join(access.name_of(account.subject).split()) if account.scope is Scope.PERSON else ""
    return say(
        _WHOSE[account.scope], language, name=literal(f"{name} ({account.subject})" if name else account.subject)
    )


def _name(budget: Budget, day: date) -> str:
    """Name a budget in one period; raised, it is another one."""
    account, allowance = budget.account, budget.allowance
    begun = first_day(day, allowance.period)
    return f"{account.scope}-{account.subject}-{allowance.period}-{allowance.unit}-{allowance.amount}-{begun}"
