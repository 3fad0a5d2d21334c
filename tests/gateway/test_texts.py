"""Every text of our own exists in both languages and is used."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from agent_core.clock import SystemClock
from agent_core.mcp.left_out import Why
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.selection import ModelSettingError, choose_fallback
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.skills.archive import ArchiveTrouble
from agent_core.skills.scan import Finding
from agent_core.skills.skill import Origin
from agent_core.tools.skills import list_skills, load_skill, load_skill_reference, unload_skill
from channels.files import FileTrouble
from channels.unread import Unread
from gateway.admin.screen import Group
from gateway.admin.screens.schedules import States
from gateway.app.chosen_plugins import own_plugins
from gateway.permissions.groups import Activation, Audience
from gateway.permissions.roles import Role
from gateway.permissions.sources import KINDS
from gateway.records.spending_report import Span
from gateway.records.waterfall import Kind
from gateway.runs.toolbox import tools_for
from gateway.settings.permissions import NAMES, WORDS
from gateway.settings.run_time import Change
from gateway.store.budget import Scope
from gateway.store.chat_settings import Level
from gateway.store.job import Firing, Pause, Report
from gateway.store.question import QuestionState
from gateway.store.spending import By
from gateway.texts import say as texts
from gateway.texts.amounts import Unit
from gateway.texts.say import LANGUAGES, Language, language_of, model_reason, say
from tests.gateway.conftest import StartBot
from tests.gateway.in_force import in_force
from tests.gateway.jobs.kit import ANN, a_job

FOLDER = Path(inspect.getfile(texts)).parent
GATEWAY = FOLDER.parent


@cache
def _said_in(file: Path) -> dict[str, dict[str, str]]:
    """Return the texts as written in the source."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return dict(ast.literal_eval(node.value))
    raise LookupError(file.name)


OF_PLUGINS = sorted(GATEWAY.glob("plugins/*/texts.py"))
FILES = sorted(file for file in [*FOLDER.glob("topics/*.py"), *OF_PLUGINS] if "\nTEXTS = {" in file.read_text("utf-8"))


@cache
def table() -> dict[str, dict[str, str]]:
    return {key: said for file in FILES for key, said in _said_in(file).items()}


def test_no_two_files_have_the_same_text() -> None:
    assert table()
    assert sum(len(_said_in(file)) for file in FILES) == len(table())


def test_every_file_is_read() -> None:
    for plugin in own_plugins():
        texts.add_texts(plugin.texts)
    assert all(say(key, language, **_facts(table()[key]["en"])) for key in table() for language in LANGUAGES)


def test_no_text_of_a_plugin_is_said_outside_of_it() -> None:
    files = [*GATEWAY.rglob("*.py"), *GATEWAY.rglob("*.html")]
    words = {file: {*re.findall(r'"(\w+)"', file.read_text("utf-8"))} for file in files}
    borrowed = {
        str(file.relative_to(GATEWAY)): found
        for plugin in OF_PLUGINS
        for file, said in words.items()
        if plugin.parent not in file.parents and (found := said & _said_in(plugin).keys())
    }

    assert borrowed == {}


def _facts(text: str) -> dict[str, str | int]:
    return dict.fromkeys(placeholders(text), 1)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def is_complete(key: str, said: dict[str, str]) -> bool:
    """Return True if a text is there in both languages, with the same facts and with Chinese words in Chinese."""
    if set(said) != set(LANGUAGES) or not all(text.strip() for text in said.values()):
        return False
    has_words = re.search("[A-Za-z]", re.sub(r"\{\w+\}", "", said["zh"]))
    is_chinese = not has_words or re.search("[\u4e00-\u9fff]", said["zh"]) or key.startswith("folded_")
    return placeholders(said["en"]) == placeholders(said["zh"]) and bool(is_chinese)


def test_every_text_is_there_in_both_languages_with_the_same_facts() -> None:
    assert [key for key, said in table().items() if not is_complete(key, said)] == []


def test_every_text_is_said_somewhere() -> None:
    files = [*(path for path in GATEWAY.rglob("*.py") if path not in FILES), *GATEWAY.rglob("*.html")]
    source = "\n".join(path.read_text("utf-8") for path in files)
    named = table().keys() & {*re.findall(r"""["'](\w+)["']""", source)}
    sources = {f"source_{kind}" for kind in KINDS}
    failures = {f"{part}_{each.value}" for part in ("error", "fix") for each in (*FailureKind, *FailureCause)}
    archives = {f"archive_{each.value}" for each in ArchiveTrouble}
    scans = {f"skill_scan_{each.value}" for each in Finding}
    ends = {reason.value for reason in TerminalReason}
    groups = {f"{key}_{each}" for key in ("activation", "activation_button") for each in Activation}
    groups |= {f"{key}_{each}" for key in ("speakers", "speakers_button") for each in Audience}
    groups |= {f"{key}_{word}" for key in ("tools", "page_settings") for word in WORDS}
    groups |= {f"tools_class_{of}" for of in NAMES}
    groups |= {f"speakers_rights_{each}" for each in (Role.GUEST, Role.MEMBER)}

    groups |= {f"runs_{each.value}" for each in (*Kind, *TerminalReason)} | {"runs_running"}
    groups |= {f"schedules_{each.value}" for each in (*Pause, *States)} | {"schedules_done"}
    groups |= {f"page_{path.stem}" for path in (GATEWAY / "admin" / "screens").glob("*.py")}
    groups |= {f"page_{name}" for name in re.findall(r'^    name = "(\w+)"$', source, re.M)}

    groups |= {f"page_skills_{each}" for each in Origin} | {f"page_level_{each}" for each in Level}
    groups |= {f"page_models_{use}" for use in ("default", "fallback", "cheaper")}
    groups |= {f"page_health_{mark}" for mark in ("ok", "note", "problem")}
    groups |= {"overview_ok", "overview_note", "overview_problem", "state_store_trouble", "state_disk_trouble"}
    groups |= {f"page_group_{group}" for group in Group if group is not Group.START}
    groups |= {f"page_settings_{each}" for each in (*Change, "on", "off")}
    groups |= {f"story_{each}" for each in QuestionState if each is not QuestionState.USED}
    groups |= {f"page_span_{each}" for each in Span} | {f"page_by_{each}" for each in By}
    groups |= {f"mcp_why_{why}" for why in get_args(Why)}
    groups |= {f"unread_{kind}" for kind in get_args(Unread)} | {"file_not_fetched", "file_not_kept"}
    groups |= {f"file_why_{why}" for why in get_args(FileTrouble)}
    groups |= {f"page_in_{each}" for each in Unit} | {f"page_costs_each_{each}" for each in Scope}

    assert set(table()) - named - failures - ends - sources - archives - scans - groups == set()


SPOKEN_OTHERWISE = {TerminalReason.COMPLETED, TerminalReason.ABORTED, TerminalReason.ERROR}
"""Ends with another message: the answer itself, "Stopped." or the model's failure."""


@pytest.mark.parametrize("reason", [reason for reason in TerminalReason if reason not in SPOKEN_OTHERWISE])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_end_of_a_run_has_words_for_people(reason: TerminalReason, language: Language) -> None:  # S3-11
    assert say(reason.value, language, most=25)


def test_every_failure_of_a_model_has_words_that_name_the_run() -> None:
    for each in (*FailureKind, *FailureCause):
        for language in LANGUAGES:
            assert "1234" in say(f"error_{each.value}", language, run="1234", slash="/", wait="soon")


def test_both_notices_about_limits_say_the_limit() -> None:  # D-06
    assert say("max_turns", "en", most=25) == "[Reached the limit of 25 model calls]"
    assert say("max_tool_calls", "en", most=25) == "[Reached the limit of 25 tool calls]"
    assert "25" in say("max_turns", "zh", most=25)
    assert say("max_tool_calls", "zh", most=25) == "[达到最大工具调用次数 25]"


COMMAND = re.compile(r"(?<![A-Za-z0-9}/:.])/[a-z]{2,}")
ELSEWHERE = {"pair_code", "pair_no_owner", "link_code", "entry_how"}
"""Texts that name a command for another platform than the one where they are read."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_commands_are_named_as_the_platform_writes_them(language: Language) -> None:
    named = {key for key, said in table().items() if COMMAND.search(said[language]) and not key.startswith("page_")}

    assert named - ELSEWHERE == set()


def test_a_text_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        say("no_such_text", "en")


@pytest.mark.parametrize(
    ("tag", "language"),
    [("zh", "zh"), ("zh-hans", "zh"), ("ZH-TW", "zh"), ("en-GB", "en"), ("de", "zh"), ("", "zh"), (None, "zh")],
)
def test_the_language_follows_the_person_s_client(tag: str | None, language: str) -> None:
    assert language_of(tag, "zh") == language


@pytest.mark.parametrize(
    ("setting", "server"),
    [
        ("nobody/large", ""),
        ("openai/large", ""),
        ("ollama/large", ""),
        ("large", "ftp://here"),
        ("", "http://127.0.0.1:9"),
    ],
)
async def test_why_a_model_cannot_be_used_is_told_in_chinese_too(setting: str, server: str) -> None:
    with pytest.raises(ModelSettingError) as error:
        await choose_fallback(setting, {}, base_url=server)

    told = model_reason(str(error.value), "zh")

    assert model_reason(str(error.value), "en") == str(error.value)
    assert re.search("[\u4e00-\u9fff]", told)
    assert not re.search(r"\b(the|set|is|with)\b", told)


async def test_every_tool_of_ours_has_a_label_in_each_language(start_bot: StartBot) -> None:
    bot = await start_bot(tools=tuple(tools_for(in_force(), SystemClock(), None, vision=lambda: True)))
    job = a_job(Report(instructions="Report."), person="ann", chat=ANN)
    firing = Firing(job=job.id, slot="now", id="f00001", chat=ANN, due=0.0, origin=CLEAN)
    of_skills = (list_skills, load_skill, load_skill_reference, unload_skill)
    tools = [*bot.made.chats.agents.parts.tools, *bot.made.jobs.tools.of(job, firing), *of_skills]

    assert len(tools) > 20
    assert [tool.name for tool in tools if not {"en", *tool.labels}.issuperset(LANGUAGES)] == []
