"""A model whose server takes no pictures, though it is said to see, goes on with a line in the place of each."""

import json

import pytest

from agent_core.messages import UserMessage
from tests.agent_core.models.at_provider import PICTURE
from tests.agent_core.models.raw_models import openai, tables
from tests.messages import user

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


def refusal(message: str, status: int = 400) -> tuple[int, bytes]:
    return status, json.dumps({"error": {"message": message}}).encode()


def shown() -> UserMessage:
    asked = user("What is this?")
    return asked.model_copy(update={"content": (PICTURE, *asked.content)})


NO_PICTURES = [
    (404, "No endpoints found that support image input"),
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`"),
    (400, "'messages.1.content' must be a string"),
    (400, "Qwen/Qwen3-8B is not a multimodal model"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (400, "Model does not support images. Please use a model that does."),
    (400, "该模型不支持图片输入"),
]


@pytest.mark.parametrize(("status", "said"), NO_PICTURES, ids=[said[:30] for _, said in NO_PICTURES])
@pytest.mark.parametrize("client", ["own", "openai"])
async def test_a_server_that_takes_no_pictures_gets_a_line_instead_and_the_chat_goes_on(
    client: str, status: int, said: str
) -> None:
    answers = refusal(said, status), openai({"content": "I see none."}), openai({"content": "Still none."})
    async with tables() as opens:
        chat = await (opens.own(*answers) if client == "own" else opens.litellm(f"{client}/m", *answers))
        chat.said.append(shown())
        first, second = await chat.goes_on(), await chat.goes_on("And now?")

    assert (first.failure, second.failure) == (None, None)
    assert ["image_url" in str(body) for body in chat.server.bodies] == [True, False, False]
    assert "which this model cannot see" in str(chat.server.bodies[1])


@pytest.mark.parametrize(
    "said",
    [
        "messages.0.content.0.image.source.base64.data: image exceeds 5 MB maximum",
        "You uploaded an unsupported image. Please make sure your image has one of the following formats",
        "Could not process image",
        "Your request was rejected by our safety system: the image may contain",
        "The server had an error",
    ],
)
async def test_what_is_wrong_with_one_picture_is_told_and_others_are_sent(said: str) -> None:
    async with tables() as opens:
        chat = await opens.own(refusal(said), openai({"content": "A cat."}))
        chat.said.append(shown())
        failed, answered = await chat.goes_on(), await chat.goes_on("Again?")

    assert failed.failure is not None
    assert answered.failure is None
    assert "image_url" in str(chat.server.bodies[1])
