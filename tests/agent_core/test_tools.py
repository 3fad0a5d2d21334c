"""A tool is a function with a docstring; the registry holds what the model may call."""

import pytest

from agent_core.tools.registry import ToolRegistry, UnknownTool
from agent_core.tools.tool import InvalidArguments, ToolContext, tool
from tests.agent_core.kit import echo, look


@tool(label="weather in {city}")
async def weather(city: str, days: int = 1, unit: str | None = None) -> str:
    """Tell the weather.

    Use the city's English name.
    """
    return f"{city} {days} {unit}"


def test_the_function_is_the_tool() -> None:  # S4-10, S2-25, S0-11
    assert weather.name == "weather"
    assert weather.spec.description == "Tell the weather.\n\nUse the city's English name."
    parameters = weather.spec.parameters
    assert parameters["required"] == ["city"]
    assert "title" not in str(parameters)


def test_an_empty_default_is_not_told() -> None:
    @tool()
    async def read(path: str, offset: int = 0, glob: str = "", limit: int = 200) -> str:
        """Read."""
        return path + glob * offset * limit

    assert read.spec.parameters == {
        "properties": {
            "path": {"type": "string"},
            "offset": {"type": "integer"},
            "glob": {"type": "string"},
            "limit": {"default": 200, "type": "integer"},
        },
        "required": ["path"],
        "type": "object",
    }


def test_a_parameter_called_title_stays_in_the_schema() -> None:
    @tool()
    async def book(title: str) -> str:
        """Find a book."""
        return title

    assert book.spec.parameters["properties"] == {"title": {"type": "string"}}


def test_arguments_are_coerced_and_null_counts_as_left_out() -> None:  # S4-21
    sent = {"city": "Oslo", "days": "42", "unit": None}

    arguments = weather.validate(dict(sent))

    assert arguments.model_dump() == {"city": "Oslo", "days": 42, "unit": None}
    assert sent["days"] == "42"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "city"),
        ({"city": "x", "days": "soon"}, "days"),
        ({"city": "x", "when": 1}, "when"),
        ({"city": None}, "city"),
    ],
)
def test_what_does_not_fit_is_named(sent: dict[str, int | str | None], field: str) -> None:  # S4-21, S2-30
    with pytest.raises(InvalidArguments, match=f"{field}: "):
        weather.validate(dict(sent))


def test_the_context_is_not_the_models_business() -> None:  # S4-10
    @tool()
    async def where(context: ToolContext) -> str:
        """Tell where."""
        return str(context.workspace)

    assert where.spec.parameters["properties"] == {}
    with pytest.raises(InvalidArguments):
        where.validate({"context": {}})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"city": "Oslo"}, "weather in Oslo"), ({}, "weather"), ({"city": "x" * 99}, "weather in " + "x" * 60)],
)
def test_a_call_is_described_for_people(arguments: dict[str, str], words: str) -> None:
    assert weather.describe(dict(arguments)) == words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"city": "Oslo", "day": "Monday"},
            {"zh": "Oslo 的天气", "de": "Wetter in Oslo, Monday", "fr": "météo, Monday"},
        ),
        ({"city": "Oslo"}, {"zh": "Oslo 的天气", "de": "Wetter in Oslo, today", "fr": "météo, today"}),
        ({"day": "Monday"}, {"fr": "météo, Monday"}),
    ],
    ids=["all", "with a default", "without the city"],
)
def test_a_call_is_described_in_the_languages_of_its_tool(arguments: dict[str, str], words: dict[str, str]) -> None:
    labels = {"zh": "{city} 的天气", "de": "Wetter in {city}, {day}", "fr": "météo, {day}", "it": "{}"}

    @tool(label="weather in {city}", labels=labels)
    async def forecast(city: str, day: str = "today") -> str:
        """Tell the weather."""
        return city

    assert forecast.describe_in(dict(arguments)) == words


def test_readers_may_be_run_again_and_writers_not_unless_they_say_so() -> None:  # C-03, C-04
    assert look.idempotent
    assert not echo.idempotent
    assert echo.retry == "transient"
    assert echo.execution == "sequential"
    assert echo.timeout_s == 60.0


def test_the_registry_is_sorted_and_refuses_a_name_twice() -> None:  # S2-25, S0-07
    registry = ToolRegistry([weather, look, echo])

    assert [spec.name for spec in registry.specs()] == ["echo", "look", "weather"]
    with pytest.raises(ValueError, match="two tools named echo"):
        registry.add(echo)


def test_a_tool_for_files_is_offered_once_there_is_one_and_from_then_on() -> None:
    @tool(for_files=True)
    async def count(path: str) -> str:
        """Count the lines of a file."""
        return path

    files: list[str] = []
    registry = ToolRegistry([look, count], has_files=lambda: bool(files))

    assert [spec.name for spec in registry.specs()] == ["look"]
    assert registry.get("count") is count, "a call of it is made all the same"

    files.append("poem.txt")
    assert [spec.name for spec in registry.specs()] == ["count", "look"]

    files.clear()
    assert [spec.name for spec in registry.specs()] == ["count", "look"], "the beginning of the prompt stays as it is"


@pytest.mark.parametrize("name", ["load_skill", "unload_skill", "load_skill_reference", "list_skills"])
def test_the_names_of_the_skill_system_are_taken(name: str) -> None:  # S0-16
    async def impostor() -> str:
        """Pretend."""
        return ""

    impostor.__name__ = name

    with pytest.raises(ValueError, match="belongs to the skill system"):
        ToolRegistry([tool()(impostor)])


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:  # S0-16
    with pytest.raises(UnknownTool, match="no tool 'fly'") as caught:
        ToolRegistry([look, echo]).get("fly")

    assert caught.value.advice == "use one of: echo, look"
