"""Decides what visitors may read of chats, and names chats and people for them."""

from collections.abc import Iterable, Mapping

from channels.base import ChatKey, Sender
from channels.web.listing import MAIN
from channels.web.visitor import LOCAL
from gateway.admin.names import isolated
from gateway.admin.screen import Visit
from gateway.permissions.access import Access
from gateway.permissions.roles import Roles
from gateway.store.person import Account

_LOCAL = {"web": "page_chat_web", "terminal": "page_chat_terminal"}
"""Text keys of the names of the chats at this machine."""


class Insight:
    """Words, arguments and memories are shown to owners and to the people whose they are; admins see the rest."""

    def __init__(self, access: Access, roles: Roles) -> None:
        self._access = access
        self._roles = roles

    def may_read(self, visit: Visit, chat: ChatKey, person: str) -> bool:
        """Return True if the visitor may read what was said or done for a person in a chat."""
        return visit.is_owner or self._access.person(chat, Sender(id=person, name="")) == self._visitor(visit)

    def may_read_chat(self, visit: Visit, chat: ChatKey) -> bool:
        """Return True for owners, and for the visitor's own chats."""
        return visit.is_owner or self._access.is_own_chat(chat, visit.chat, visit.sender)

    def sender_in(self, visit: Visit, chat: ChatKey) -> Sender:
        """Return the visitor as the sender of what they do in a chat."""
        return visit.sender if chat.platform == visit.chat.platform else self._elsewhere(visit)

    def person(self, chat: ChatKey, person: str) -> str:
        """Return the account of a person in a chat, with its name if that is known: anybody may take any name."""
        return self.account(self._access.principal(chat, Sender(id=person, name="")))

    def account(self, principal: str) -> str:
        """Return an account, with its name if that is known."""
        name = self._access.name_of(principal)
        return f"{isolated(name)} ({principal})" if name else principal

    def names(self, visit: Visit, titles: Mapping[ChatKey, str] | None = None) -> "ChatNames":
        """Return the names of chats as they are now, in the visitor's language.

        `titles` are those of conversations. Visitors see the ones of chats that they may read.
        """
        accounts = (account for person in self._roles.people for account in person.accounts)
        readable = {chat: title for chat, title in (titles or {}).items() if self.may_read_chat(visit, chat)}
        return ChatNames(accounts, self._access, visit, readable)

    def _visitor(self, visit: Visit) -> str:
        return self._access.person(visit.chat, visit.sender)

    def _elsewhere(self, visit: Visit) -> Sender:
        return visit.sender.model_copy(update={"id": visit.visitor.principal})


class ChatNames:
    """Names of chats: private chats have the names of their people, groups their own as last seen, if any was."""

    def __init__(
        self, accounts: Iterable[Account], access: Access, visit: Visit, titles: Mapping[ChatKey, str]
    ) -> None:
        self._people = {account.chat: account.name for account in accounts if account.chat and account.name}
        self._access = access
        self._visit = visit
        self._titles = titles

    def of(self, chat: ChatKey) -> str:
        return self._named(chat, self._titles.get(chat) or chat.thread)

    def of_key(self, printed: str) -> str:
        """Return the name of a chat whose key is given as text."""
        chat = _parsed(printed)
        return self.of(chat) if chat else printed

    def beside(self, printed: str, words: str) -> str:
        """Return the name of a chat next to words, without the title of a conversation that is named by them."""
        chat = _parsed(printed)
        title = self._titles.get(chat, "").rstrip("…") if chat else ""
        return self._named(chat, None) if chat and title and words.startswith(title) else self.of_key(printed)

    def of_whole(self, printed: str) -> str:
        """Return the name of a chat that stands for its threads as well, whose key is given as text."""
        chat = _parsed(printed)
        if chat is None:
            return printed
        return self.of(chat) if chat.thread else self._named(chat, None)

    def link_of(self, chat: ChatKey) -> str:
        """Return the address of a conversation of the visitor on the page; empty for other chats."""
        return f"/#{chat.thread or MAIN}" if chat.without_thread == self._visit.chat else ""

    def _named(self, chat: ChatKey, part: str | None) -> str:
        if chat.account == LOCAL and chat.platform in _LOCAL:
            whole = self._visit.say(_LOCAL[chat.platform])
        else:
            name = self._people.get(chat.without_thread) or self._access.name_of_chat(chat)
            if not name:
                return str(chat)
            whole = f"{isolated(name)} ({chat.platform})"
        return f"{whole} · {isolated(part)}" if part else whole


def _parsed(printed: str) -> ChatKey | None:
    try:
        return ChatKey.parse(printed)
    except ValueError:
        return None
