"""The guide of the model: a server of one's own over its wire, keys of providers, models that stand by."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from agent_core.models.llm import ModelInfo
from agent_core.models.local_servers import ASK_S, PROBE_S, is_answering
from agent_core.models.provided import ModelProvider
from agent_core.models.providers import PROVIDERS
from agent_core.models.scripted import ScriptedLlm
from gateway.connect import model_guide
from gateway.connect.steps import NO, YES, Ask, Confirm, Done, Failed, Form
from tests.emulators.model_script import Failure, says
from tests.emulators.openai import OpenAiEmulator
from tests.gateway.connect.guiding import Guided, guided

KEY = "sk-own-server-key-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[OpenAiEmulator]:
    async with OpenAiEmulator([says("Hello there.")], api_key=KEY, models=("small", "large")) as emulator:
        yield emulator


async def own_server(there: Guided, address: str, key: str, model: str) -> Form | Confirm:
    """Fill in the form about a server of one's own."""
    step = await there.fill(address, key, model)
    assert isinstance(step, Form | Confirm)
    return step


async def test_a_test_call_tells_its_time_and_price_before_anything_is_written(
    tmp_path: Path, server: OpenAiEmulator
) -> None:
    async with guided(tmp_path, "model", {}) as there:
        first = await there.next()
        assert isinstance(first, Ask)
        assert {choice.value for choice in first.choices} >= {"server", *(each.name for each in PROVIDERS)}
        await there.answer("server")
        step = await own_server(there, server.base_url, "sk-wrong-0123456789", "large")
        assert isinstance(step, Form)
        assert "refuses the key" in step.trouble
        assert [field.default for field in step.fields] == [server.base_url, "", "large"]
        assert there.env == ""

        step = await own_server(there, "", f"Bearer {KEY}", "")
        assert isinstance(step, Confirm)
        assert step.text.startswith("large answered within ")
        assert "for $0.000000: Hello there." in step.text
        assert there.env == ""

        done = await there.answer(YES)
        assert isinstance(done, Done)
        assert done.lines[0].startswith("large answered within ")
        assert "for $0.000000: Hello there." in done.lines[0]
        assert there.env == f"OPENAI_BASE_URL={server.base_url}\nPARLEY_MODEL=large\nOPENAI_API_KEY={KEY}\n"
        shown = "".join(step.model_dump_json() for step in there.steps)
        assert KEY not in shown


async def test_an_address_without_a_server_and_one_that_is_none_are_told(tmp_path: Path, unused_tcp_port: int) -> None:
    async with guided(tmp_path, "model", {}) as there:
        await there.next()
        await there.answer("server")
        for address in (f"http://127.0.0.1:{unused_tcp_port}/v1", "localhost", "http://", "http://[::"):
            step = await own_server(there, address, KEY, "large")
            assert isinstance(step, Form)
            assert step.trouble.startswith(f"Nothing answers at `{address}`.")
            assert [field.default for field in step.fields] == [address, "", "large"]
            assert "Error" not in step.trouble


async def test_a_server_that_needs_a_while_to_answer_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ASK_S > PROBE_S
    monkeypatch.setattr(model_guide, "is_answering", partial(is_answering, within_s=30.0))
    async with guided(tmp_path, "model", {}) as there:

        async def busy(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(PROBE_S + 0.1)
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(busy, "127.0.0.1", 0) as server:
            address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            await there.next()
            await there.answer("server")
            step = await own_server(there, address, KEY, "large")
        assert isinstance(step, Form)
        assert not step.trouble.startswith("Nothing answers")


async def test_a_server_that_answers_keeps_what_was_entered_before_it_did(
    tmp_path: Path, server: OpenAiEmulator, unused_tcp_port: int
) -> None:
    async with guided(tmp_path, "model", {}) as there:
        await there.next()
        await there.answer("server")
        await own_server(there, f"http://127.0.0.1:{unused_tcp_port}/v1", KEY, "large")
        await own_server(there, server.base_url, "", "")

        assert isinstance(await there.answer(YES), Done)
        assert there.env == f"OPENAI_BASE_URL={server.base_url}\nPARLEY_MODEL=large\nOPENAI_API_KEY={KEY}\n"


async def test_a_server_without_quota_is_told(tmp_path: Path) -> None:
    refusal = Failure("rate_limit", message="You exceeded your current quota, please check your plan")
    async with OpenAiEmulator([refusal]) as server, guided(tmp_path, "model", {}) as there:
        await there.next()
        await there.answer("server")
        step = await own_server(there, server.base_url, "", "test-model")
        assert isinstance(step, Form)
        assert "quota" in step.trouble
        assert there.env == ""


async def test_keys_of_others_and_no_key_are_not_taken(tmp_path: Path) -> None:
    async with guided(tmp_path, "model", {}) as there:
        await there.next()
        step = await there.answer("anthropic")
        assert isinstance(step, Form)
        key, model = step.fields
        assert key.is_secret
        assert model.default == "claude-sonnet-5"
        assert step.link == "https://console.anthropic.com/settings/keys"
        for pasted, trouble in (
            ("sk-or-v1-abc", "looks like a token or key of openrouter, and here one of anthropic is needed"),
            ("xoxb-1234-5678", "looks like a token or key of Slack"),
            ("sk-ant two parts", "A key has no spaces"),
            ("", "Nothing was entered"),
        ):
            step = await there.fill(pasted, "claude-haiku-4-5")
            assert isinstance(step, Form)
            assert trouble in step.trouble
            assert await there.guide.trouble_with(0, pasted) in (step.trouble, "")
            assert step.fields[1].default == "claude-haiku-4-5"


async def test_what_is_none_of_the_choices_is_asked_again(tmp_path: Path) -> None:
    async with guided(tmp_path, "model", {}, "zh") as there:
        await there.next()
        step = await there.answer("gpt")
        assert isinstance(step, Ask)
        assert step.trouble == "没有 `gpt` 这个选项。"


async def look_up(model: str) -> ModelInfo:
    return ModelInfo(id=model)


SPARE = ModelProvider(
    "spare", look_up, lambda: ScriptedLlm("Hello."), standby="small", about={"en": "to try", "zh": "试用"}
)


async def test_a_model_that_stands_by_takes_the_address_of_an_own_server_out(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\nPARLEY_MODEL=x\n")
    async with guided(tmp_path, "model", {}, models=(SPARE,)) as there:
        first = await there.next()
        assert isinstance(first, Ask)
        assert "to try" in [choice.label for choice in first.choices]
        assert isinstance(await there.answer("spare"), Confirm)
        assert isinstance(await there.answer(NO), Ask), "another one can be chosen"
        assert there.env == "OPENAI_BASE_URL=http://127.0.0.1:9/v1\nPARLEY_MODEL=x\n"
        await there.answer("spare")
        assert isinstance(await there.answer(YES), Done)
    assert there.env == "OPENAI_BASE_URL=\nPARLEY_MODEL=spare\n"


async def test_a_model_in_the_environment_would_win_and_is_named(tmp_path: Path) -> None:
    async with guided(tmp_path, "model", {"PARLEY_MODEL": "spare"}, models=(SPARE,)) as there:
        await there.next()
        step = await there.answer("spare")
        assert isinstance(step, Failed)
        assert "`PARLEY_MODEL` is set in the environment" in step.text
