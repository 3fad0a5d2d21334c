"""The command for budgets: /budget."""

import re
from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from channels.base import ChatKey, OutboundMessage, Sender
from channels.commands import Suggestion
from channels.text import in_code, literal
from gateway.chat.replies import Answer, Rewritten
from gateway.commands.command import LONGEST_ID, Command, Invocation, Unfinished, reply
from gateway.commands.suggested import suggested_jobs
from gateway.permissions.access import Access
from gateway.permissions.budget_notices import whose
from gateway.permissions.budgets import Budgets
from gateway.permissions.rights import OTHERWISE, Place, Right, Rights
from gateway.permissions.roles import Role
from gateway.records.audit import AuditLog
from gateway.schedule.jobs.jobs import Jobs
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, chat_account
from gateway.store.store import Store
from gateway.texts.amounts import BadAmount, allowance_words, amount_words, exact, parse_allowance, period_of
from gateway.texts.say import say

_TARGET = LatePattern(
    r"\s*(?:(?P<here>here|这里|本聊天|本群)|(?P<me>me|我)|(?P<all>all|全部|所有)"
    r"|(?:job|日程|任务)\s*(?P<job>[0-9a-z]{1,20})|~(?P<named>[0-9a-f]{12})|(?P<person>[a-z]+:[^\s]+))(?![a-z0-9_])",
    re.IGNORECASE,
)
"""The account, before the allowance; the chat is meant without one."""
_REMOVE = LatePattern(r"(?<![a-z])(?:off|remove|none|rm|reset)(?![a-z])|关闭|取消|删除", re.IGNORECASE)
_BETWEEN = " ,，：:"
"""Characters between the account and the amount."""
_RAISE = "raise"
"""Verb of the buttons: never lowers a budget, so an old button does no harm."""


SHOW = "show"
"""The form of arguments that only name an account."""
CHANGE = Right("admin", Role.ADMIN, Role.ADMIN, away=Role.ADMIN, refusal="budget_not_yours")
LONGEST_WHO = 80
"""Characters of a person's id that are repeated."""


class Unknown(ValueError):
    """There is no such account; the text is the one to reply."""


class _Wish(Struct, frozen=True):
    """The parts of a command's arguments."""

    account: Account
    words: str
    raises: bool = False


class BudgetCommands:
    """The command /budget."""

    def __init__(self, budgets: Budgets, store: Store, access: Access, audit: AuditLog, jobs: Jobs) -> None:
        self._budgets = budgets
        self._jobs = jobs
        self._audit = audit
        self._access = access
        self._store = store

    async def budget(self, given: Invocation) -> Answer:
        """Show budgets, or set, raise and remove one. Everyone may see those that concern them."""
        await self._budgets.refresh()
        if not given.arguments.strip():
            return reply(self._overview(given))
        try:
            wish = await self._wish(given)
            return await self._change(given, wish) if wish.words else self._one(given, wish.account)
        except Unknown as error:
            return reply(str(error))
        except BadAmount as error:
            usage = say("budget_usage", given.language, slash=given.slash)
            return reply(f"{say(error.key, given.language)}\n\n{usage}")

    async def _change(self, given: Invocation, wish: _Wish) -> Answer:
        """Set or remove a budget. Raises BadAmount."""
        if found := _REMOVE.search(wish.words):
            return await self._remove(given, wish.account, wish.words.replace(found[0], " ", 1))
        return await self._set(given, wish)

    async def _wish(self, given: Invocation) -> _Wish:
        """Split the arguments. Raises Unknown."""
        text = given.arguments.strip()
        raises = text.startswith(f"{_RAISE} ")
        text = text.removeprefix(_RAISE) if raises else text
        found = _TARGET.match(text)
        if found is None:
            return _Wish(chat_account(given.chat), text.strip(), raises)
        return _Wish(await self._account(given, found), text[found.end() :].strip(_BETWEEN), raises)

    async def _account(self, given: Invocation, found: re.Match[str]) -> Account:
        """Return the account that is named. Raises Unknown."""
        if found["all"]:
            return ALL
        if found["me"]:
            return self._mine(given)
        if found["job"]:
            job = await self._store.jobs.find(found["job"].lower())
            if job is None or not (job.chat == given.chat or (given.is_admin and self._may_reach(given, job.chat))):
                name = literal(found["job"][:LONGEST_ID])
                raise Unknown(say("budget_no_job", given.language, id=name, slash=given.slash))
            return Account(Scope.JOB, job.id)
        if found["named"]:
            account = await self._named(found["named"])
            if account is None or not await self._may_reach_account(given, account):
                raise Unknown(say("budget_gone", given.language))
            return account
        return self._person(given, found["person"]) if found["person"] else chat_account(given.chat)

    async def _named(self, name: str) -> Account | None:
        """Return the account that a button names.

        One that was never charged here is known by its open run, which another node or an earlier process told of.
        """
        if known := self._budgets.named(name, self._budgets.accounts):
            return known
        payers = (
            Payer(chat, person=self._access.person(chat, Sender(id=person, name="")))
            for chat, person in await self._store.runs.open_for()
        )
        return self._budgets.named(name, chain.from_iterable(payer.accounts for payer in payers))

    async def _may_reach_account(self, given: Invocation, account: Account) -> bool:
        if account.scope is Scope.JOB:
            job = await self._store.jobs.find(account.subject)
            return job is None or self._may_reach(given, job.chat)
        return account.scope is not Scope.CHAT or self._may_reach(given, ChatKey.parse(account.subject))

    def _may_reach(self, given: Invocation, chat: ChatKey) -> bool:
        """Return True unless it is an owner's private chat and not theirs, as on the page."""
        by = given.sender.model_copy(update={"id": self._access.principal(given.chat, given.sender)})
        return (
            given.is_owner
            or chat_account(chat) == chat_account(given.chat)
            or (self._access.place(chat, by) is not Place.OWNERS)
        )

    def _person(self, given: Invocation, text: str) -> Account:
        """Return the account of the person somebody typed. Raises Unknown."""
        mine = self._mine(given)
        principal = mine.subject if text == mine.subject else self._access.person_named(text, given.chat)
        if principal is None:
            raise Unknown(say("who_unknown", given.language, who=f"`{in_code(text[:LONGEST_WHO])}`", slash=given.slash))
        return Account(Scope.PERSON, principal)

    def _overview(self, given: Invocation) -> str:
        accounts = [chat_account(given.chat), self._mine(given), *([ALL] if given.is_admin else [])]
        lines = [line for account in accounts for line in self._lines(given, account)]
        parts = (
            [say("budget_title", given.language), "\n".join(lines)] if lines else [say("budget_none", given.language)]
        )
        return "\n\n".join([*parts, say("budget_usage", given.language, slash=given.slash)])

    def _one(self, given: Invocation, account: Account) -> OutboundMessage:
        """Show the budgets of one account. Those of others are for admins."""
        open_to_all = (chat_account(given.chat), self._mine(given))
        if account not in open_to_all and not given.is_admin:
            return reply(say("budget_not_shown", given.language))
        lines = self._lines(given, account)
        return reply("\n".join(lines) if lines else say("budget_none", given.language))

    def _lines(self, given: Invocation, account: Account) -> list[str]:
        return [self._line(given, budget) for budget in self._budgets.of(account)]

    def _line(self, given: Invocation, budget: Budget) -> str:
        used, language, allowance = self._budgets.used(budget), given.language, budget.allowance
        return say(
            "budget_line_default" if budget.is_default else "budget_line",
            language,
            whose=whose(budget.account, language, given.chat, self._access),
            allowance=allowance_words(allowance, language),
            used=amount_words(used, allowance.unit, language),
            percent=used * 100 // allowance.amount,
        )

    async def _set(self, given: Invocation, wish: _Wish) -> Answer:
        budget = Budget(wish.account, parse_allowance(wish.words))
        kind = budget.allowance.period, budget.allowance.unit
        now = [each for each in self._budgets.of(wish.account) if (each.allowance.period, each.allowance.unit) == kind]
        if wish.raises and any(each.allowance.amount >= budget.allowance.amount for each in now):
            line = self._line(given, now[0])
            return Rewritten(reply(f"{say('budget_high_enough', given.language)}\n\n{line}"))
        await self._budgets.set(budget, given.sender.id)
        self._record(given, wish.account, exact(budget.allowance))
        return Rewritten(reply(f"{say('budget_set', given.language)}\n\n{self._line(given, budget)}"))

    async def _remove(self, given: Invocation, account: Account, words: str) -> Answer:
        """Remove the budgets of the account; those of the settings apply again. Raises BadAmount."""
        period = period_of(words)
        if all(each.is_default for each in self._budgets.of(account)):
            return reply(say("budget_nothing_to_remove", given.language))
        await self._budgets.remove(account, period)
        self._record(given, account, f"off {period or ''}".strip())
        lines = self._lines(given, account)
        return reply("\n\n".join([say("budget_removed", given.language), *(["\n".join(lines)] if lines else [])]))

    def _record(self, given: Invocation, account: Account, details: str) -> None:
        self._audit.changed(
            given.chat, given.sender.id, f"budget {account.scope} {account.subject}".strip(), details=details
        )

    def _mine(self, given: Invocation) -> Account:
        return Account(Scope.PERSON, self._access.person(given.chat, given.sender))

    async def _ids(self, typing: Unfinished) -> Iterable[Suggestion]:
        """Return the ids of jobs after `job`; amounts are the person's own."""
        return await suggested_jobs(self._jobs, typing) if typing.before == "job" else ()

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "budget",
                {"en": "Show or set what may be spent on the model", "zh": "查看或设置模型的预算"},
                self.budget,
                rights=Rights({SHOW: Right("read", away=Role.ADMIN), OTHERWISE: CHANGE}, _form),
                suggest=self._ids,
                arguments="[here|me|all|job] [AMOUNT]",
                example={"en": "here 5 USD a day", "zh": "这里 每天 5 美元"},
                offered_to=Role.MEMBER,
            ),
        )


def _form(arguments: str) -> str:
    """Return SHOW if the arguments have no amount after the account, else OTHERWISE."""
    found = _TARGET.match(arguments.strip())
    rest = arguments.strip()[found.end() :] if found else arguments.strip()
    return SHOW if not rest.strip(_BETWEEN) else OTHERWISE
