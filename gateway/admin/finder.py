"""Finds screens, settings, people, conversations and commands by words, for the palette of the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import asdict

from channels.base import ChatKey
from channels.web.listing import MAIN
from gateway.admin.insight import Insight
from gateway.admin.screen import Visit
from gateway.admin.setting_words import about_of, shown_title
from gateway.commands.command import CommandTable
from gateway.permissions.access import Access
from gateway.permissions.roles import Roles
from gateway.security.secrets import Secrets
from gateway.settings.settings import setting_names
from gateway.store.store import Store

MOST_OF_A_KIND = 6
MOST_CHATS = 200


class Found(Struct, frozen=True):
    """Something that has the words, and its address."""

    kind: str
    title: str
    about: str
    link: str


class Finder:
    """Finds by the words that somebody types. What the visitor may not see is not found."""

    def __init__(
        self,
        screens: Sequence[str],
        store: Store,
        commands: CommandTable,
        access: Access,
        roles: Roles,
        secrets: Secrets,
    ) -> None:
        """`screens` are the names of all screens."""
        self._screens = screens
        self._store = store
        self._commands = commands
        self._access = access
        self._roles = roles
        self._secrets = secrets
        self._insight = Insight(access, roles)

    async def news(self, visit: Visit) -> Mapping[str, object]:
        """Return what the words of the query find; without words the screens."""
        words = " ".join(visit.query.get("q", "").split()).casefold()
        found = [*self._of_screens(visit, words)]
        if words:
            found += [*await self._chats(visit, words), *self._people(visit, words)]
            found += [*self._settings(visit, words), *self._of_commands(visit, words)]
        status = visit.say("find_count", count=len(found)) if found else visit.say("find_nothing")
        return {"label": visit.say("find_label"), "status": status, "found": [self._masked(each) for each in found]}

    def _masked(self, found: Found) -> Mapping[str, str]:
        return {name: self._secrets.mask(text) for name, text in asdict(found).items()}

    def _of_screens(self, visit: Visit, words: str) -> Iterator[Found]:
        kind = visit.say("find_screen")
        named = [("page_chat", "/"), *((f"page_{name}", f"/admin/{name}") for name in self._screens)]
        every = (Found(kind, visit.say(key), "", link) for key, link in named)
        return (each for each in every if words in f"{each.title} {each.link}".casefold())

    async def _chats(self, visit: Visit, words: str) -> list[Found]:
        """Return the visitor's own conversations, then the chats whose runs the visitor may look at."""
        kind, names = visit.say("find_chat"), self._insight.names(visit)
        hits = await self._store.conversations.find(visit.chat, words)
        own: dict[ChatKey, Found] = {}  # once, though several messages of it may have the words
        for hit in hits:
            link = f"/#{hit.entry.chat.thread or MAIN}"
            own.setdefault(hit.entry.chat, Found(kind, hit.entry.title, hit.words, link))
        keys = await self._store.run_records.chats(MOST_CHATS)
        named = ((names.of_key(key), key) for key in keys if ChatKey.parse(key).without_thread != visit.chat)
        others = (
            Found(kind, name, visit.say("find_runs_of"), f"/admin/runs?chat={quote(key)}")
            for name, key in named
            if words in name.casefold()
        )
        return [*_few(own.values()), *_few(others)]

    def _people(self, visit: Visit, words: str) -> Iterator[Found]:
        kind = visit.say("find_person")
        for person in self._roles.people:
            accounts = [each.principal for each in person.accounts]
            names = (*map(self._access.name_of, accounts), *(each.name for each in person.accounts))
            name = next(filter(None, names), accounts[0])
            if words in f"{name} {accounts}".casefold():
                yield Found(kind, name, ", ".join(accounts), f"/admin/people?q={quote(accounts[0])}")

    def _settings(self, visit: Visit, words: str) -> Iterator[Found]:
        kind = visit.say("find_setting")
        every = (".".join(key) for key in setting_names().flat.values())
        found = (
            Found(kind, title, about, f"/admin/settings?q={quote(name)}")
            for name in every
            for title, about in [(shown_title(name, visit.language), about_of(name, visit.language))]
            if words in f"{title} {name} {about}".casefold()
        )
        return _few(sorted(found, key=lambda each: words not in each.title.casefold()))

    def _of_commands(self, visit: Visit, words: str) -> Iterator[Found]:
        kind, sought = visit.say("find_command"), words.removeprefix("/")
        found = (
            Found(kind, f"/{spec.name}", about, f"/?text={quote(f'/{spec.name} ')}")
            for spec in self._commands.specs
            for about in [spec.description[visit.language]]
            if sought in f"{spec.name} {about}".casefold()
            and not self._commands.refusal(visit.chat, visit.sender, spec.name, "")
        )
        return _few(found)


def _few(found: Iterable[Found]) -> Iterator[Found]:
    return (each for each, _ in zip(found, range(MOST_OF_A_KIND), strict=False))
