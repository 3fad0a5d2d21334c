"""A skill loads although its head is not as it should be; what protects holds all the same."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.skills.header import DESCRIPTION_CHARS, BadSkill, Header, read_header, split
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from agent_core.untrusted import harmless
from tests.agent_core.skills.odd_heads import WHAT, heads
from tests.cpu import growth

HEADS = list(heads())


def read(text: str, folder: str = "reports") -> Header:
    return read_header(text.encode(), folder)


def loads(content: bytes) -> bool:
    try:
        found = read_header(content, "reports")
    except BadSkill:
        return False
    return found.name == "reports" and found.description.startswith(WHAT) and split(content)[1].endswith("Do it.")


def test_of_heads_as_people_write_them_at_least_98_of_100_load() -> None:
    loaded = sum(map(loads, HEADS))

    assert len(HEADS) > 400
    assert loaded >= 0.98 * len(HEADS)


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ("description: Use when: always", "Use when: always"),
        ("description: Use for a: b\n  and c: d\nlicense: MIT", "Use for a: b and c: d"),
        ("description: > All on one line: yes", "All on one line: yes"),
        ("description: |\n\tA tab: yes", "A tab: yes"),
        ('description: "Not closed: yes', "Not closed: yes"),
        ("description: 'It's so: yes'", "It's so: yes"),
        ("description: @ann's: yes", "@ann's: yes"),
        ("description: sound\nallowed-tools: Bash(a:*), *: [", "sound"),
        ("description:none between", "none between"),
        ("description\uff1a用中文写", "用中文写"),
        ("description:\n  When: a\n  Then: b", "When: a Then: b"),
        ("description: first: yes\ndescription: second", "first: yes"),
        ("a: b: c\ndescription: kept # a note", "kept"),
    ],
)
def test_what_is_meant_is_read(head: str, description: str) -> None:
    assert read(f"---\n{head}\n---\nDo it.").description == description


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff\ufeff---\ndescription: d\n---\nDo it.",
        "\n\n---\ndescription: d\n---\nDo it.",
        "<!-- licence: MIT\n -->\n---\ndescription: d\n---\nDo it.",
        "```yaml\n---\ndescription: d\n---\nDo it.",
        "-----\ndescription: d\n-----\nDo it.",
        "---\ndescription: d\n...\nDo it.",
        "---  \r\ndescription: d\r\n---\t\r\nDo it.",
    ],
)
def test_how_the_head_is_fenced_does_not_matter(content: str) -> None:
    assert read(content).description == "d"
    assert split(content.encode())[1] == "Do it."


@pytest.mark.parametrize(
    "content",
    [
        "# Guide\nDo it.",
        "name: a\ndescription: b\n",
        "---\nname: a\ndescription: b\n",
        "",
        "```\n# Guide\n```",
        "---\n---",
    ],
)
def test_a_file_without_a_head_is_refused_and_told_what_a_head_is(content: str) -> None:
    with pytest.raises(BadSkill, match="begin it with name"):
        read(content)


def test_it_is_told_that_a_head_was_not_sound(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "SKILL.md").write_text("---\nname: My Reports\ndescription: Use: it\n---\nDo it.")
    library = SkillLibrary([(tmp_path, Origin.OWNER)])

    assert [skill.name for skill in library.skills] == ["reports"]
    assert [str(each).partition(": ")[2] for each in library.diagnostics] == [
        "its YAML cannot be read: line 3, 'mapping values are not allowed in this context' and was read line by line; "
        "put text with : or # in quotes",
        "'My Reports' is no name for a skill, so it is called reports; "
        "use a-z, 0-9 and single hyphens, 64 characters at most",
    ]
    assert all(each.is_usable for each in library.diagnostics)


@pytest.mark.parametrize(
    "switch", ["disable-model-invocation: true", "  disable_model_invocation: 'yes'", "\tDisable-Model-Invocation: on"]
)
def test_a_switch_that_takes_a_right_away_counts_however_odd_the_rest_is(switch: str) -> None:
    found = read(f"---\ndescription: a: b\n{switch}\nx: [\n---\nDo it.")

    assert found.disable_model_invocation
    assert not read(f"---\ndescription: a: b\n{switch}\nenabled: no\n---\n").enabled


def test_a_switch_that_gives_a_right_must_be_sound() -> None:
    assert not read("---\ndescription: a: b\n  always: true\n---\n").always
    assert not read("---\ndescription: a: b\nalways: true: true\n---\n").always
    assert read("---\ndescription: a: b\nalways: true\n---\n").always


def test_nothing_is_hidden_in_what_is_read_line_by_line() -> None:
    found = read("---\nname: re\u200bports\ndescription: a: <system-reminder>b\u202e\x07\n---\n")

    assert found.name == "reports"
    assert found.description == harmless(found.description)
    assert "\u202e" not in found.description


@given(st.sampled_from(HEADS), st.binary(max_size=6), st.integers(0, 200), st.integers(0, 4))
def test_a_damaged_head_is_read_or_refused_in_one_line(head: bytes, noise: bytes, at: int, cut: int) -> None:
    content = head[:at] + noise + head[at + cut :]
    try:
        found = read_header(content, "reports")
    except BadSkill:
        return

    assert 0 < len(found.description) <= DESCRIPTION_CHARS
    assert found.description == " ".join(harmless(found.description).split())
    assert all("\n" not in each for each in found.warnings)


@pytest.mark.parametrize("piece", ["a: b: c\n", "description:\n", "<!---->", "\t- x\n", "'\"", "key: [", " \uff1a"])
def test_twice_as_much_takes_twice_as_long_at_most(piece: str) -> None:
    def read(count: int) -> None:
        with suppress(BadSkill):
            read_header(f"---\ndescription: a: b\n{piece * count}\n---\n".encode(), "reports")

    count = 14_000 // len(piece)
    assert growth(lambda: read(count), lambda: read(2 * count), times=2, most=2.5) <= 2.5
