"""What plugins find for `parley doctor` has words in each language, which they bring themselves."""

import inspect
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.app.plugin_command import checked, told
from gateway.permissions.installed_plugins import names_of_ours
from gateway.plugin import Plugin
from gateway.settings.settings import Settings
from gateway.texts import findings
from gateway.texts.findings import add_findings, finding_in, remove_findings, wrong_with_finding
from gateway.texts.plugin_reasons import reason_in
from tests.gateway.test_findings_in_chinese import sentences
from tests.plugins.packages import Packages
from tests.plugins.test_plugins_of_others import plugin

NOT_FIT = "the places of the finding '{}' do not fit together"


def folder_of(kind: type[Plugin]) -> Path:
    return Path(inspect.getfile(kind)).parent


def found_by(kind: type[Plugin]) -> Sequence[str]:
    """Return the sentences in the plugin's folder that are findings or remedies."""
    return [said for file in sorted(folder_of(kind).rglob("*.py")) for said in sentences(file)]


def filled(text: str) -> str:
    return re.sub(r"\{\w+\}", "7", text)


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let only the core's findings be known."""
    monkeypatch.setattr(findings, "_OF_PLUGINS", {})


@pytest.mark.parametrize("kind", own_plugins(), ids=lambda kind: kind.name)
def test_a_plugin_brings_the_words_of_all_that_it_finds_and_the_core_has_none(kind: type[Plugin]) -> None:
    said = [*found_by(kind), *(filled(text["en"]) for text in kind.findings)]
    assert [each for each in said if finding_in(each, "zh") != each] == []

    add_findings(kind.name, kind.findings)

    assert [each for each in said if finding_in(each, "zh") == each] == []
    assert {filled(text["en"]) for text in kind.findings} == {*found_by(kind)}, "no text of what nothing finds"


@pytest.mark.parametrize("kind", own_plugins(), ids=lambda kind: kind.name)
def test_the_words_of_a_plugin_fit_together(kind: type[Plugin]) -> None:
    assert [wrong for text in kind.findings for wrong in wrong_with_finding(text)] == []


def test_no_finding_of_the_core_names_a_command_of_a_plugin() -> None:
    words = Path(inspect.getfile(findings)).read_text("utf-8")
    assert [name for name in names_of_ours() if re.search(rf"/{name}\b", words)] == []


def test_what_differs_stands_in_its_place_and_other_words_stay() -> None:
    texts = ({"en": "{count} of {name} (a.b) are lost", "zh": "{name}（a.b）丢失 {count} 个"},)
    add_findings("dice", texts)

    assert finding_in("3 of the dice (a.b) are lost", "zh") == "the dice（a.b）丢失 3 个"
    assert finding_in("3 of the dice (a.b) are lost", "en") == "3 of the dice (a.b) are lost"
    assert finding_in("3 of the dice (axb) are lost", "zh") == "3 of the dice (axb) are lost"

    remove_findings("dice")

    assert finding_in("3 of the dice (a.b) are lost", "zh") == "3 of the dice (a.b) are lost"


BAD = {
    "of another type": ("5", "the attribute findings should be of the type Sequence, not int"),
    "no text": ("['x']", "an item of findings should be of the type Mapping, not str"),
    "in one language": ("[{'en': 'dice lost'}]", "the text 'dice lost' is missing in zh"),
    "other places": ("[{'en': '{count} lost', 'zh': '丢失 {number}'}]", NOT_FIT.format("{count} lost")),
    "no names": ("[{'en': '{} lost', 'zh': '丢失 {}'}]", NOT_FIT.format("{} lost")),
    "one name twice": ("[{'en': '{a} lost {a}', 'zh': '丢失 {a}'}]", NOT_FIT.format("{a} lost {a}")),
    "a form": ("[{'en': '{count:d} lost', 'zh': '丢失 {count:d}'}]", NOT_FIT.format("{count:d} lost")),
    "half a place": ("[{'en': '{ lost', 'zh': '丢失'}]", NOT_FIT.format("{ lost")),
}


@pytest.mark.parametrize(("given", "why"), BAD.values(), ids=BAD)
async def test_others_are_refused_with_what_to_do_about_it(packages: Packages, given: str, why: str) -> None:
    packages.install(plugin(f"findings = {given}"))

    found = await checked(Settings(home=packages.home), "dice")

    assert found.faults == [why]
    assert reason_in(why, "zh") != why
    assert any(line.startswith(f"✗ {why} → ") for line in told(found))
    assert finding_in("7 lost", "zh") == "7 lost"
