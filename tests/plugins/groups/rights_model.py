"""What people may do after a sequence of events, computed from the documentation and not from the product's code."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

OWNER, ADMIN, MEMBER, GUEST = RANKS = ("owner", "admin", "member", "guest")
HOUR, WEEK = 3_600.0, 7 * 24 * 3_600.0
LINK_LASTS = 600.0
MOST_WRONG_OF_SENDER, MOST_WRONG_OF_CODE = 5, 50
COOKS = "67"
"""A role on the server."""


@dataclass(frozen=True)
class Place:
    """Where something is said: a platform, a chat there, and perhaps a thread."""

    platform: str
    chat: str
    thread: str | None = None

    @property
    def is_group(self) -> bool:
        return self.chat.startswith("#")

    @property
    def levels(self) -> dict[str, str]:
        """The keys of the levels of rules, narrowest first."""
        channel = f"{self.platform} {self.chat}"
        near = {"here": f"{channel} {self.thread}"} if self.thread else {}
        return {**near, "channel": channel, "workspace": self.platform, "everywhere": ""}


@dataclass(frozen=True)
class Told:
    """What the server tells of a person."""

    is_cook: bool = False
    is_full_member: bool = False


@dataclass(eq=False)
class Known:
    """A person with all accounts, as far as chats made them known."""

    accounts: list[str]
    """In the order of linking."""
    given: str | None = None
    is_blocked: bool = False


@dataclass
class Model:
    """Everything that decides about rights."""

    settings: dict[str, str]
    """Roles by account."""
    now: float = 0.0
    people: list[Known] = field(default_factory=list)
    rules: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Audience and rights, by the key of the level."""
    told: dict[str, Told] = field(default_factory=dict)
    code: tuple[str, float] | None = None
    """The pairing code, and when it ends."""
    wrong_of_code: int = 0
    wrong_of: dict[str, tuple[int, float]] = field(default_factory=dict)
    links: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Who asked for the code, and when it ends."""
    strangers: dict[str, tuple[float, bool]] = field(default_factory=dict)
    """Since when each waits, and if they are ignored."""

    def copy(self) -> "Model":
        return replace(
            self,
            people=[Known([*each.accounts], each.given, each.is_blocked) for each in self.people],
            rules=dict(self.rules),
            told=dict(self.told),
            wrong_of=dict(self.wrong_of),
            links=dict(self.links),
            strangers=dict(self.strangers),
        )

    # Rights

    def own(self, account: str) -> str | None:
        """Return the role of an account outside of groups."""
        person = self._person(account)
        seeded = best(*(self.settings.get(each) for each in person.accounts))
        if person.is_blocked and seeded != OWNER:
            return None
        return best(seeded, person.given)

    def role(self, at: Place, who: str, told: Told | None = None) -> str | None:
        account = account_of(at, who)
        role = self.own(account)
        if ":" in who or role is not None or self._person(account).is_blocked or not at.is_group:
            return role
        audience, rights = next((self.rules[key] for key in at.levels.values() if key in self.rules), ("listed", GUEST))
        told = told or self.told.get(account)
        return rights if admits(audience, told) else None

    # Events

    def hears(self, at: Place, who: str, told: Told | None) -> bool:
        """Take in what an event tells of its sender; return True if it is let through."""
        account = account_of(at, who)
        audience, _ = next((self.rules[key] for key in at.levels.values() if key in self.rules), ("listed", GUEST))
        needs = audience in ("workspace", "cooks")
        if told is not None and (account in self.told or (needs and admits(audience, told))):
            self.told[account] = told
        return self.role(at, who, told) is not None

    def knocks(self, at: Place, who: str) -> None:
        """Somebody without rights writes in a direct chat."""
        account = account_of(at, who)
        if not at.is_group and self.own(account) is None and not self._person(account).is_blocked:
            self.strangers = {each: row for each, row in self.strangers.items() if row[0] > self.now - WEEK}
            self.strangers.setdefault(account, (self.now, False))

    def pairs(self, at: Place, who: str, code: str) -> None:
        account = account_of(at, who)
        wrong, since = self.wrong_of.get(account, (0, 0.0))
        wrong = wrong if since > self.now - HOUR else 0
        if at.is_group or self.own(account) == OWNER or self._is_shut_out(account) or wrong >= MOST_WRONG_OF_SENDER:
            return
        if self.valid_code == code:
            self.code = None
            person = self._kept(account)
            person.given, person.is_blocked = OWNER, False
            return
        self.wrong_of[account] = (wrong + 1, self.now)
        self.wrong_of_code += 1
        if self.wrong_of_code >= MOST_WRONG_OF_CODE:
            self.code = None

    @property
    def valid_code(self) -> str | None:
        return self.code[0] if self.code is not None and self.code[1] > self.now else None

    def offers_link(self, at: Place, who: str, code: str) -> None:
        account = account_of(at, who)
        self.links = {each: row for each, row in self.links.items() if row[0] != account}
        self.links[code] = (account, self.now + LINK_LASTS)

    def links_up(self, at: Place, who: str, code: str) -> None:
        account = account_of(at, who)
        giver, ends = self.links.get(code, ("", 0.0))
        if at.is_group or ends <= self.now or self._is_shut_out(account) or self._person(account).is_blocked:
            return
        one, other = self._person(giver), self._person(account)
        role, present = self.own(giver), self.own(account)
        if one is other or role is None or (present is not None and rank(present) > rank(role)):
            return
        if role not in (present, OWNER):
            return
        one, other = self._kept(giver), self._kept(account)
        if best(*(self.settings.get(each) for each in one.accounts)) != role:
            one.given = role
        one.accounts += other.accounts
        self.people.remove(other)
        del self.links[code]

    def unlinks(self, at: Place, who: str) -> None:
        account = account_of(at, who)
        person = self._person(account)
        if at.is_group or self.role(at, who) is None or len(person.accounts) == 1:
            return
        person.accounts.remove(account)
        self.people.append(Known([account], person.given, person.is_blocked))

    def separates(self, at: Place, who: str, other: str) -> None:
        """Somebody separates an account that used a code of theirs."""
        account = account_of(at, who)
        person = self._person(account)
        if at.is_group or account not in person.accounts or other not in person.accounts:
            return
        if self.role(at, who) is not None and person.accounts.index(other) > person.accounts.index(account):
            given = None if self.own(other) == OWNER else person.given
            person.accounts.remove(other)
            self.people.append(Known([other], given))

    def gives(self, at: Place, who: str, target: str, wanted: str | None) -> bool:
        """Somebody gives a role, or takes it (None). Returns False if that is refused."""
        seeded = best(*(self.settings.get(each) for each in self._person(target).accounts))
        if not self._may_change(at, who, target, wanted) or (seeded is not None and rank(wanted) < rank(seeded)):
            return False
        person = self._kept(target)
        person.given, person.is_blocked = wanted, False
        return True

    def blocks(self, at: Place, who: str, target: str) -> None:
        seeded = best(*(self.settings.get(each) for each in self._person(target).accounts))
        if self._may_change(at, who, target, None) and seeded != OWNER:
            person = self._kept(target)
            person.given, person.is_blocked = None, True
            self.strangers.pop(target, None)

    def decides(self, at: Place, who: str, target: str, verdict: str) -> None:
        """Somebody presses a button about a stranger."""
        since, is_ignored = self.strangers.get(target, (-WEEK, False))
        if since <= self.now - WEEK or is_ignored or self.own(target) is not None:
            return
        if verdict == "block":
            self.blocks(at, who, target)
        elif verdict == "ignore" and self.role(at, who) in (OWNER, ADMIN):
            self.strangers[target] = (since, True)
        elif verdict in (MEMBER, GUEST):
            self.gives(at, who, target, verdict)

    def opens(self, at: Place, who: str, words: list[str]) -> None:
        """Somebody sets who may speak in a group. `words` is the audience, the rights, the level."""
        if not at.is_group or self.role(at, who) not in (OWNER, ADMIN):
            return
        *rest, last = words
        level = last if last in ("here", "channel", "workspace", "everywhere") and rest else "channel"
        audience = words if level == "channel" and last != "channel" else rest
        key = at.levels.get(level, at.levels["channel"])
        if audience == ["default"]:
            self.rules.pop(key, None)
        elif (parsed := parsed_audience(audience, at.platform)) is not None:
            self.rules[key] = parsed

    def obeys(self, at: Place, who: str, name: str, rest: list[str], strangers: dict[str, str]) -> None:
        """Take a command of somebody who may speak; `strangers` are accounts by the ids in buttons."""
        match name, rest:
            case "pair", [code]:
                self.pairs(at, who, code)
            case "link", ["off"]:
                self.unlinks(at, who)
            case "link", ["off", other]:
                self.separates(at, who, other)
            case "link", [code, "yes"]:
                self.links_up(at, who, code)
            case "role", [target, ("owner" | "admin" | "member" | "guest" | "none") as wanted]:
                self.gives(at, who, target, None if wanted == "none" else wanted)
            case "allow", [target, *role] if role in ([], [MEMBER], [GUEST]):
                self.gives(at, who, target, role[0] if role else MEMBER)
            case "block", [target]:
                self.blocks(at, who, target)
            case "stranger", [verdict, key] if key in strangers:
                self.decides(at, who, strangers[key], verdict)
            case "speakers", [*words] if words:
                self.opens(at, who, words)

    def may_visit(self, at: Place, account: str, name: str) -> bool | None:
        """Return True if a visitor of the page may give a command in a chat; None in a private chat of theirs, which
        may not be known as such, and for rules of groups in the private chats of others, where they change nothing."""
        role = self.own(account)
        if role == OWNER:
            return True
        manages = role == ADMIN and name in ("activation", "speakers", "tools")
        if at.is_group:
            return manages
        is_own = account_of(at, at.chat) in self._person(account).accounts
        return None if is_own or manages else False

    # Parts

    def _may_change(self, at: Place, who: str, target: str, wanted: str | None) -> bool:
        maker = self.role(at, who)
        if maker not in (OWNER, ADMIN) or self._person(account_of(at, who)) is self._person(target):
            return False
        return maker == OWNER or max(rank(self.own(target)), rank(wanted)) < rank(ADMIN)

    def _is_shut_out(self, account: str) -> bool:
        return self._person(account).is_blocked and self.own(account) is None

    def _person(self, account: str) -> Known:
        """Return the person with the account; a new one is not remembered."""
        found = next((each for each in self.people if account in each.accounts), None)
        return found or self._nobody.setdefault(account, Known([account]))

    def _kept(self, account: str) -> Known:
        person = self._person(account)
        if person not in self.people:
            self.people.append(self._nobody.pop(account))
        return person

    def __post_init__(self) -> None:
        self._nobody: dict[str, Known] = {}


def account_of(at: Place, who: str) -> str:
    """Return the account of somebody on a platform; visitors of the page have that name already."""
    return who if ":" in who else f"{at.platform}:{who}"


def best(*roles: str | None) -> str | None:
    return max(roles, key=rank, default=None)


def rank(role: str | None) -> int:
    return 0 if role is None else len(RANKS) - RANKS.index(role)


def admits(audience: str, told: Told | None) -> bool:
    if audience == "everybody":
        return True
    if told is None:
        return False
    return told.is_full_member if audience == "workspace" else audience == "cooks" and told.is_cook


def parsed_audience(words: list[str], platform: str) -> tuple[str, str] | None:
    """Return the audience and its rights; None if they are not well formed, or the platform cannot tell them."""
    rights = words[-1] if len(words) > 1 and words[-1] in (GUEST, MEMBER) else GUEST
    rest = words[:-1] if len(words) > 1 and words[-1] in (GUEST, MEMBER) else words
    if rest == ["role", COOKS] and platform == "memory":
        return "cooks", rights
    if len(rest) == 1 and (rest[0] in ("listed", "everybody") or (rest[0] == "workspace" and platform == "memory")):
        return rest[0], rights
    return None


def rises(before: dict[str, str | None], after: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield each account that has more rights than before, with its role."""
    for account, role in after.items():
        if role is not None and rank(role) > rank(before[account]):
            yield account, role
