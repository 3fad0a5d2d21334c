"""The messages about strangers and linked accounts: to owners and admins, to the stranger, to the giver of a code."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from agent_core.background import Background
from agent_core.origin import CLEAN
from channels.base import Button, CommandInvoked, InboundEvent, OutboundMessage
from channels.buttons import fits_a_button
from gateway.delivery.delivery import Delivery
from gateway.permissions.question_text import shown
from gateway.settings.current import CurrentSettings
from gateway.store.links import Link
from gateway.store.person import Account
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.store.strangers import Stranger
from gateway.texts.say import Language, language_of, say
from gateway.upkeep.owners import Owners

MORE = "strangers"
"""The name of the message that tells how many more strangers wait."""
LONGEST_NAME = 60
"""Characters."""
VERDICTS = {"member": "allow_button", "guest": "guest_button", "ignore": "ignore_button", "block": "block_button"}
"""Text keys of the buttons."""
OUTCOMES = {
    "member": "stranger_member",
    "guest": "stranger_guest",
    "ignore": "stranger_ignore",
    "block": "stranger_block",
}
"""Text keys of what was decided."""


class StrangerNotices:
    """Asks owners and admins about strangers, closes these questions, and answers strangers."""

    def __init__(self, store: Store, delivery: Delivery, owners: Owners, current: CurrentSettings) -> None:
        self._store = store
        self._delivery = delivery
        self._owners = owners
        self._current = current
        self._telling = Background("answering a stranger failed")

    def ask(self, stranger: Stranger) -> None:
        """Show a stranger to every owner and admin who has not seen them, and say who counts as one person there."""
        self._owners.tell_of_stranger(_name(stranger), partial(_question, stranger), _link_offer)

    async def ask_anew(self, stranger: Stranger) -> None:
        """Show the first message of a stranger who had only sent a command, such as the /start of every new chat."""
        await self._owners.close_notice(_name(stranger), partial(_question, stranger), only_open=True)

    def tell_of_more(self, count: int) -> None:
        """Tell owners and admins how many more strangers wait. The message is edited when others come."""
        self._owners.tell_how_many(MORE, partial(_how_many, count))

    async def count_again(self, count: int) -> None:
        """Correct that message, once fewer strangers wait."""
        await self._owners.correct(MORE, partial(_how_many, count))

    def tell_giver(self, link: Link, account: Account) -> None:
        """Tell the account which gave the code that another one used it, with a button to separate that again."""

        def message(language: Language) -> OutboundMessage:
            action = f"/link off {account.principal}"
            button = Button(label=say("link_undo_button", language), action=action) if fits_a_button(action) else None
            text = say("link_used", language, who=shown_account(account))
            return OutboundMessage(markdown=text, buttons=((button,),) if button else ())

        self._owners.tell_account(link.giver, f"linked-{link.id}", message)

    async def close(self, stranger: Stranger, verdict: str, by: str) -> None:
        """Replace the question by its outcome, in which the words of the stranger are gone.

        Its button may have been pressed before its send is recorded, and without that it would be sent once more.
        """
        who = quoted_name(stranger)

        def message(language: Language) -> OutboundMessage:
            return OutboundMessage(markdown=say(OUTCOMES[verdict], language, who=who, by=by))

        chats = {post.chat for post in await self._store.outbox.of_run(_name(stranger))}
        await asyncio.gather(*map(self._delivery.caught_up, chats))
        await self._owners.close_notice(_name(stranger), message)

    async def close_rest(self, stranger: Stranger) -> None:
        """Close what is still open of the question, after a crash or if the stranger was let in without it."""

        def message(language: Language) -> OutboundMessage:
            return OutboundMessage(markdown=say("stranger_no_more", language, who=quoted_name(stranger)))

        await self._owners.close_notice(_name(stranger), message, only_open=True)

    async def greet(self, stranger: Stranger) -> None:
        """Tell a stranger once that the owner was asked, if there is one and the settings say so."""
        name = f"{_name(stranger)}-greeting"
        can_be_told = self._delivery.knows(stranger.event.chat) and self._owners.can_be_asked
        if self._current.now.answer_strangers and can_be_told and not await self._store.outbox.of_run(name):
            await self.say_to(stranger.event, name, "stranger_asked")

    async def say_to(self, event: InboundEvent, name: str, key: str) -> None:
        """Send a stranger one line in their language; `name` is unique to it."""
        command = event if isinstance(event, CommandInvoked) else None
        slash = (command and command.slash) or self._delivery.channel(event.chat).limits.slash
        text = say(key, language_of(event.sender.language, self._current.language), slash=slash)
        respond = command and command.respond
        post = Post(f"{name}:reply:0", name, event.chat, OutboundMessage(markdown=text, respond=respond), CLEAN)
        await self._store.outbox.add([post])
        self._telling.start(self._delivery.deliver(event.chat, [post]), name)

    async def settled(self) -> None:
        """Wait until all messages are sent."""
        await self._telling.join()
        await self._owners.settled()

    async def close_all(self) -> None:
        """Cancel sending. Messages already stored are delivered after the next start."""
        await self._telling.stop()


def shown_account(account: Account) -> str:
    """Return an account with its name as code."""
    name = as_code(account.name[:LONGEST_NAME])
    return f"{name} (`{account.principal}`)" if name else f"`{account.principal}`"


def quoted_name(stranger: Stranger) -> str:
    """Return a stranger's account and name as code, in which no platform finds mentions or links."""
    return shown_account(Account(stranger.principal, stranger.event.sender.name))


def as_code(text: str) -> str:
    """Return one line as code; hidden characters are written out."""
    safe = plain_name(text, len(text)).replace("`", "'")
    return f"`{safe}`" if safe else ""


def plain_name(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name as one line of at most `most` characters and marks, in which hidden characters are written out."""
    return shown(" ".join(name.split())[:most]).strip()


def _link_offer(accounts: Sequence[Account], language: Language) -> OutboundMessage:
    button = Button(label=say("link_offer_button", language), action="/link")
    text = say("link_offer", language, accounts=", ".join(map(shown_account, accounts)))
    return OutboundMessage(markdown=text, buttons=((button,),), silent=True)


def _how_many(count: int, language: Language) -> OutboundMessage:
    if not count:
        return OutboundMessage(markdown=say("strangers_no_more", language), silent=True)
    button = Button(label=say("look_button", language), action="/people")
    return OutboundMessage(markdown=say("strangers_more", language, count=count), buttons=((button,),), silent=True)


def _question(stranger: Stranger, language: Language) -> OutboundMessage:
    rows = tuple((each,) for each in verdict_buttons(stranger.id, language))
    words = shown(stranger.words).replace("`", "'").strip()
    text = [say("stranger_writes", language, who=quoted_name(stranger)), *([f"```\n{words}\n```"] if words else [])]
    return OutboundMessage(markdown="\n\n".join(text), buttons=(rows[0] + rows[1], rows[2] + rows[3]))


def verdict_buttons(stranger: str, language: Language) -> Iterator[Button]:
    """Yield the buttons that decide about a stranger with this id."""
    for verdict, key in VERDICTS.items():
        style: Literal["plain", "danger"] = "danger" if verdict == "block" else "plain"
        yield Button(label=say(key, language), action=f"/stranger {verdict} {stranger}", style=style)


def _name(stranger: Stranger) -> str:
    return f"stranger-{stranger.id}"
