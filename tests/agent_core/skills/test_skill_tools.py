"""The model loads skills by tools, silently, and they stay loaded for the next turn."""

from pathlib import Path

import pytest

from agent_core.events import AgentEnd
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.messages import JsonObject, ToolResultMessage, text_of
from agent_core.models.llm import FailureKind, LlmFailure
from agent_core.models.scripted import SCRIPTED_MODEL, Call, Calls, ScriptedLlm, calls
from agent_core.reasons import TerminalReason
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.layout import MOST_INDEXED
from agent_core.skills.skill import SKILL_TOOLS, SkillError, SkillTrouble
from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.skills import LOADING
from agent_core.tools.tool import tool
from tests.agent_core.kit import StartAgent, Talk, start_agent
from tests.agent_core.skills.making import RecordedSkills, body_of, write_skill


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    write_skill(root, "book-flight", "# Flights", head="tags: [travel]", files={"reference.md": "Tokyo NRT"})
    write_skill(root, "standup")
    return root


@pytest.fixture
def chat_skills(root: Path) -> ChatSkills:
    return RecordedSkills(root).on


def offered(talk: Talk) -> set[str]:
    """Names of the tools in the last request."""
    return {spec.name for spec in talk.llm.requests[-1].tools}


def results(talk: Talk) -> list[str]:
    return [text_of(said.content) for said in talk.agent.state.messages if isinstance(said, ToolResultMessage)]


async def test_a_skill_is_loaded_used_and_stays(
    starts: StartAgent, chat_skills: ChatSkills
) -> None:  # S0-24 S1-06 S1-14 C-35
    talk = starts(calls(("load_skill", {"name": "book-flight"})), "Where to?", "When?", skills=chat_skills)

    await talk.says("我想订一张去东京的机票")
    await talk.says("To Tokyo.")

    before, loaded, later = (request.system for request in talk.llm.requests)
    assert "- [○] **book-flight**" in before
    assert "# Flights" not in before
    assert "- [✓] **book-flight**" in loaded
    assert "## Instructions\n# Flights" in loaded
    assert later == loaded  # C-11
    assert results(talk)[0].startswith("Skill 'book-flight' loaded successfully (")
    assert results(talk)[0].endswith("References: reference.md. Loaded: book-flight.")


async def test_a_reference_comes_once_and_goes_into_the_prompt(
    starts: StartAgent, chat_skills: ChatSkills
) -> None:  # S1-16 S1-18 C-12
    which: JsonObject = {"skill": "book-flight", "reference": "reference.md"}
    wanted = ("load_skill_reference", which)
    talk = starts(calls(("load_skill", {"name": "book-flight"}), wanted), calls(wanted), "Narita.", skills=chat_skills)

    await talk.says("Which airport?")

    assert talk.llm.requests[-1].system.count("Tokyo NRT") == 1
    assert "Tokyo NRT" not in "".join(results(talk))
    assert results(talk)[-1] == "Reference 'reference.md' of skill 'book-flight' is already loaded."


async def test_two_skills_may_be_loaded_in_one_answer(starts: StartAgent, chat_skills: ChatSkills) -> None:  # S0-36
    talk = starts(
        calls(("load_skill", {"name": "book-flight"}), ("load_skill", {"name": "standup"})), "Done.", skills=chat_skills
    )

    await talk.says("Go.")

    assert chat_skills.names == ("book-flight", "standup")


async def test_what_is_refused_is_an_answer_and_the_run_goes_on(
    starts: StartAgent, chat_skills: ChatSkills
) -> None:  # S1-15 S1-17 S1-23
    talk = starts(
        calls(
            ("load_skill", {"name": "nothing"}),
            ("load_skill_reference", {"skill": "standup", "reference": "x.md"}),
            ("unload_skill", {"name": "standup"}),
        ),
        "I cannot.",
        skills=chat_skills,
    )

    events = await talk.says("Go.")

    assert results(talk) == [
        "Error: there is no skill 'nothing'. Next: use one of: book-flight, standup",
        "Error: the skill standup is not loaded. Next: load it with load_skill first",
        "Error: the skill standup is not loaded. Next: load it with load_skill first",
    ]
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].reason is TerminalReason.COMPLETED


async def test_a_skill_that_is_loaded_or_too_large_is_an_answer_too(
    starts: StartAgent, root: Path, chat_skills: ChatSkills
) -> None:  # S1-11 S1-12 S1-21 D-07
    write_skill(root, "most", body_of(8_000, root, "most"))
    write_skill(root, "over", body_of(8_001, root, "over"))
    chat_skills.refresh(now=True)
    wanted = [calls(("load_skill", {"name": name})) for name in ("standup", "standup", "most", "over")]
    elsewhere = calls(("load_skill_reference", {"skill": "standup", "reference": "../book-flight/reference.md"}))
    talk = starts(*wanted, elsewhere, "Done.", skills=chat_skills)

    await talk.says("Go.")

    _, again, most, over, reference = results(talk)
    assert again == "Skill 'standup' is already loaded."
    assert "(8000 tokens)" in most
    assert "has 8001 tokens, 8000 at most can be loaded" in over
    assert reference.startswith("Error: ")
    assert chat_skills.names == ("standup", "most")
    assert "Tokyo NRT" not in talk.llm.requests[-1].system


async def test_what_nobody_speaks_of_any_more_leaves_for_what_is_wanted(
    starts: StartAgent, root: Path, chat_skills: ChatSkills
) -> None:  # S1-13 S1-22 C-14
    for name in ("tea", "coffee", "cocoa", "juice"):
        write_skill(root, name, "Sip " * 7_600)
    chat_skills.refresh(now=True)
    first = Calls(tuple(Call("load_skill", {"name": name}) for name in ("tea", "coffee", "cocoa")))
    talk = starts(first, *["Yes."] * 6, calls(("load_skill", {"name": "juice"})), "Done.", skills=chat_skills)

    await talk.says("Something hot.")
    for _ in range(4):
        await talk.says("Is it raining?")
    await talk.says("And the coffee?")
    await talk.says("Something cold.")

    assert chat_skills.names == ("coffee", "juice")
    assert "- [○] **tea**" in talk.llm.requests[-1].system


async def test_an_unload_is_seen_in_the_next_request(starts: StartAgent, chat_skills: ChatSkills) -> None:  # S1-23
    talk = starts(
        calls(("load_skill", {"name": "standup"})),
        calls(("unload_skill", {"name": "standup"})),
        "Done.",
        skills=chat_skills,
    )

    await talk.says("Go.")

    assert "## Loaded Skill Instructions" in talk.llm.requests[1].system
    assert "## Loaded Skill Instructions" not in talk.llm.requests[2].system


async def test_skills_can_be_listed_and_searched(starts: StartAgent, chat_skills: ChatSkills) -> None:  # S1-05
    talk = starts(
        calls(("load_skill", {"name": "standup"})),
        calls(("list_skills", {})),
        calls(("list_skills", {"search": "Travel"})),
        calls(("list_skills", {"search": "nothing"})),
        "Done.",
        skills=chat_skills,
    )

    await talk.says("Go.")

    assert results(talk)[1:] == [
        "- [○] **book-flight**: Does book-flight.\n- [✓] **standup**: Does standup.",
        "- [○] **book-flight**: Does book-flight.",
        "(no skill fits)",
    ]


async def test_a_run_counts_what_it_has_loaded(
    starts: StartAgent, root: Path, chat_skills: ChatSkills
) -> None:  # S1-13 S0-36 C-13
    for name in ("one", "two", "three", "four"):
        write_skill(root, name, body_of(7_900, root, name))
    chat_skills.refresh(now=True)
    every = Calls(tuple(Call("load_skill", {"name": name}) for name in ("one", "two", "three", "four")))
    talk = starts(every, "Done.", skills=chat_skills)

    await talk.says("Load all.")

    loaded = len(chat_skills.names)
    assert 0 < loaded < 4
    assert [text.startswith("Error: there is no room") for text in results(talk)] == [False] * loaded + [True] * (
        4 - loaded
    )


async def test_the_window_is_that_of_the_model_that_stands_in(
    starts: StartAgent, root: Path, chat_skills: ChatSkills
) -> None:  # S1-13
    write_skill(root, "long", body_of(5_000, root, "long"))
    small = Candidate(SCRIPTED_MODEL.model_copy(update={"id": "small", "context_window": 5_000}), ScriptedLlm())
    chain = ModelChain([small])
    talk = starts(skills=chat_skills, chain=chain)
    chain.gave_up(SCRIPTED_MODEL, LlmFailure(kind=FailureKind.QUOTA, message="no money"))
    chat_skills.refresh(now=True)

    with pytest.raises(SkillError) as refused:
        talk.agent.load_skill("long")
    assert refused.value.code is SkillTrouble.NO_ROOM

    chain.answered(SCRIPTED_MODEL)
    assert "loaded successfully" in talk.agent.load_skill("long")


def test_a_tool_that_is_not_the_skill_system_s_cannot_have_its_names(chat_skills: ChatSkills) -> None:  # S0-16
    @tool()
    async def load_skill(name: str) -> str:
        """Not this one."""
        return name

    with pytest.raises(ValueError, match="belongs to the skill system"):
        start_agent(tools=[load_skill])
    registry = ToolRegistry((), others=lambda: [load_skill], skills=LOADING, has_skills=chat_skills.has_any)
    assert registry.get("load_skill") is not load_skill
    assert [spec.description for spec in registry.specs() if spec.name == "load_skill"] != ["Not this one."]


async def test_without_skills_there_are_no_tools_for_them(starts: StartAgent) -> None:  # S0-12
    talk = starts(calls(("load_skill", {"name": "standup"})), "Done.")

    await talk.says("Go.")

    assert talk.llm.requests[0].tools == ()
    assert "there is no tool 'load_skill'" in results(talk)[0]


async def test_they_are_offered_with_the_others_and_only_read(
    starts: StartAgent, chat_skills: ChatSkills
) -> None:  # S0-12
    @tool()
    async def zebra() -> str:
        """Look at one."""
        return "stripes"

    talk = starts("Hello.", tools=[zebra], skills=chat_skills)

    await talk.says("Hi.")

    names = [spec.name for spec in talk.llm.requests[0].tools]
    assert names == ["zebra", "load_skill"]
    for name in SKILL_TOOLS:
        one = talk.agent.context.tools.get(name)
        assert (one.acts, one.idempotent) == ("read", True)
        assert one.describe({"name": "standup", "skill": "standup", "reference": "a.md"}) != name


async def test_new_tools_do_not_take_the_skills_away(starts: StartAgent, chat_skills: ChatSkills) -> None:  # S4-41 D-02
    talk = starts("Hello.", skills=chat_skills)

    talk.agent.set_tools([])
    await talk.says("Hi.")

    assert offered(talk) == {"load_skill"}


async def test_skill_tools_are_offered_while_a_skill_has_a_use_for_them(
    starts: StartAgent, root: Path
) -> None:  # S0-12
    @tool()
    async def run_skill_script(skill: str) -> str:
        """Run a script of a loaded skill."""
        return skill

    write_skill(root, "chart", files={"scripts/chart.py": "print()"})
    chat_skills = RecordedSkills(root).on
    talk = starts(*["Hello."] * 5, tools=[run_skill_script], skills=chat_skills)

    await talk.says("Hi.")
    assert offered(talk) == {"load_skill"}
    chat_skills.load("standup")
    await talk.says("Hi.")
    assert offered(talk) == {"load_skill", "unload_skill"}
    chat_skills.load("chart")
    await talk.says("Hi.")
    assert offered(talk) == {"load_skill", "unload_skill", "run_skill_script"}
    chat_skills.load("book-flight")
    await talk.says("Hi.")
    assert offered(talk) == {"unload_skill", "load_skill_reference", "run_skill_script"}
    for name in chat_skills.names:
        chat_skills.unload(name)
        chat_skills.load(name, held=True)
    await talk.says("Hi.")
    assert offered(talk) == {"load_skill_reference", "run_skill_script"}


async def test_skills_are_listed_by_a_tool_once_the_prompt_does_not_list_them_all(
    starts: StartAgent, root: Path
) -> None:  # S0-12
    for number in range(MOST_INDEXED - 1):
        write_skill(root, f"skill-{number}")
    talk = starts("Hello.", skills=RecordedSkills(root).on)

    await talk.says("Hi.")

    assert offered(talk) == {"list_skills", "load_skill"}


async def test_a_program_can_load_and_unload_too(starts: StartAgent, chat_skills: ChatSkills) -> None:  # D-09 D-10
    talk = starts("Hello.", skills=chat_skills)

    assert [skill.name for skill in talk.agent.discover_skills()] == ["book-flight", "standup"]
    talk.agent.load_skill("standup")
    with pytest.raises(SkillError):
        chat_skills.unload("standup")
    talk.agent.unload_skill("standup")
    assert chat_skills.names == ()


async def test_a_changed_file_is_seen_in_the_next_turn(starts: StartAgent, root: Path) -> None:  # D-02
    chat_skills = RecordedSkills(root)
    talk = starts(calls(("load_skill", {"name": "standup"})), "Done.", "Again.", skills=chat_skills.on)
    await talk.says("Go.")

    write_skill(root, "standup", "New words.")
    chat_skills.ticks.now += 3
    await talk.says("And now?")

    assert "New words." in talk.llm.requests[-1].system


async def test_what_skills_take_up_is_counted_by_itself(starts: StartAgent, chat_skills: ChatSkills) -> None:  # S1-26
    talk = starts("Hello.", skills=chat_skills)
    state, count = talk.agent.state, talk.agent.context.stats
    before = count(state, 32_000).buckets
    chat_skills.load("book-flight")
    chat_skills.load_reference("book-flight", "reference.md")
    loaded = count(state, 32_000).buckets

    assert before.skill_index > 0
    assert (before.loaded_skills, before.references) == (0, 0)
    assert loaded.loaded_skills > 0
    assert loaded.references > 0
    chat_skills.unload("book-flight")
    assert count(state, 32_000).buckets == before  # S1-23


def test_nobody_calls_what_is_not_there() -> None:  # S0-16
    with pytest.raises(UnknownTool):
        ToolRegistry().get("load_skill")
