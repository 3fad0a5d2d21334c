"""Findings of the core and settings have Chinese words, also those that are added later."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agent_core.tools.tool import ToolFailed
from agent_core.tools.web.fetch import Fetcher
from channels.slack.config import SCOPES
from gateway.settings.plugin_settings import each_setting
from gateway.settings.run_time import all_names
from gateway.texts.findings import finding_in
from gateway.texts.settings_in_chinese import SETTINGS
from tests.process import REPOSITORY

FILES = [*sorted(REPOSITORY.glob("channels/*/doctor.py")), *sorted(REPOSITORY.glob("gateway/upkeep/doctor/*.py"))]
MADE_BY = {"ok", "note", "problem"}
"""Functions whose arguments are the words of a finding and of its remedy."""
FROM_ELSEWHERE = {
    "telegram: 7": "the platform's own words",
    "discord: 7": "the number of an HTTP answer",
    "slack: 7": "words of a table of errors, of which the test below has the important ones",
    "7: 7": "an MCP server's own words",
    "Python 7": "the same in both",
    "chmod 700 7": "a command",
    "chmod 600 7": "a command",
}
COMPUTED = 7
"""Stands for everything that is not written in the source."""


def sentences(file: Path) -> Iterator[str]:
    """Yield what the calls that make findings say."""
    names = {
        target.id: node.value.value
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MADE_BY:
            yield from filter(None, (words(each, names) for each in node.args))


def words(node: ast.expr, names: Mapping[str, object]) -> str:
    """Return the text of an argument; "" for one that is computed altogether."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = [
        str(each.value)
        if isinstance(each, ast.Constant)
        else str(names.get(each.value.id, COMPUTED))
        if isinstance(each, ast.FormattedValue) and isinstance(each.value, ast.Name)
        else str(COMPUTED)
        for each in node.values
    ]
    return "" if all(part == str(COMPUTED) for part in parts) else "".join(parts)


@pytest.mark.parametrize("file", FILES, ids=lambda file: "/".join(file.parts[-3:]))
def test_each_sentence_of_a_check_has_chinese_words(file: Path) -> None:
    missing = [each for each in sentences(file) if each not in FROM_ELSEWHERE and finding_in(each, "zh") == each]
    assert missing == []


def test_there_are_sentences_to_look_at() -> None:
    assert sum(1 for file in FILES for _ in sentences(file)) > 60


@pytest.mark.parametrize("scope", SCOPES)
def test_each_scope_of_slack_has_its_purpose_in_chinese(scope: str) -> None:
    said = finding_in(f"slack: the app lacks the scope {scope}, to {SCOPES[scope]}", "zh")
    assert said.startswith(f"slack：应用缺少权限 {scope}（")
    assert f"（{scope}）" not in said


def test_each_setting_is_described_in_chinese() -> None:
    """A new setting gets a line in gateway/texts/settings_in_chinese.py; those of plugins have it themselves."""
    of_plugins = {".".join(each.key): each.about.zh for each in each_setting()}
    assert SETTINGS.keys() | of_plugins.keys() == set(all_names())
    assert not SETTINGS.keys() & of_plugins.keys()
    assert all(re.search("[\u4e00-\u9fff]", words) for words in of_plugins.values())


@pytest.mark.parametrize(
    ("address", "chinese"),
    [
        ("http://127.0.0.1/x", "127.0.0.1 指向内部或特殊地址，或者端口不是 80 和 443"),
        ("ftp://example.org/x", "只能读取 http:// 和 https://，不能读取 'ftp'"),
        ("https://ann:x@example.org", "不读取带有用户名或密码的网址"),
        (f"https://example.org/{'x' * 3000}", "网址超过 2000 个字符"),
        ("http://[", "这不是网址"),
    ],
)
async def test_why_an_address_was_not_fetched_is_told_in_chinese(address: str, chinese: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        await Fetcher().download(address, 1)

    assert finding_in(failed.value.fact, "zh") == chinese
