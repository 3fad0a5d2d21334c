"""Pages to which numbers in an answer refer, as models that search the web hand them over."""

import pytest
from pydantic import JsonValue

from tests.agent_core.models.raw_models import openai, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

PAGES = ["https://a.example/x", "https://b.example"]
NOTES = "\n\n- [1] https://a.example/x\n- [2] https://b.example"
HEAD: Json = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
END: Json = {"index": 0, "delta": {}, "finish_reason": "stop"}


def cited(url: str) -> Json:
    return {"type": "url_citation", "url_citation": {"url": url, "title": "A page"}}


@pytest.mark.parametrize(
    ("piece", "beside"),
    [
        ({}, {"citations": PAGES}),
        ({}, {"search_results": [{"title": "A page", "url": each} for each in PAGES]}),
        ({"annotations": [cited(each) for each in PAGES]}, {}),
    ],
    ids=["Perplexity", "Perplexity today", "OpenRouter"],
)
async def test_their_addresses_stand_below_the_answer(piece: Json, beside: Json) -> None:
    async with tables() as opens:
        choice: Json = {"index": 0, "delta": {**piece, "content": ""}}
        stream = openai({"content": "It rains [1], it snows [2]."}, then=[{**HEAD, "choices": [choice], **beside}])
        done = await (await opens.own(stream)).goes_on("How is the weather?")

    assert (done.message.text, done.failure) == (f"It rains [1], it snows [2].{NOTES}", None)


@pytest.mark.parametrize("text", ["It rains.", "It rains ([a](https://a.example/x)) [1].", "x[1]"])
async def test_an_answer_that_has_them_or_refers_to_none_stays_as_it_is(text: str) -> None:
    pages: list[JsonValue] = [] if text == "x[1]" else [cited("https://a.example/x")]
    async with tables() as opens:
        stream = openai({"content": text}, {"content": "", "annotations": pages})
        done = await (await opens.own(stream)).goes_on("How is the weather?")

    assert done.message.text == text


@pytest.mark.parametrize(
    ("counts", "output"),
    [
        ({"prompt_tokens": 32, "completion_tokens": 1, "total_tokens": 238}, 206),
        ({"prompt_tokens": 32, "completion_tokens": 206, "total_tokens": 238}, 206),
        ({"prompt_tokens": 32, "completion_tokens": 206, "total_tokens": 0}, 206),
        ({"completion_tokens": 206, "total_tokens": 238}, 206),
    ],
    ids=["xAI and Gemini, which count thoughts in the total alone", "others", "no total", "no prompt"],
)
async def test_tokens_that_only_the_total_counts_are_paid_as_answer(counts: Json, output: int) -> None:
    async with tables() as opens:
        stream = openai({"content": "Hi."}, then=[{**HEAD, "choices": [], "usage": counts}])
        done = await (await opens.own(stream)).goes_on("Hi")

    assert done.message.usage.output == output
