"""Pictures that image models put in their answers."""

import pytest

from agent_core.models.chunks import PICTURE
from tests.agent_core.models.raw_models import gemini, openai, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

DATA = "iVBORw0KGgo="
PNG: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}, "index": 0}


@pytest.mark.parametrize("client", ["own", "deepseek", "openai"])
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([{"content": "A cat:"}, {"content": "", "images": [PNG]}], f"A cat:{PICTURE}"),
        ([{"content": "A cat:", "images": [PNG]}], f"A cat:{PICTURE}"),
        ([{"content": [{"type": "text", "text": "A cat:"}, PNG]}], f"A cat:{PICTURE}"),
        ([{"content": None, "images": [PNG, PNG]}], 2 * PICTURE),
        ([{"content": "No cat.", "images": []}], "No cat."),
    ],
    ids=["OpenRouter", "in one piece", "parts", "nothing else", "none"],
)
async def test_each_is_told(client: str, pieces: list[Json], text: str) -> None:
    async with tables() as opens:
        stream = openai(*pieces)
        chat = await (opens.own(stream) if client == "own" else opens.litellm(f"{client}/m", stream))
        done = await chat.goes_on("Draw a cat.")

    assert (done.message.text, done.failure) == (text, None)


async def test_one_of_gemini_is_told() -> None:
    picture: Json = {"inlineData": {"mimeType": "image/png", "data": DATA}}
    async with tables() as opens:
        chat = await opens.litellm("gemini/gemini-3-flash", gemini({"text": "A cat:"}, picture))
        done = await chat.goes_on("Draw a cat.")

    assert (done.message.text, done.failure) == (f"A cat:{PICTURE}", None)
