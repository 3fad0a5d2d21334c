"""The names that authors may import are those that docs/public.md lists, and they are enough for the door."""

import ast
import importlib
import inspect
import pydoc
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import parley
from bench.public import MODULES, PAGE, names, page
from gateway.app.chosen_plugins import own_plugins
from tests.process import REPOSITORY

OURS = ("gateway.", "channels.", "agent_core.")
DOOR = (parley.Plugin, parley.Core, parley.Running)
INNER = {
    "agent_core.background": "tasks that go on beside the chats",
    "agent_core.clock": "ids of calls that a model makes",
    "agent_core.encodings": "text in the encodings of old programs",
    "agent_core.file_handles": "what a run lacks to go on",
    "agent_core.file_text": "the same",
    "agent_core.identity_cache": "figures of what requests repeat",
    "agent_core.json_text": "JSON of others",
    "agent_core.loop.execution": "results of calls in our own words",
    "agent_core.loop.gate": "the same",
    "agent_core.mcp.config": "MCP servers in the settings",
    "agent_core.mcp.left_out": "the same",
    "agent_core.mcp.servers": "the same",
    "agent_core.messages": "what is stored of a conversation",
    "agent_core.models.failures": "what other servers say of a failure",
    "agent_core.models.llm": "tools as models see them",
    "agent_core.models.local_servers": "which servers cost nothing",
    "agent_core.models.scripted": "what models say, in pieces",
    "agent_core.models.selection": "models in the settings",
    "agent_core.models.tokens": "the same",
    "agent_core.sandbox.machine_view": "where the interpreter is",
    "agent_core.tools.files.confined": "files of a workspace",
    "agent_core.tools.files.editing": "the same",
    "agent_core.tools.files.pictures": "the same",
    "agent_core.tools.files.reading": "the same",
    "agent_core.sources": "the names of sources",
    "agent_core.tools.memory": "the facts of chats",
    "agent_core.tools.web.invisible_characters": "what nobody sees in a text",
    "agent_core.tools.web.fetch": "which addresses are public",
    "agent_core.tools.web.text": "feeds as text",
    "agent_core.untrusted": "text of others",
    "agent_core.versions.group": "former versions of files",
    "agent_core.versions.undo": "the same",
    "agent_core.versions.versions": "the same",
    "agent_core.workspace.keeper": "the same",
    "agent_core.workspace.provenance": "where files came from",
    "agent_core.workspace.safe_open": "files of a workspace",
    "channels.capabilities": "in parley.channels",
    "channels.markdown": "Markdown in pieces",
    "channels.web.listing": "conversations of the page",
    "channels.web.render": "how the page draws Markdown",
    "gateway.admin.times": "times on the page",
    "gateway.commands.command": "limits of what is completed",
    "gateway.commands.levels": "places for which something is set",
    "gateway.commands.more": "long and short forms of our own replies",
    "gateway.commands.suggested": "values that are offered",
    "gateway.delivery.outgoing": "files that are sent",
    "gateway.errors": "what is wrong with the home",
    "gateway.permissions.approved_tools": "what MCP servers say of their tools",
    "gateway.permissions.budget_notices": "budgets in our own words",
    "gateway.permissions.groups": "rules of groups",
    "gateway.permissions.permissions": "who allowed a call",
    "gateway.permissions.question_text": "the same",
    "gateway.permissions.request": "short names of rows",
    "gateway.permissions.room": "what was spent",
    "gateway.permissions.sources": "where what was said came from",
    "gateway.permissions.unattended": "who allowed a call",
    "gateway.permissions.workspaces": "folders of chats",
    "gateway.plugin": "what parley has from gateway.core",
    "gateway.records.audit": "arguments in our own words",
    "gateway.records.audit_actions": "actions, as they are recorded",
    "gateway.records.audit_chain": "the same",
    "gateway.records.audit_check": "the same",
    "gateway.records.cost_report": "what was spent",
    "gateway.records.replay.lines": "runs, as they are recorded",
    "gateway.records.spending_report": "what was spent",
    "gateway.runs.added_servers": "MCP servers that owners add",
    "gateway.runs.answer": "what is stored of a conversation",
    "gateway.schedule.jobs.preview": "jobs in our own words",
    "gateway.schedule.times.quiet": "quiet hours",
    "gateway.schedule.times.words": "times in our own words",
    "gateway.schedule.zones": "zones of chats",
    "gateway.texts.say": "languages of browsers",
    "gateway.security.masked_channel": "platforms, as messages reach them",
    "gateway.security.masking": "files that programs write",
    "gateway.security.packages": "what of Parley is installed",
    "gateway.security.printing": "the same",
    "gateway.security.private_file": "the same",
    "gateway.settings.files": "programs read them without a running Parley",
    "gateway.settings.limits": "quotas",
    "gateway.settings.permissions": "classes of tools",
    "gateway.settings.settings": "programs read them without a running Parley",
    "gateway.store.archive": "what is stored of a conversation",
    "gateway.store.budget": "what was spent",
    "gateway.store.chat_settings": "settings of chats",
    "gateway.store.file_connection": "the schema of the store",
    "gateway.store.job": "what is stored of a job",
    "gateway.store.opening": "the same",
    "gateway.store.question": "what is stored of a question",
    "gateway.store.rows": "what is stored of a conversation",
    "gateway.store.run_records": "what is stored of a run",
    "gateway.store.search": "the index of words",
    "gateway.store.search_terms": "the same",
    "gateway.store.spending": "what was spent",
    "gateway.subcommand": "subcommands of the program are read from our own folders only",
    "gateway.texts.amounts": "amounts in our own words",
    "gateway.texts.moments": "times in words, also damaged ones",
    "gateway.upkeep.doctor.connections": "what the doctor says of any MCP server",
    "gateway.upkeep.doctor.home": "whether Parley runs",
    "gateway.upkeep.kept": "which backups are kept",
    "gateway.upkeep.sizes": "how much is kept",
    "gateway.upkeep.mcp_notices": "what owners are told of MCP servers",
    "gateway.settings.mcp": "MCP servers in the settings",
    "agent_core.mcp.grants": "the same",
    "agent_core.mcp.oauth": "the same",
    "gateway.security.sealed": "what is kept of tokens",
    "gateway.settings.zone": "time zones",
    "gateway.web.rate_limit": "requests of programs",
}
"""Modules that our plugins import and others may not count on, with what they are about."""


@pytest.mark.parametrize("module", MODULES)
def test_each_public_name_is_told_in_a_sentence_of_its_docstring(module: str) -> None:
    public = importlib.import_module(module).__all__

    assert sorted(public) == sorted(name.public for name in names(module))
    assert [name.public for name in names(module) if not name.sentence] == []


@pytest.mark.parametrize(
    "kind",
    [
        *(parley.Core, parley.Command, parley.Forgotten, parley.HoldUntil, parley.Invocation, parley.Objection),
        *(parley.Owed, parley.PlainTable, parley.Post, parley.Press, parley.Proposal, parley.Right, parley.Run),
        *(parley.RunEnd, parley.Visit),
    ],
)
def test_the_help_of_what_authors_use_most_says_what_each_field_is(kind: type) -> None:
    told = pydoc.plain(pydoc.render_doc(kind)).partition("Methods defined here")[0]

    public = [name for name in signature(kind).parameters if not name.startswith("_")]

    assert [name for name in public if f"{name}: " not in told.partition("Attributes:")[2]] == []


def test_the_page_lists_the_names_as_they_are() -> None:
    assert PAGE.read_text("utf-8") == page(), "`python -m bench public` makes it anew"


def test_every_type_that_the_door_names_can_be_imported() -> None:
    public = {getattr(parley, name) for name in parley.__all__}

    lacking = {kind for member in DOOR for kind in types_of(member) if kind not in public}

    assert lacking == set()


def types_of(member: type) -> Iterator[type]:
    """Yield our own classes in the annotations of a class and of its methods."""
    methods = [each for _, each in inspect.getmembers(member, inspect.isfunction)]
    for annotated in (member, *methods):
        for hint in get_type_hints(annotated).values():
            yield from inside(hint)


def inside(hint: object) -> Iterator[type]:
    """Yield our own classes of which a type is made."""
    if isinstance(hint, type) and hint.__module__.startswith(OURS):
        yield hint
    for part in (*get_args(hint), *(hint if isinstance(hint, list) else ())):
        yield from inside(part)


def test_our_own_plugins_could_be_written_with_these_names() -> None:
    """What they import besides is listed above, so that a new door is noticed."""
    public = {(name.module, name.original) for module in MODULES for name in names(module)}

    others = {
        f"{module}.{name}"
        for plugin in own_plugins()
        for path in (REPOSITORY / "gateway" / "plugins" / plugin.name).rglob("*.py")
        for module, name in imported(path)
        if module.startswith(OURS) and not module.startswith("gateway.plugins.")
        if (module, name) not in public and module not in INNER
    }

    assert others == set(), "make them public in parley/, or name their module in INNER"


def imported(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
