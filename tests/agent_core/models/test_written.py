"""Reasoning and tool calls that a model writes as text are neither shown nor lost; words about them stay words."""

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_core.clock import new_id
from agent_core.messages import AssistantMessage, JsonObject, StopReason, ThinkingContent
from agent_core.models.answer import Answer
from agent_core.models.chunks import read_chunk
from agent_core.models.llm import ModelInfo, StreamDelta, TextDelta
from tests.agent_core.models.raw_models import openai, tables
from tests.cpu import growth
from tests.emulators.model_script import Json

TOOLS: dict[str, JsonObject] = {
    "clock": {"type": "object", "properties": {}},
    "note": {"type": "object", "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}},
}
ARGUMENTS: JsonObject = {"text": "5", "times": 2}
RAW = json.dumps(ARGUMENTS)


def read(
    *pieces: str, finish: str = "stop", tools: dict[str, JsonObject] | None = None
) -> tuple[AssistantMessage, str]:
    """Return the answer, and the text that was streamed."""
    answer = Answer(ModelInfo(id="m"), new_id, tools=TOOLS if tools is None else tools)
    streamed: list[StreamDelta] = []
    for piece in pieces:
        streamed += answer.take(read_chunk({"choices": [{"index": 0, "delta": {"content": piece}}]}))
    streamed += answer.take(read_chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    streamed += answer.rest()
    return answer.done().message, "".join(each.delta for each in streamed if isinstance(each, TextDelta))


def thoughts(message: AssistantMessage) -> str:
    return "".join(part.thinking for part in message.content if isinstance(part, ThinkingContent))


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


places = st.lists(st.integers(0, 400), max_size=12)

THINKS = [
    ("<think>\nLet me see.\n</think>\n\nIt is noon.", "Let me see.", "It is noon."),
    ("\n<think>Let me see.</think>It is noon.", "Let me see.", "It is noon."),
    ("<thinking>Let me see.</thinking>\nIt is noon.", "Let me see.", "It is noon."),
    ("[THINK]Let me see.[/THINK]It is noon.", "Let me see.", "It is noon."),
    ("◁think▷Let me see.◁/think▷It is noon.", "Let me see.", "It is noon."),
    ("<think></think>It is noon.", "", "It is noon."),
    ("<think>One.</think>\n<think>Two.</think>\nIt is noon.", "One.Two.", "It is noon."),
    ("Let me see.\n</think>\n\nIt is noon.", "Let me see.", "It is noon."),
    ("Let me see.</think>It is noon.", "Let me see.", "It is noon."),
    ("</think>\n\nIt is noon.", "", "It is noon."),
    ("<think>Is `</thinking>` a tag?</think>It is noon.", "Is `</thinking>` a tag?", "It is noon."),
    ("<think>Hm.</think>A model ends with </think> here.", "Hm.", "A model ends with </think> here."),
    ("<scratchpad>Hm.</scratchpad>It is noon.", "Hm.", "It is noon."),
    ("<longcat_think>\nHm.\n</longcat_think>\nIt is noon.", "Hm.", "It is noon."),
    ("<antml:thinking>Hm.</antml:thinking>It is noon.", "Hm.", "It is noon."),
    ("<think>Hm.</think>\n<answer>\nIt is noon.\n</answer>", "Hm.", "It is noon.\n"),
    ("<think>Hm.</think><response>It is noon.</response>", "Hm.", "It is noon."),
    ("<think>Hm.</think>Write <answer> and </answer> around it.", "Hm.", "Write <answer> and </answer> around it."),
    (
        "<|begin_of_thought|>\nHm.\n<|end_of_thought|>\n\n<|begin_of_solution|>\nIt is noon.<|end_of_solution|>",
        "Hm.",
        "It is noon.",
    ),
    (
        "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nIt is noon.[END FINAL RESPONSE]",
        "Hm.",
        "It is noon.",
    ),
    ("Here is my thought process:\nHm.\nHere is my response:\nIt is noon.", "Hm.", "It is noon."),
    ("<|assistant|>It is noon.<|user|>", "", "It is noon."),
    ("It is noon.<end_of_turn>\n", "", "It is noon."),
    (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>It is noon.",
        "Hm.",
        "It is noon.",
    ),
    ("analysisHm.assistantfinalIt is noon.", "Hm.", "It is noon."),
    ("analysis用户问时间。assistantfinal现在是中午。", "用户问时间。", "现在是中午。"),
    ("analysisHm. An assistant.assistantanalysisI see.assistantfinalNoon.", "Hm. An assistant.I see.", "Noon."),
    ("analysisHm.assistantcommentaryI look.assistantfinalIt is noon.", "Hm.I look.", "It is noon."),
    ("analysisHm.assistantcommentaryLet me look.", "Hm.", "Let me look."),
    ("assistantanalysisHm.\n\nassistantfinal\n\nIt is noon.", "Hm.", "It is noon."),
    ("assistantfinalIt is noon.", "", "It is noon."),
    ("The user asks.assistantfinalIt is noon.", "The user asks.", "It is noon."),
]


@pytest.mark.parametrize(("text", "thought", "said"), THINKS)
@given(places)
def test_reasoning_in_the_text_is_no_answer_however_it_is_cut(
    text: str, thought: str, said: str, at: list[int]
) -> None:
    message, _ = read(*cut(text, at))

    assert (thoughts(message).strip(), message.text) == (thought, said)


MARKS = [
    *("<think>", "</think>", "[THINK]", "[/THINK]", "<answer>", "</answer>", "<tool_call>", "</tool_call>", "<|end|>"),
    *("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|im_end|>", "<|START_RESPONSE|>"),
    *("analysis", "assistantfinal", "assistantanalysis", "assistantcommentary to=", "final", "assist", "a"),
    *("`", "```", "~~~", " ", "\n", "\n\n", "\t", " " * 250, "Hm.", "a b", "é", "<", '{"name": "note"}'),
]


@given(st.lists(st.sampled_from(MARKS), max_size=8).map("".join), places)
@example("<think>\nHm.</think>\nIt is noon.", [7])
@example(f"{' ' * 250}<think>Hm.</think>", [249])
def test_the_cuts_of_the_network_change_neither_the_answer_nor_the_reasoning(text: str, at: list[int]) -> None:
    message, streamed = read(*cut(text, at))
    whole, streamed_at_once = read(text)

    assert (thoughts(message), message.text) == (thoughts(whole), whole.text)
    assert [call.name for call in message.tool_calls] == [call.name for call in whole.tool_calls]
    assert streamed == streamed_at_once


PROSE = [
    "A model writes <think> and </think> around its thoughts.",
    "Use `</think>` to end it.\nThen go on.",
    "In the template:\n```\n<think>\n...\n</think>\n```\nThat is all.",
    "It ends with </think> and goes on.",
    "````md\n```\n<tool_call>\n```\n</think>\n````",
    "~~~\n</think>\n~~~",
    'Qwen writes `<tool_call>{"name": "clock"}</tool_call>`, for example.',
    'It writes <tool_call>{"name": "clock", "arguments": {}}</tool_call> in the middle of a line.',
    "<tool_call> is the tag with which Qwen begins.",
    "<answer>It is noon.</answer>",
    "A turn of Gemma's ends with <end_of_turn> and a line break.",
    "[TOOL_CALLS] is a token of Mistral's.",
    "a < b, c << d and <b>bold</b>, [1], `x`, ~~gone~~, <t",
    "1 ◁ 2 <|",
    "analysis of the data, as a final assistant",
    "analysis: it is noon",
    "final版本已上传",
    "finalReport = 3",
    'Use "assistantfinal" as mark.',
    "标记是assistantfinal，用来结束推理。",
    "Search for:\nassistantfinal\nin the log.",
    "assistantcommentary is a word.",
    "commentary to=the editor, please read.",
    "The mark assistantcommentary to=x begins a call. More words here.",
    "final",
    "commentary to come",
    "a",
    "An assistant, final answers and assistantships",
    "A server leaves out the tokens, so that `assistantfinal` is left.",
    '{"name": "Ann", "parameters": {}}',
    "  leading spaces\n\n",
    "",
]


@pytest.mark.parametrize("text", PROSE)
@given(places)
def test_words_about_tags_stay_as_they_are(text: str, at: list[int]) -> None:
    message, streamed = read(*cut(text, at))

    assert (message.text, streamed) == (text, text)
    assert message.tool_calls == ()
    assert message.stop_reason is StopReason.STOP


CALLS = [
    f'<tool_call>\n{{"name": "note", "arguments": {RAW}}}\n</tool_call>',
    f'<tool_call>{{"name": "note", "arguments": {RAW}}}',
    f'<tool_call>{{"name": "note", "arguments": {json.dumps(RAW)}}}</tool_call>',
    "<tool_call>\n<function=note>\n<parameter=text>\n5\n</parameter>\n<parameter=times>\n2\n</parameter>\n</function>\n"
    "</tool_call>",
    "<tool_call>note\n<arg_key>text</arg_key>\n<arg_value>5</arg_value>\n<arg_key>times</arg_key>\n"
    "<arg_value>2</arg_value>\n</tool_call>",
    f"<|tool_calls_section_begin|><|tool_call_begin|>functions.note:0<|tool_call_argument_begin|>{RAW}"
    "<|tool_call_end|><|tool_calls_section_end|>",
    f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>note\n```json\n{RAW}\n```<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>note<｜tool▁sep｜>{RAW}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="note">\n<｜DSML｜parameter name="text" string="true">5'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="times" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    f'[TOOL_CALLS][{{"name": "note", "arguments": {RAW}}}]',
    f"[TOOL_CALLS]note[ARGS]{RAW}",
    f"[TOOL_CALLS]note{RAW}",
    f'<|python_tag|>{{"name": "note", "parameters": {RAW}}}<|eom_id|>',
    f"<function=note>{RAW}</function>",
    '<function_calls>\n<invoke name="note">\n<parameter name="text">5</parameter>\n<parameter name="times">2'
    "</parameter>\n</invoke>\n</function_calls>",
    f"<|channel|>commentary to=functions.note <|constrain|>json<|message|>{RAW}<|call|>",
    f'<function_call>{{"name": "note", "arguments": {RAW}}}</function_call>',
    f'<functioncall> {{"name": "note", "arguments": {RAW}}} </functioncall>',
    f'<tool_calls>[{{"name": "note", "arguments": {RAW}}}]</tool_calls>',
    f'<tool_call>{{"tool": "note", "parameters": {RAW}}}</tool_call>',
    f'<tool_call>{{"tool_name": "note", "tool_input": {RAW}}}</tool_call>',
    f'<|action_start|><|plugin|>\n{{"name": "note", "parameters": {RAW}}}<|action_end|>',
    '<|python_start|>[note(text="5", times=2)]<|python_end|>',
    '<|tool_call>call:note{text:<|"|>5<|"|>,times:2}<tool_call|>',
    "<seed:tool_call>\n<function=note>\n<parameter=text>5</parameter>\n<parameter=times>2</parameter>\n</function>\n"
    "</seed:tool_call>",
    "<longcat_tool_call>note\n<longcat_arg_key>text</longcat_arg_key>\n<longcat_arg_value>5</longcat_arg_value>\n"
    "<longcat_arg_key>times</longcat_arg_key>\n<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
    '<xai:function_call name="note"><parameter name="text">5</parameter><parameter name="times">2</parameter>'
    "</xai:function_call>",
    '<invoke name="note"><parameter name="text">5</parameter><parameter name="times">2</parameter></invoke>',
    '<antml:function_calls>\n<antml:invoke name="note">\n<antml:parameter name="text">5</antml:parameter>\n'
    '<antml:parameter name="times">2</antml:parameter>\n</antml:invoke>\n</antml:function_calls>',
    f"<｜tool_calls_begin｜><｜tool_call_begin｜>note<｜tool_sep｜>{RAW}<｜tool_call_end｜><｜tool_calls_end｜>",
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="note">\n<｜DSML｜parameter name="text" string="true">5'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="times" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜tool_calls>",
    f'<|tools_prefix|>[{{"note": {RAW}}}]<|tools_suffix|>',
    f"<|start|>assistant to=functions.note<|channel|>commentary json<|message|>{RAW}<|call|>",
    f"<|channel|>analysis to=functions.note code<|message|>{RAW}<|call|>",
    f"assistantcommentary to=functions.note json{RAW}",
    f"assistantcommentary to=note {RAW}",
    f"<tool_call>\n{{'name': 'note', 'arguments': {ARGUMENTS}}}\n</tool_call>",
    '<function_calls>\nnote(text="5", times=2)\n</function_calls>',
    '<|python_tag|>note.call(text="5", times=2)<|eom_id|>',
    f'{{"name": "note", "parameters": {RAW}}}',
    f'functools[{{"name": "note", "arguments": {RAW}}}]',
    '```tool_code\nprint(default_api.note(text="5", times=2))\n```',
    f'```tool_call\n{{"name": "note", "arguments": {RAW}}}\n```',
]
WHOLE = 4
"""The last ones are calls only if they are the whole text."""


IN_CHANNELS = ["", "analysisHm.assistant", "Hm.assistant", "analysisHm.assistantcommentaryI look.assistant"]


@pytest.mark.parametrize("before", IN_CHANNELS)
@given(places)
def test_a_call_in_a_channel_without_tokens_is_a_call_and_the_reasoning_is_not_said(before: str, at: list[int]) -> None:
    message, streamed = read(*cut(f"{before}commentary to=functions.note json{RAW}", at))

    assert [(call.name, call.arguments) for call in message.tool_calls] == [("note", ARGUMENTS)]
    assert "Hm." not in message.text
    assert RAW not in streamed


@given(places)
def test_a_word_that_turns_out_to_begin_no_channel_is_said_in_the_end(at: list[int]) -> None:
    text = "analysis这个词的意思是分析。"

    message, _ = read(*cut(text, at))

    assert message.text == text


@pytest.mark.parametrize("text", CALLS)
@given(places)
def test_a_call_in_the_text_is_a_call_however_it_is_cut(text: str, at: list[int]) -> None:
    message, _ = read(*cut(text, at))

    assert [(call.name, call.arguments, call.arguments_error) for call in message.tool_calls] == [
        ("note", ARGUMENTS, None)
    ]
    assert (message.text.strip(), message.stop_reason) == ("", StopReason.TOOL_USE)


@pytest.mark.parametrize("text", CALLS[:-WHOLE])
def test_the_words_before_a_call_are_said_and_the_call_is_not(text: str) -> None:
    message, streamed = read("<think>Hm.</think>", "One moment.\n", *text)

    assert message.text.strip() == streamed.strip() == "One moment."
    assert [call.name for call in message.tool_calls] == ["note"]


def test_several_calls_in_the_text_are_all_made() -> None:
    one = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>\n'
    message, _ = read(one, one, f'<tool_call>{{"name": "note", "arguments": {RAW}}}</tool_call>')

    assert [call.name for call in message.tool_calls] == ["clock", "clock", "note"]
    assert len({call.id for call in message.tool_calls}) == 3


def test_several_calls_that_are_the_whole_text_are_all_made() -> None:
    one = f'{{"name": "note", "parameters": {RAW}}}'
    assert [call.name for call in read(f"{one}; {one}")[0].tool_calls] == ["note", "note"]
    olmo = '<function_calls>\nclock()\nnote(text="5")\n</function_calls>'
    assert [call.name for call in read(olmo)[0].tool_calls] == ["clock", "note"]


@pytest.mark.parametrize("end", ["", "</think>", "</think>\n\n"])
def test_calls_with_which_the_reasoning_ends_are_made_if_there_is_no_answer(end: str) -> None:
    message, _ = read(f'<think>Hm.\n<tool_call>{{"name": "note", "arguments": {RAW}}}</tool_call>{end}')

    assert (thoughts(message).strip(), message.text) == ("Hm.", "")
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("note", ARGUMENTS)]


@pytest.mark.parametrize("end", ["I will not do that.", "I will not do that.</think>", "</think>It is noon."])
def test_calls_amid_the_reasoning_are_only_thought(end: str) -> None:
    assert read(f'<think>Hm.\n<tool_call>{{"name": "clock", "arguments": {{}}}}</tool_call>{end}')[0].tool_calls == ()


def test_the_tag_around_an_answer_that_is_a_call_is_not_said() -> None:
    message, _ = read('<think>Hm.</think><answer><tool_call>{"name": "clock", "arguments": {}}</tool_call></answer>')

    assert (message.text, [call.name for call in message.tool_calls]) == ("", ["clock"])


def test_a_call_of_a_tool_that_is_not_there_reaches_the_model_as_one() -> None:
    message, _ = read('<tool_call>{"name": "weather", "arguments": {}}</tool_call>')

    assert [call.name for call in message.tool_calls] == ["weather"]


def test_a_broken_call_is_told_to_the_model() -> None:
    message, _ = read('<tool_call>{"name": "note", "arguments": {"text": "5</tool_call>')

    (call,) = message.tool_calls
    assert call.name == "note"
    assert "are not complete JSON" in str(call.arguments_error)


def test_without_tools_a_call_is_text() -> None:
    message, _ = read(CALLS[0], tools={})

    assert (message.text, message.tool_calls) == (CALLS[0], ())


def test_reasoning_that_never_ends_is_the_answer_if_there_is_no_other() -> None:
    assert read("<think>is how it begins.")[0].text == "<think>is how it begins."
    message, _ = read("<think>Let me see", finish="length")
    assert (thoughts(message), message.text, message.stop_reason) == ("Let me see", "", StopReason.LENGTH)


async def test_over_the_wire_people_read_only_the_answer() -> None:
    text = 'Let me see.\n</think>\n\nOne moment.\n<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    async with tables() as opens:
        letters: list[Json] = [{"content": letter} for letter in text]
        chat = await opens.own(openai(*letters))
        done = await chat.goes_on("What time is it?")

    assert done.failure is None
    assert done.message.text.strip() == "One moment."
    assert [call.name for call in done.message.tool_calls] == ["clock"]


@pytest.mark.parametrize("text", ["<", "`", "</think", "\n", "<tool_call>\n", "[TOOL_CALLS]{", "<function=a>", "~"])
def test_twice_as_much_text_takes_twice_as_long(text: str) -> None:
    grown = growth(lambda: read("a", *[text] * 4_000), lambda: read("a", *[text] * 8_000), times=2, most=2.5)
    assert grown <= 2.5


def test_an_endless_row_of_line_breaks_is_passed_on_and_not_gathered() -> None:
    answer = Answer(ModelInfo(id="m"), new_id, tools=TOOLS)
    line_break = read_chunk({"choices": [{"index": 0, "delta": {"content": "\n"}}]})

    streamed = [event for _ in range(1_000) for event in answer.take(line_break)]

    assert len(streamed) > 700
