"""Loading and unloading skills: what fits, what is refused and why, and what is unloaded to make room."""

from pathlib import Path

import pytest

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    TextContent,
    ToolCall,
    ToolResultMessage,
)
from agent_core.models.tokens import estimate
from agent_core.origin import CLEAN
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.skill import SkillError, SkillTrouble
from agent_core.skills.skill_state import SkillState, SkillStates
from agent_core.skills.token_budget import TokenBudget
from tests.agent_core.skills.making import RecordedSkills, body_of, write_skill
from tests.messages import user


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("alpha", "beta", "gamma"):
        write_skill(tmp_path / "skills", name, files={"reference.md": f"All of {name}.", "scripts/run-it.py": ""})
    return tmp_path / "skills"


def said(*texts: str) -> list[AgentMessage]:
    return [user(text) for text in texts]


def test_a_load_says_what_there_is_now(root: Path) -> None:  # S1-06 S1-14
    chat_skills = RecordedSkills(root).on
    chat_skills.load("beta")

    added = chat_skills.load("alpha")

    assert added.changed
    tokens = estimate(chat_skills.texts.loaded.partition("### Skill: alpha")[2])
    assert added.text.startswith("Skill 'alpha' loaded successfully (")
    assert abs(int(added.text.partition("(")[2].partition(" ")[0]) - tokens) < 10
    assert added.text.endswith("References: reference.md. Loaded: beta, alpha.")
    assert "## Instructions\nDo it." in chat_skills.texts.loaded


def test_a_second_load_changes_nothing(root: Path) -> None:  # S1-11
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha")
    before = chat_skills.on.texts.loaded

    added = chat_skills.on.load("alpha")

    assert added.text == "Skill 'alpha' is already loaded."
    assert not added.changed
    assert chat_skills.on.texts.loaded is before
    assert len(chat_skills.kept) == 1


def test_an_unknown_skill_is_refused_with_what_there_is(root: Path) -> None:  # S1-15
    with pytest.raises(SkillError) as refused:
        RecordedSkills(root).on.load("delta")
    assert refused.value.code is SkillTrouble.NOT_FOUND
    assert str(refused.value) == "there is no skill 'delta'; use one of: alpha, beta, gamma"


@pytest.mark.parametrize("name", ["../skills/alpha", "alpha/../beta", "/etc", "", ".", "alpha\0"])
def test_a_name_is_never_a_path(root: Path, name: str) -> None:  # S1-06
    with pytest.raises(SkillError) as refused:
        RecordedSkills(root).on.load(name)
    assert refused.value.code is SkillTrouble.NOT_FOUND


def test_up_to_8000_tokens_are_loaded(root: Path) -> None:  # S1-12 D-07
    write_skill(root, "most", body_of(8_000, root, "most"))
    write_skill(root, "over", body_of(8_001, root, "over"))
    chat_skills = RecordedSkills(root).on

    assert "(8000 tokens)" in chat_skills.load("most").text
    with pytest.raises(SkillError) as refused:
        chat_skills.load("over")
    assert refused.value.code is SkillTrouble.OVER_BUDGET
    assert "has 8001 tokens, 8000 at most can be loaded" in refused.value.fact
    assert list(chat_skills.names) == ["most"]


def test_nine_tenths_of_the_window_are_the_most(root: Path) -> None:  # S1-13 C-13
    write_skill(root, "thousand", body_of(1_000, root, "thousand"))
    fits, full = TokenBudget(used=8_000, window=10_000), TokenBudget(used=8_001, window=10_000)

    with pytest.raises(SkillError) as refused:
        RecordedSkills(root).on.load("thousand", budget=full)
    assert refused.value.code is SkillTrouble.NO_ROOM
    assert refused.value.fact == "there is no room for the skill thousand: it has 1000 tokens, 1 too many"
    assert RecordedSkills(root).on.load("thousand", budget=fits).changed


def test_skills_that_nobody_speaks_of_make_room(root: Path) -> None:  # S1-13 S1-22
    write_skill(root, "thousand", body_of(1_000, root, "thousand"))
    write_skill(root, "other", body_of(1_000, root, "other"))
    chat_skills = RecordedSkills(root).on
    chat_skills.load("other")
    chat_skills.load("alpha")
    chat_skills.begin_run()
    talk = said("please use ALPHA once more")

    chat_skills.load("thousand", budget=TokenBudget(used=9_000, window=10_000, messages=talk))

    assert chat_skills.names == ("alpha", "thousand")
    assert "[○] **other**" in chat_skills.texts.index  # S1-03


def test_where_that_is_not_enough_the_load_is_refused(root: Path) -> None:  # S1-13
    write_skill(root, "thousand", body_of(1_000, root, "thousand"))
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    chat_skills.begin_run()

    with pytest.raises(SkillError) as refused:
        chat_skills.load("thousand", budget=TokenBudget(used=9_500, window=10_000, messages=said("hello")))

    assert refused.value.code is SkillTrouble.NO_ROOM
    assert list(chat_skills.names) == []


def test_several_loads_of_one_answer_are_counted_together(root: Path) -> None:  # S0-36
    write_skill(root, "first", body_of(1_000, root, "first"))
    write_skill(root, "second", body_of(1_000, root, "second"))
    chat_skills = RecordedSkills(root).on
    chat_skills.load("first", budget=TokenBudget(used=7_500, window=10_000))
    with pytest.raises(SkillError):
        chat_skills.load("second", budget=TokenBudget(used=7_500 + estimate(chat_skills.texts.loaded), window=10_000))

    assert list(chat_skills.names) == ["first"]


def answer(*calls: ToolCall, text: str = "") -> AssistantMessage:
    content = (TextContent(text=text), *calls) if text else calls
    return AssistantMessage(id="a", created_at=0.0, content=content, stop_reason=StopReason.STOP, origin=CLEAN)


def result(tool: str, text: str) -> ToolResultMessage:
    content = (TextContent(text=text),)
    return ToolResultMessage(id="r", created_at=0.0, tool_call_id="c", tool_name=tool, content=content, origin=CLEAN)


def call(tool: str, **arguments: str) -> ToolCall:
    return ToolCall(id="c", name=tool, arguments={**arguments})


@pytest.mark.parametrize(
    ("last", "stays"),
    [
        (user("tell me of Alpha"), True),
        (answer(text="Alpha says so."), True),
        (answer(call("run_skill_script", skill="alpha", script="x")), True),
        (answer(call("run_command", argv="python run-it.py")), True),
        (result("run_command", "running run-it.py"), True),
        (answer(call("load_skill", name="alpha")), True),
        (result("load_skill", "Skill 'beta' loaded successfully. Loaded: alpha, beta."), False),
        (result("list_skills", "- [✓] **alpha**"), False),
        (user("hello"), False),
    ],
)
def test_a_skill_is_in_use_while_anything_touches_it(  # S1-22 C-14
    root: Path, last: AgentMessage, *, stays: bool
) -> None:
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    chat_skills.begin_run()

    assert chat_skills.unload_unused([last]) == (() if stays else ("alpha",))


def test_ten_messages_are_looked_at(root: Path) -> None:  # S1-22
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    chat_skills.begin_run()

    assert chat_skills.unload_unused(said("alpha", *"123456789")) == ()
    assert chat_skills.unload_unused(said("alpha", *"1234567890")) == ("alpha",)


def test_what_was_loaded_in_this_run_stays(root: Path) -> None:  # C-14
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")

    assert chat_skills.unload_unused(said("hello")) == ()
    chat_skills.begin_run()
    assert chat_skills.unload_unused(said("hello")) == ("alpha",)


def test_an_unload_takes_the_references_along(root: Path) -> None:  # S1-23
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    chat_skills.load("beta")
    chat_skills.load_reference("alpha", "reference.md")

    assert chat_skills.unload("alpha") == "Skill 'alpha' unloaded, with its references. Loaded: beta."
    assert chat_skills.texts.references == ""
    assert "alpha" not in chat_skills.texts.loaded
    assert "[○] **alpha**" in chat_skills.texts.index
    with pytest.raises(SkillError) as refused:
        chat_skills.unload("alpha")
    assert refused.value.code is SkillTrouble.NOT_LOADED


def test_what_a_person_has_loaded_stays(root: Path) -> None:  # D-10
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha", held=True)
    chat_skills.begin_run()

    assert chat_skills.unload_unused(said("hello")) == ()
    with pytest.raises(SkillError) as refused:
        chat_skills.unload("alpha")
    assert refused.value.code is SkillTrouble.HELD
    chat_skills.new_conversation()
    assert list(chat_skills.names) == ["alpha"]
    chat_skills.unload("alpha", by_person=True)
    assert list(chat_skills.names) == []


def test_a_person_can_hold_what_is_loaded_already(root: Path) -> None:  # D-10
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha")

    assert chat_skills.on.load("alpha", held=True).text == "Skill 'alpha' is already loaded, and stays loaded now."
    assert chat_skills.kept[-1] == SkillStates(skills=(SkillState(name="alpha", held=True),))


def test_some_skills_only_people_can_load(root: Path) -> None:  # S1-29
    write_skill(root, "deploy", head="disable-model-invocation: true")
    chat_skills = RecordedSkills(root).on

    with pytest.raises(SkillError) as refused:
        chat_skills.load("deploy")
    assert refused.value.code is SkillTrouble.DISABLED
    chat_skills.load("deploy", held=True)
    assert "[✓] **deploy**" in chat_skills.texts.index


@pytest.mark.parametrize("held", [True, False])
def test_a_skill_that_lacks_something_is_not_loaded(root: Path, *, held: bool) -> None:  # S2-13
    write_skill(root, "github", head="requires:\n  bins: [gh]")
    write_skill(root, "off", head="enabled: false")

    with pytest.raises(SkillError) as refused:
        RecordedSkills(root).on.load("github", held=held)
    assert refused.value.code is SkillTrouble.MISSING_REQUIREMENT
    assert refused.value.fact == "the skill github needs gh, which is not installed"
    with pytest.raises(SkillError) as refused:
        RecordedSkills(root).on.load("off", held=held)
    assert refused.value.code is SkillTrouble.DISABLED


def test_people_see_what_cannot_be_loaded_and_why(root: Path) -> None:  # S2-13
    write_skill(root, "github", head="requires:\n  bins: [gh]")
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha", held=True)
    chat_skills.load_reference("alpha", "reference.md")

    entries = {entry.name: entry for entry in chat_skills.entries()}

    assert list(entries) == ["alpha", "beta", "gamma", "github"]
    assert entries["github"].reason == "needs gh, which is not installed"
    assert (entries["alpha"].loaded, entries["alpha"].held) == (True, True)
    assert entries["alpha"].references == ("reference.md",)
    assert entries["alpha"].tokens == estimate(chat_skills.texts.loaded.partition("\n\n")[2]) + estimate(
        chat_skills.texts.references.partition("\n\n")[2]
    )
    assert [entry.name for entry in chat_skills.entries("does beta")] == ["beta"]


def test_a_new_conversation_keeps_only_what_is_held(root: Path) -> None:  # D-10
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha", held=True)
    chat_skills.on.load_reference("alpha", "reference.md")
    chat_skills.on.load("beta")

    chat_skills.on.new_conversation()

    assert list(chat_skills.on.names) == ["alpha"]
    assert chat_skills.on.texts.references == ""
    assert chat_skills.kept[-1] == SkillStates(skills=(SkillState(name="alpha", held=True),))


def test_what_was_loaded_is_loaded_again_after_a_restart(root: Path) -> None:
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("beta", held=True)
    chat_skills.on.load("alpha")
    chat_skills.on.load_reference("alpha", "reference.md")
    kept = SkillStates.model_validate_json(chat_skills.kept[-1].model_dump_json())

    again = RecordedSkills(root, states=kept)

    assert again.on.texts.loaded == chat_skills.on.texts.loaded
    assert again.on.texts.references == chat_skills.on.texts.references
    assert again.on.texts.index == chat_skills.on.texts.index
    assert again.on.states == kept


def test_what_is_held_waits_for_its_file(root: Path) -> None:
    kept = SkillStates(skills=(SkillState(name="gone", held=True), SkillState(name="lost"), SkillState(name="alpha")))
    chat_skills = RecordedSkills(root, states=kept)

    assert list(chat_skills.on.names) == ["alpha"]
    assert chat_skills.on.problems[0] == "gone: there is no skill 'gone'; look at the list of skills"
    write_skill(root, "gone", "Here again.")
    chat_skills.later()
    assert set(chat_skills.on.names) == {"alpha", "gone"}
    assert "Here again." in chat_skills.on.texts.loaded


def test_a_loaded_skill_says_what_its_file_says_now(root: Path) -> None:
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha")
    chat_skills.on.load_reference("alpha", "reference.md")

    write_skill(root, "alpha", "New words.", files={"reference.md": "New facts."})
    assert "New words." not in chat_skills.on.texts.loaded
    chat_skills.later()

    assert "New words." in chat_skills.on.texts.loaded
    assert "New facts." in chat_skills.on.texts.references


@pytest.mark.parametrize("change", ["gone", "broken", "large"])
def test_what_it_said_last_stays_where_its_file_cannot_be_read(root: Path, change: str) -> None:
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha")
    before = chat_skills.on.texts.loaded
    file = root / "alpha" / "SKILL.md"

    if change == "gone":
        file.unlink()
    elif change == "broken":
        file.write_text("no header")
    else:
        write_skill(root, "alpha", "x" * 40_000)
    chat_skills.later()

    assert chat_skills.on.texts.loaded == before
    assert "[✓] **alpha**" in chat_skills.on.texts.index
    assert chat_skills.on.problems[0].startswith("alpha: ")
    write_skill(root, "alpha", "Well again.")
    chat_skills.later()
    assert "Well again." in chat_skills.on.texts.loaded
    assert chat_skills.on.problems == ()


def test_what_is_switched_off_is_taken_out(root: Path) -> None:
    chat_skills = RecordedSkills(root)
    for name in ("alpha", "beta"):
        chat_skills.on.load(name, held=name == "alpha")
        write_skill(root, name, name.upper(), head="enabled: false")

    chat_skills.later()

    assert chat_skills.on.texts.loaded == RecordedSkills(root, states=chat_skills.kept[-1]).on.texts.loaded == ""
    assert chat_skills.on.problems == (
        "alpha: it is switched off in its file; it comes back with it",
        "beta: it was switched off in its file, and was taken out",
    )
    for name in ("alpha", "beta"):
        write_skill(root, name, name.upper())
    chat_skills.later()
    assert chat_skills.on.names == ("alpha",)  # D-10


def test_a_reload_reads_at_once(root: Path) -> None:
    chat_skills = RecordedSkills(root).on
    chat_skills.load("alpha")
    write_skill(root, "alpha", "New words.")

    assert chat_skills.reload("alpha").text == "Skill 'alpha' reloaded."
    assert "New words." in chat_skills.texts.loaded
    assert chat_skills.reload("beta").text.startswith("Skill 'beta' loaded successfully")


def test_looking_at_the_prompt_reads_no_file(root: Path) -> None:
    chat_skills = RecordedSkills(root)
    chat_skills.on.load("alpha")
    parts = [chat_skills.on.texts.index, chat_skills.on.texts.loaded, chat_skills.on.texts.protocol]
    for file in root.rglob("*.md"):
        file.unlink()

    chat_skills.on.refresh()

    assert [chat_skills.on.texts.index, chat_skills.on.texts.loaded, chat_skills.on.texts.protocol] == parts


def test_an_empty_shelf_takes_nothing() -> None:
    with pytest.raises(SkillError) as refused:
        ChatSkills().load("alpha")
    assert str(refused.value) == "there is no skill 'alpha'; use one of: none"
