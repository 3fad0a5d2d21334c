"""A complete list of the ways by which text leaves Parley, so that each new one is checked for secrets."""

import ast
import inspect
import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from channels.attachments import Attachment
from channels.base import (
    Button,
    ChatKey,
    ChatMoved,
    CommandInvoked,
    MessageReceived,
    OutboundMessage,
    Posted,
    Sender,
    TaskEnded,
)
from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from gateway.store.browsers import Browser
from gateway.store.chat_settings import EVERYWHERE
from gateway.store.opening import FILE
from gateway.store.owed import Owed
from gateway.store.page_links import OpenLink
from gateway.store.person import Account, Person
from gateway.store.question import Question
from gateway.store.rows import Chat, InboxItem, Post, Run, RunEnd, Task
from gateway.store.runs import ToolRecord
from gateway.store.steps import Step as RunStep
from gateway.store.store import Store
from gateway.store.table import Table
from gateway.store.value_table import ValueTable
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.cage import TABLES
from tests.messages import user
from tests.process import REPOSITORY

KEY = "sk-0123456789-abcdef"
CHAT = ChatKey(platform="memory", account="here", chat="ann")


def modules(naming: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the gateway's modules whose text has this name; to parse all of them takes seconds."""
    for path in sorted((REPOSITORY / "gateway").rglob("*.py")):
        if naming in (text := path.read_text("utf-8")):
            yield str(path.relative_to(REPOSITORY)), ast.parse(text)


def users_of(name: str) -> set[str]:
    """Return the gateway's files that use this name."""
    return {
        path
        for path, tree in modules(name)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
    }


def attributes(name: str) -> list[tuple[str, str]]:
    """Return each use of an attribute: the file, and the object it belongs to."""
    return [
        (path, ast.unparse(node.value))
        for path, tree in modules(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == name
    ]


def ways_to_people() -> set[str]:
    """Return the channel methods that take a message."""
    trees = [ast.parse((REPOSITORY / "channels" / name).read_text("utf-8")) for name in ("base.py", "capabilities.py")]
    return {
        method.name
        for tree in trees
        for protocol in ast.walk(tree)
        if isinstance(protocol, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in protocol.bases)
        for method in protocol.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in [*method.args.args, *method.args.kwonlyargs]
        if argument.annotation and "OutboundMessage" in ast.unparse(argument.annotation)
    }


def test_only_a_masked_channel_sends_to_a_channel() -> None:
    ways = ways_to_people()
    assert {"send", "edit", "split", "find_sent"} <= ways

    others = [
        (way, path, whose)
        for way in ways
        for path, whose in attributes(way)
        if path != "gateway/security/masked_channel.py" and whose != "plan"  # a generator
        # Texts have a `split` too.
        if not hasattr(str, way) or ("channel" in whose.lower() and not re.search(r"masked_channel(\(.*\))?$", whose))
    ]

    assert others == []


def test_only_a_masked_model_is_asked() -> None:
    clients = users_of("MaskingClient") - {"gateway/security/masking_client.py"}
    assert users_of("AgentLoop") == {"gateway/runs/agents.py"}
    assert clients == users_of("AgentLoop") | {"gateway/runs/chat_models.py"}
    assert {path for path, whose in attributes("llm") if whose == "models"} == {"gateway/runs/chat_models.py"}
    assert {path for path, whose in attributes("stream") if "llm" in whose.lower()} == {
        "gateway/security/masking_client.py"
    }
    given = {
        keyword.arg: ast.unparse(keyword.value)
        for path, tree in modules("ToolSetup")
        for node in ast.walk(tree)
        if path == "gateway/runs/agents.py"
        and isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("Models", "ToolSetup")
        for keyword in node.keywords
    }
    assert given["llm"] == "llm"
    assert [
        ast.unparse(node.value)
        for _, tree in modules("ToolSetup")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "llm"
    ] == ["MaskingClient(parts.llm, self._secrets)"]
    assert given["redact"] == "self._secrets.mask", "what tools say is masked"


def test_only_these_write_on_the_terminal() -> None:
    """Each one masks its output, or runs before the settings are read and knows no secret."""
    writers = {path for stream in ("stdout", "stderr") for path, whose in attributes(stream) if whose != "done"}

    assert writers == {
        "gateway/app/dialogue.py",
        "gateway/app/serve.py",
        "gateway/web/link_socket.py",
        "gateway/cli.py",
        "gateway/upkeep/doctor/report.py",
        "gateway/settings/env_example.py",
        "gateway/settings/page.py",
        "gateway/app/app_settings.py",
        "gateway/records/logs.py",
        "gateway/records/own_screen.py",
        "gateway/security/printing.py",
    }


def test_only_these_write_files() -> None:
    """The audit file and the exports mask what they write.

    The others write user messages, memories that are joined, workspace files, files to be sent, pages for newcomers,
    the store's mark, digests of approved tools and plugins, what would be on the terminal beside a chat, tokens
    for .env, packages of new plugins, and backups of all that.
    """
    writers = {path for way in ("fdopen", "write_bytes", "write_text", "writelines") for path, _ in attributes(way)}

    assert writers == {
        "gateway/app/new_plugin.py",
        "gateway/permissions/approved_plugins.py",
        "gateway/permissions/approved_tools.py",
        "gateway/permissions/moved_folders.py",
        "gateway/records/audit_chain.py",
        "gateway/records/own_screen.py",
        "gateway/security/private_file.py",
        "gateway/store/home_marker.py",
        "gateway/store/side_file.py",
        "gateway/upkeep/backup.py",
        "gateway/upkeep/forgetting.py",
        "gateway/upkeep/restore.py",
        "gateway/chat/attachments.py",
        "gateway/delivery/outgoing.py",
        "gateway/runs/samples.py",
        "gateway/connect/env_file.py",
    }


# Writes to the store

RUN = Run("run-1", CHAT, "session-1", "ann", 1.0)
FILE_OF_OURS = Attachment(name=f"{KEY}.txt", path="/somewhere")
BUTTONS = ((Button(label=KEY, action=KEY),),)
HERE = Posted(chat=CHAT, message_id="m1")
SAID = OutboundMessage(markdown=KEY, buttons=BUTTONS, attachments=(FILE_OF_OURS,))
FAULT = Post("run-1:error:0", "run-1", CHAT, SAID, CLEAN)
WHO = Sender(id="ann", name=KEY)
HEARD = MessageReceived(event_id="e1", chat=CHAT, sender=WHO, at=1, text=KEY, message_id="m", quoted=KEY)
RECORD = ToolRecord("run-1", "session-1", "m1", "c1", KEY, KEY, 1, 1, result=KEY, error=KEY)
QUESTION = Question("abcdef", "run-1", "session-1", "c1", CHAT, "ann", KEY, "f", KEY, "en", 1.0, 2.0)
TASK = Task("t1", "call-1", CHAT, "run-1", "ann", "en", None, KEY, background=True, origin=CLEAN, created=1.0)
REPORT = Report(status=TaskStatus.FAILED, text=KEY, error=KEY, origin=CLEAN)
FAILED = RunEnd(TerminalReason.ERROR, "scripted", f"no {KEY}")
NEWS = TaskEnded(
    event_id="task:t1",
    chat=CHAT,
    sender=WHO,
    at=1.0,
    task_id="t1",
    outcome="failed",
    prompt=KEY,
    report=KEY,
    untrusted=False,
    sources=(),
)


async def _written_later(store: Store) -> None:
    store.conversations.heard(CHAT, KEY, 1.0)


Write = Callable[[Store], Awaitable[object]]
BROWSER = Browser("0" * 64, "1" * 64, "memory:eve", KEY, KEY, "127.0.0.1", 1.0, 1.0)
NEWCOMER = Person("p1", "owner", accounts=(Account("memory:eve", KEY),))
OWED = Owed("speech", "run-1", CHAT, {"words": KEY})
WRITES: dict[str, Write] = {
    "Inbox.accept": lambda store: store.inbox.accept(HEARD),
    "Inbox.reword": lambda store: store.inbox.reword(InboxItem(1, HEARD.model_copy(update={"text": f"again {KEY}"}))),
    "Runs.begin": lambda store: store.runs.begin(RUN),
    "Transcript.append": lambda store: store.transcript.append(RUN, 1, user(KEY, source=KEY, context=KEY)),
    "Runs.record_tool": lambda store: store.runs.record_tool(RECORD),
    "Sessions.rename": lambda store: store.sessions.rename(CHAT, "session-1", KEY),
    "Steps.add": lambda store: store.steps.add([RunStep("run-1", 1.0, {"error": KEY}, {"error": KEY})]),
    "Outbox.add": lambda store: store.outbox.add([Post("run-1:answer:0", "run-1", CHAT, SAID, origin=CLEAN)]),
    "Settled.by": lambda store: store.settled.by(lambda _: [Post("inbox-1:reply:0", "inbox-1", CHAT, SAID, CLEAN)], 1),
    "Outbox.shown": lambda store: store.outbox.shown(Post("run-1:progress:0", "run-1", CHAT, SAID, CLEAN), HERE),
    "Outbox.sent": lambda store: store.outbox.sent(Post("run-1:answer:0", "run-1", CHAT, SAID, CLEAN), HERE),
    "Outbox.unconfirmed": lambda store: store.outbox.unconfirmed("run-1:answer:0", KEY),
    "Outbox.offer": lambda store: store.outbox.offer(Post("offer-e1:offer:0", "offer-e1", CHAT, SAID, origin=CLEAN)),
    "Outbox.failed": lambda store: store.outbox.failed("run-1:answer:0", f"refused: {KEY}"),
    "Approvals.ask": lambda store: store.approvals.ask(QUESTION, SAID, lambda _: SAID),
    "Approvals.move": lambda store: store.approvals.move("abcdef", Question.withdrawn, lambda _: SAID),
    "Approvals.answer": lambda store: store.approvals.answer(
        "abcdef",
        lambda question: question.answered("ann", 1.0, approved=True, words=f"it is {KEY}"),
        lambda _: SAID,
        None,
    ),
    "Runs.end": lambda store: store.runs.end(RUN, FAILED, [FAULT], owes=lambda _: [OWED, replace(OWED, key="run-2")]),
    "OwedItems.add": lambda store: store.owed.add(lambda _: [replace(OWED, key="run-3")]),
    "OwedItems.done": lambda store: store.owed.done(OWED, [Post("run-1:voice:0", "run-1", CHAT, SAID, origin=CLEAN)]),
    "Tasks.add": lambda store: store.tasks.add(TASK),
    "Tasks.end": lambda store: store.tasks.end(TASK, REPORT, "", NEWS),
    "Restores.set_aside": lambda store: store.restores.set_aside(HEARD.model_copy(update={"event_id": "e2"})),
    "ReadMarks.note_trouble": lambda store: store.read_marks.note_trouble(CHAT, KEY),
    "ChatSettings.set": lambda store: store.chat_settings.set(EVERYWHERE, "model", KEY, "ann"),
    "People.save": lambda store: store.people.save(NEWCOMER),
    "Pairing.current": lambda store: store.pairing.current("00000000"),
    "Pairing.attempt": lambda store: store.pairing.attempt("00000000", "memory:eve", NEWCOMER, "1"),
    "Strangers.hear": lambda store: store.strangers.hear("s1", "memory:eve", HEARD),
    "Links.add": lambda store: store.links.add("00000000", "1", "memory:eve", KEY),
    "Links.use": lambda store: store.links.use("none", NEWCOMER, "1"),
    "PageCommands.give": lambda store: store.page_commands.give(
        CommandInvoked(
            event_id="web:act:1", chat=CHAT, sender=HEARD.sender, at=1.0, message_id="", name="say", arguments=KEY
        )
    ),
    "PageLinks.add": lambda store: store.page_links.add(OpenLink("digest", "memory:eve", KEY, 9_999.0)),
    "PageCommands.answer": lambda store: store.page_commands.answer("web:act:1", KEY),
    "Browsers.save": lambda store: store.browsers.save(BROWSER),
    "Conversations.rename": lambda store: store.conversations.rename(CHAT, KEY),
    "Conversations.heard": _written_later,
    "Chats.save": lambda store: store.chats.save(Chat(CHAT, "session-1", "en")),
    "Moves.told": lambda store: store.moves.told(
        ChatMoved(event_id="e3", chat=CHAT, sender=WHO, at=1.0, group=KEY, to=CHAT.model_copy(update={"chat": "b"}))
    ),
}
"""Writes in an order in which each finds the rows it needs."""
WRITES_OF_JOBS = {"Firings.begin", "Firings.end", "Firings.record_missed", "Jobs.add", "ValueTable.change"}
"""These are tried in tests/gateway/jobs/test_job_store.py."""
WITHOUT_WORDS = {
    "HomeMarker.check",
    "JobTargets.add",
    "Moves.apply",
    "PageCommands.fetch",
    "PersonZones.save",
    "PageLinks.close",
    "PageLinks.take",
    "PageCommands.offer",
    "PageCommands.take",
    "PageCommands.withdraw",
    *(f"LeaseRows.{each}" for each in ("join", "leave", "release", "take", "tell", "turn")),
    "Chats.save_zone",
    "Nodes.note_settings",
    "Nodes.note_unreachable",
    "ReadMarks.ask",
    "ReadMarks.close_gap",
    "ReadMarks.meet",
    "ReadMarks.open_gap",
    "ReadMarks.open_gaps",
    "Conversations.answered",
    "Browsers.delete",
    "Browsers.touch",
    "RunRecords.ruled",
    "Erasures.complete",
    "Erasures.erase",
    "Erasures.erase_owed",
    "Runs.begin_apart",
    "Firings.delete_missed",
    "Heartbeats.save",
    "Jobs.advance",
    "Jobs.purge_drafts",
    "ReadMarks.move",
    "Restores.mark_reported",
    "Retention.shorten",
    "Search.catch_up",
    "Standings.save",
    "OwedItems.tried",
    "Outbox.not_sent",
    "Runs.resume",
    "Rules.remove",
    "LoadedSkills.renew",
    "Tasks.reopen",
    "Runs.note_shutdown",
    "Runs.pause",
    "Runs.reached_budget",
    "Runs.take_up",
    "LoadedSkills.save",
    "Outbox.tried",
    "Inbox.settle",
    "Budgets.remove",
    "Budgets.set",
    "Spending.reserve",
    "Spending.settle",
    "Spending.settle_unknown",
    "Tasks.start",
    "Transcript.rewind",
    "Tasks.cancel",
    "Strangers.forget",
    "Strangers.ignore",
    "Strangers.show_next",
}


def test_every_way_to_write_something_down_is_known() -> None:
    found = (*Table.__subclasses__(), *ValueTable.__subclasses__())
    of_store = [each for each in found if each.__module__.startswith("gateway.store.")]
    tables: list[type[Store | Table]] = [Store, *of_store]
    writes = {
        f"{table.__name__}.{method.name}"
        for table in tables
        for method in ast.walk(ast.parse(inspect.getsource(table)))
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        and "self._writer.submit" in ast.unparse(method)
        and not method.name.startswith("_")
    }
    reads = {
        "Browsers.all", "ChatSettings.reload", "ChatSettings.tell_of_change", "ChatSettings.tell_of_connection",
        "ChatSettings.tell_of_files", "Chats.get", "Chats.zones", "Links.said", "PageLinks.all", "People.all",
        "PersonZones.all", "Spending.of_run", "Spending.reserved", "Spending.sums", "Standings.all", "Runs.current",
        "Runs.is_over", "Exchanges.changes_words", "Exchanges.last",
    }  # fmt: skip
    """Methods that only wait for earlier writes, or create a chat without any text."""

    assert writes == WRITES.keys() | WRITES_OF_JOBS | WITHOUT_WORDS | reads


@pytest.mark.parametrize("safe", [True, False], ids=["with secrets", "without, where all of it is written down"])
async def test_no_secret_is_written_down(tmp_path: Path, safe: bool) -> None:  # noqa: FBT001
    async with Store.open(tmp_path, FakeClock(), numbered(), Secrets([KEY] if safe else [])) as store:
        for write in WRITES.values():
            await write(store)

    connection = sqlite3.connect(tmp_path / FILE)
    tables = [row[0] for row in connection.execute(TABLES)]
    rows = [(table, str(row)) for table in tables for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608
    connection.close()
    assert {
        "inbox",
        "transcript",
        "outbox",
        "owed",
        "runs",
        "session_titles",
        "steps",
        "tasks",
        "tool_calls",
        "approvals",
        "read_marks",
        "chat_settings",
        "set_aside",
        "accounts",
        "browsers",
        "page_commands",
        "page_links",
        "links",
        "strangers",
        "conversations",
    } == {table for table, row in rows if (MASK if safe else KEY) in row}
    assert [table for table, row in rows if (KEY if safe else MASK) in row] == []
