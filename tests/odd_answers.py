"""Answers of models as servers send them that keep to no protocol, and what is meant by them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from tests.emulators.model_script import Json

NOON = "It is noon."
CLOCK: Mapping[str, Json] = {"clock": {}}


@dataclass(frozen=True)
class OddAnswer:
    """The chunks of an answer, its words, and the arguments of its call of `clock`."""

    chunks: tuple[JsonValue, ...]
    text: str = NOON
    arguments: Json | None = None


def chunk(delta: JsonValue, finish: JsonValue = None, index: JsonValue = 0, **more: JsonValue) -> Json:
    head: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [{"index": index, "delta": delta, "finish_reason": finish, **more}]}


def _words(*deltas: JsonValue) -> OddAnswer:
    return OddAnswer((*map(chunk, deltas), chunk({}, "stop")))


def _pieces(*pieces: JsonValue, arguments: Json | None = None) -> OddAnswer:
    deltas: list[Json] = [{"tool_calls": [each]} for each in pieces]
    return OddAnswer((*map(chunk, deltas), chunk({}, "tool_calls")), "", arguments or {})


def _whole(message: Json, finish: str | None = "stop", kind: str = "chat.completion") -> Json:
    choice: Json = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "x", "object": kind, "created": 1, "model": "m", "choices": [choice]}


FUNCTION: Json = {"name": "clock", "arguments": "{}"}
CALL: Json = {"index": 0, "id": "c1", "type": "function", "function": FUNCTION}
BEGINS, GOES_ON, ENDS = chunk({"content": "It is "}), chunk({"content": "noon."}), chunk({}, "stop")

ODD_ANSWERS: Mapping[str, OddAnswer] = {
    "choices that take turns": OddAnswer(
        (
            {"choices": [{"index": 0, "delta": {"content": "It is "}}, {"index": 1, "delta": {"content": "No "}}]},
            {"choices": [{"index": 1, "delta": {"content": "more."}}, {"index": 0, "delta": {"content": "noon."}}]},
            {"choices": [{"index": 1, "finish_reason": "length"}, {"index": 0, "finish_reason": "stop"}]},
        )
    ),
    "another choice that ends before the first begins": OddAnswer((chunk({}, "length", 1), BEGINS, GOES_ON, ENDS)),
    "choices as an object": OddAnswer(({"choices": {"0": {"delta": {"content": NOON}}}}, ENDS)),
    "a choice that is no list": OddAnswer(({"choices": {"index": 0, "delta": {"content": NOON}}}, ENDS)),
    "the number of a choice as text, and a huge one": OddAnswer((chunk({"content": NOON}, index="0"), ENDS)),
    "words instead of a delta": _words("It is ", ["noon."]),
    "a list of deltas": _words([{"content": "It is "}, {"content": "noon."}]),
    "words deep in the content": _words({"content": {"parts": [{"text": "It is "}]}}, {"content": {"text": "noon."}}),
    "words with annotations": _words(
        {"content": [{"type": "output_text", "text": {"value": NOON, "annotations": []}}]}
    ),
    "a refusal among the parts": _words({"content": [{"type": "refusal", "refusal": NOON}]}),
    "a list of refusals": _words({"content": None, "refusal": [{"type": "refusal", "refusal": NOON}]}),
    "words and a thought in one delta": _words(
        {"reasoning_content": "Hm. ", "content": "It is "}, {"reasoning_content": "Well.", "content": "noon."}
    ),
    "a thought after the words": _words({"content": NOON}, {"reasoning_content": "Hm."}),
    "a message beside an empty delta": OddAnswer(
        ({"choices": [{"delta": {"content": ""}, "message": {"content": NOON}, "finish_reason": "stop"}]},)
    ),
    "older text beside a role": OddAnswer(
        ({"choices": [{"delta": {"role": "assistant"}, "text": NOON, "finish_reason": "stop"}]},)
    ),
    "two ends": OddAnswer((BEGINS, GOES_ON, ENDS, chunk({}, "stop"))),
    "words after the end": OddAnswer((BEGINS, ENDS, GOES_ON)),
    "an end in an object": OddAnswer((BEGINS, GOES_ON, chunk({}, {"type": "stop"}))),
    "an end in a list": OddAnswer((BEGINS, GOES_ON, chunk({}, ["stop"]))),
    "an end within the delta": OddAnswer((BEGINS, GOES_ON, chunk({"finish_reason": "stop"}))),
    "the whole in a list of chunks": OddAnswer(([BEGINS, GOES_ON, ENDS],)),
    "a whole answer without a reason": OddAnswer((_whole({"content": NOON}, None),)),
    "a whole answer in parts": OddAnswer((_whole({"content": [{"type": "text", "text": NOON}]}),)),
    "tokens below zero and not a number": OddAnswer(
        (BEGINS, GOES_ON, {**ENDS, "usage": {"prompt_tokens": -3, "completion_tokens": float("nan")}})
    ),
    "no calls as text": _words({"content": "It is ", "tool_calls": "[]"}, {"content": "noon.", "tool_calls": "none"}),
    "calls that are nothing": _words(
        {"content": "It is ", "tool_calls": [None]}, {"content": "noon.", "tool_calls": [{}, [], {"index": 0}]}
    ),
    "a call as text": OddAnswer((chunk({"tool_calls": json.dumps([CALL])}), ENDS), "", {}),
    "a call that is no list": OddAnswer((chunk({"tool_calls": CALL}), ENDS), "", {}),
    "a call whose function comes later": _pieces({**CALL, "function": None}, {"index": 0, "function": FUNCTION}),
    "a call whose name comes after its arguments": _pieces(
        {"index": 0, "id": "c1", "function": {"arguments": '{"zone": '}},
        {"index": 0, "function": {"name": "clock", "arguments": '"UTC"}'}},
        arguments={"zone": "UTC"},
    ),
    "a call whose name comes last": _pieces(
        {"index": 0, "id": "c1", "function": {"name": None, "arguments": "{}"}},
        {"index": 0, "id": "c1", "function": {"name": "clock"}},
    ),
    "a name alone for a function": _pieces({"index": 0, "id": "c1", "function": "clock", "arguments": "{}"}),
    "a name in a list and one in an object": _pieces(
        {"index": 0, "id": "c1", "function": {"name": ["clock"], "arguments": {"zone": "UTC"}}},
        {"index": 0, "function": {"name": {"name": "clock"}}},
        arguments={"zone": "UTC"},
    ),
    "an empty list for no arguments": _pieces({**CALL, "function": {"name": "clock", "arguments": []}}),
    **{
        f"arguments {name}": _pieces(
            {**CALL, "function": {"name": "clock", "arguments": raw}}, arguments={"zone": "UTC"}
        )
        for name, raw in {
            "alone in a list": '[{"zone": "UTC"}]',
            "in the notation of Python": "{'zone': 'UTC',}",
            "with a comma too many": '{"zone": "UTC",}',
            "before a mark of the template": '{"zone": "UTC"}<|im_end|>',
            "before two tags": '{"zone": "UTC"}\n</tool_call> </s>',
        }.items()
    },
    "no arguments in the notation of Python": _pieces({**CALL, "function": {"name": "clock", "arguments": "None"}}),
    "an object in a list for the arguments": _pieces(
        {**CALL, "function": {"name": "clock", "arguments": [{"zone": "UTC"}]}}, arguments={"zone": "UTC"}
    ),
    "a name in capitals": _pieces({**CALL, "function": {"name": "Clock", "arguments": "{}"}}),
    "a name in quotes": _pieces({**CALL, "function": {"name": '"clock"', "arguments": "{}"}}),
    "a name with parentheses": _pieces({**CALL, "function": {"name": "clock()", "arguments": "{}"}}),
    "a thought that only a mark tells": _words({"content": "Hm.", "thought": True}, {"content": NOON}),
    "a thought in a field of its own": _words({"thinking": "Hm. "}, {"thinking": "Well."}, {"content": NOON}),
    "an end in capitals within": OddAnswer((BEGINS, GOES_ON, chunk({}, "endTurn"))),
    "an end with a call in capitals within": OddAnswer((chunk({"tool_calls": [CALL]}), chunk({}, "toolUse")), "", {}),
    "a custom call": _pieces({"index": 0, "id": "c1", "type": "custom", "custom": {"name": "clock", "input": "{}"}}),
    "a call with a huge number": _pieces({**CALL, "index": 2**40, "id": {"a": 1}}),
    "the older call in a list": OddAnswer(
        (chunk({"function_call": [{"name": "clock", "arguments": "{}"}]}), chunk({}, "function_call")), "", {}
    ),
}
"""Each is read as it is meant."""
