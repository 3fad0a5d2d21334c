"""Tells devices of what waits for somebody, and of what nobody asked for, while the page is not looked at."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent_core.messages import JsonObject
from channels.base import ChatKey, Sender, TaskEnded
from channels.web.listing import name_of
from channels.web.visitor import Visitor
from gateway.permissions.question_text import one_line
from gateway.permissions.roles import Role
from gateway.plugin import Core
from gateway.plugins.push.looks import Looks
from gateway.plugins.push.notifications import Notifications
from gateway.plugins.push.table import Device, Devices, browsers_of
from gateway.runs.owed import Doer
from gateway.schedule.times.quiet import QuietHours
from gateway.schedule.zones import Zones
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.question import Question, QuestionState
from gateway.store.rows import Post, Run, RunEnd
from gateway.texts.say import Language, language_of, say

KIND = "push"
PAGE = "web"
LONGEST = 160
"""Characters of the words of a notification."""
KEPT_FOR = 24 * 3600.0
"""Seconds for which the push service keeps what it cannot deliver."""
MINUTE = 60.0
INBOX = "/admin/inbox"
TAG = "inbox-"
"""The page's own notifications of what waits in other chats have tags that begin so."""
_AFTER = " after "
"""In the key of what waits for the end of quiet hours."""
_REPLY = "inbox-"
_OF_RUNS = (":answer:", ":error:", ":file:")
"""Parts of the keys of posts that answer somebody, unless their run began with the report of a task."""


class Shown(Struct, frozen=True):
    """A notification, and for how long it is worth showing."""

    title: str
    body: str
    tag: str
    """That of another one which it replaces."""
    data: str
    """The conversation or the address of the page that a press opens."""
    seconds: float
    is_urgent: bool = False

    @property
    def content(self) -> Mapping[str, str]:
        """The fields that the device is sent."""
        return {"title": self.title, "body": self.body, "tag": self.tag, "data": self.data}


class PushWork:
    """Notes what devices have to be told of, with the message itself, and tells them."""

    def __init__(self, core: Core, devices: Devices, notifications: Notifications, looks: Looks) -> None:
        self._core = core
        self._devices = devices
        self._notifications = notifications
        self._looks = looks

    @property
    def doers(self) -> Mapping[str, Doer]:
        """The functions that do the kinds of owed work."""
        return {KIND: self._do}

    def of_message(self, post: Post, tx: Connection) -> Iterable[Owed]:
        """Return what is owed for a message: for a question in any chat, on the page also for what nobody asked for."""
        is_on_page = post.chat.platform == PAGE
        if not (post.is_question or (is_on_page and _is_unasked(post))):
            return ()
        about = {"question": post.key.rpartition(":")[2]} if post.is_question else {"key": post.key}
        browsers = browsers_of(tx, lambda principal: post.is_question or _is_of(principal, post.chat))
        return [Owed(KIND, f"{post.key} {each}", post.chat, {**about, "browser": each}) for each in browsers]

    def of_run(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        """Return what is owed at the end of a run on the page, which may have begun with the report of a task."""
        if run.chat.platform != PAGE or not how.items:
            return ()
        data: JsonObject = {"run": run.id, "item": how.items[0]}
        browsers = browsers_of(tx, lambda principal: _is_of(principal, run.chat))
        return [Owed(KIND, f"{run.id} {each}", run.chat, {**data, "browser": each}) for each in browsers]

    async def _do(self, item: Owed) -> Sequence[Post]:
        device = await self._devices.find(_text(item, "browser"))
        if device is None or not await self._is_let_in(device) or self._looks.are_on(device.principal):
            return ()
        if _text(item, "question"):
            await self._tell_of_question(item, device)
        elif _text(item, "run"):
            await self._tell_of_report(item, device)
        else:
            await self._tell_of_message(item, device)
        return ()

    async def _tell(self, device: Device, shown: Shown) -> None:
        await self._notifications.tell(
            device, shown.content, topic=shown.tag, seconds=shown.seconds, urgent=shown.is_urgent
        )

    async def _tell_of_question(self, item: Owed, device: Device) -> None:
        """Tell of a question that still waits, and that this person may answer; in quiet hours, when these are over."""
        question = await self._core.store.approvals.find(_text(item, "question"))
        now = self._core.clock.time()
        if question is None or question.at(now).state is not QuestionState.PENDING:
            return
        if not self._may_answer(device, question):
            return
        if (end := await self._end_of_quiet_hours(device, item.chat, now)) > now:
            later = replace(item, key=f"{item.key.partition(_AFTER)[0]}{_AFTER}{end:.0f}", due=end)
            await self._core.owe(lambda _: [later])
            return
        language, left = _language(device), question.expires_at - now
        title = say("push_question" if question.is_of_model else "push_approval", language)
        if _is_of(device.principal, item.chat):
            body, tag, place = one_line(question.what, LONGEST), name_of(item.chat), name_of(item.chat)
        else:
            body = say("push_in_chat", language, chat=self._name_of(item.chat))
            tag, place = f"{TAG}{question.id}", INBOX
        await self._tell(device, Shown(title, body, tag, place, left, is_urgent=True))

    async def _tell_of_message(self, item: Owed, device: Device) -> None:
        post = await self._core.store.outbox.find(_text(item, "key"))
        if post is not None:
            await self._tell(device, await self._of_page(post, _language(device)))

    async def _tell_of_report(self, item: Owed, device: Device) -> None:
        """Tell of the end of a run, if it began with the report of a task."""
        number = item.data.get("item")
        heard = await self._core.store.run_records.heard(number) if isinstance(number, int) else None
        if heard is None or not isinstance(heard.event, TaskEnded):
            return
        posts = [each for each in await self._core.store.outbox.of_run(_text(item, "run")) if not each.is_progress]
        if posts:
            await self._tell(device, await self._of_page(posts[0], _language(device)))

    async def _of_page(self, post: Post, language: Language) -> Shown:
        titles = await self._core.store.conversations.titles([post.chat])
        name, words = name_of(post.chat), _start(post.message.markdown)
        return Shown(titles.get(post.chat) or "Parley", words or say("push_report", language), name, name, KEPT_FOR)

    def _name_of(self, chat: ChatKey) -> str:
        access = self._core.access
        return access.name_of_chat(chat) or access.name_of(access.whose(chat) or "") or chat.platform

    async def _is_let_in(self, device: Device) -> bool:
        """Return True if the browser is still signed in, and its person may use the page; else it is told no more."""
        browsers = await self._core.store.browsers.all()
        role = self._core.access.role_of(device.principal)
        is_in = any(each.digest == device.browser for each in browsers)
        if is_in and role is not None and role.is_at_least(Role.ADMIN):
            return True
        await self._devices.remove(device.browser)
        return False

    def _may_answer(self, device: Device, question: Question) -> bool:
        visitor = Visitor(device.principal)
        is_on_page = question.chat.platform == PAGE
        who = visitor.sender("") if is_on_page else Sender(id=device.principal, name="")
        return self._core.access.may_act_for(question.chat, who, question.person)

    async def _end_of_quiet_hours(self, device: Device, chat: ChatKey, at: float) -> float:
        """Return when the quiet hours end that the person's own chat has at a time; that time if there are none."""
        own = chat if _is_of(device.principal, chat) else Visitor(device.principal).chat()
        for place in dict.fromkeys((own, own.without_thread)):
            heartbeat = await self._core.store.heartbeats.find(place)
            if heartbeat is None or (quiet := QuietHours.for_all(heartbeat)) is None:
                continue
            store = self._core.store
            chats, people = await store.chats.zones(), await store.person_zones.all()
            zone = Zones(store, self._core.settings, self._core.access, chats=chats, people=people).of(place)
            while quiet.holds_at(at, zone):
                at += MINUTE - at % MINUTE
        return at


def _is_unasked(post: Post) -> bool:
    """Return True for what is no answer to somebody: reports, reminders, notices."""
    answers = post.key.startswith(_REPLY) or any(part in post.key for part in _OF_RUNS)
    return not (answers or post.message.silent)


def _is_of(principal: str, chat: ChatKey) -> bool:
    return Visitor(principal).chat() == chat.without_thread


def _start(markdown: str) -> str:
    from channels.markdown import words_of  # 15 ms

    return words_of(markdown[: 4 * LONGEST])[:LONGEST]


def _text(item: Owed, name: str) -> str:
    found = item.data.get(name)
    return found if isinstance(found, str) else ""


def _language(device: Device) -> Language:
    return language_of(device.language, "en")
