"""Tests for model selection, with real servers on loopback and a given environment."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
from aiohttp import web

from agent_core.models import selection
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.local_servers import LocalServer, find_local_model
from agent_core.models.model_table import look_up
from agent_core.models.no_model import NoModelClient
from agent_core.models.openai_client import OpenAiClient
from agent_core.models.providers import PROVIDERS, Provider
from agent_core.models.selection import ModelChoice, ModelSettingError, choose_fallback, choose_model, make_client
from parley.testing.emulators.server import LoopbackServer
from tests.agent_core.models.clients import Talk
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator

NOBODY: Sequence[LocalServer] = ()


class Ollama(LoopbackServer):
    """A server that lists its models and reports the capabilities of each."""

    def __init__(self, models: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.models = models

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/v1/models", self._list), web.post("/api/show", self._show)]

    async def _list(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.models]})

    async def _show(self, request: web.Request) -> web.Response:
        name = json.loads(await request.read())["model"]
        return web.json_response({"capabilities": list(self.models[name])})


class Odd(LoopbackServer):
    """An unrelated server that listens on the port."""

    def __init__(self, answer: Callable[[], web.Response]) -> None:
        super().__init__()
        self._answer = answer

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/v1/models", self._models)]

    async def _models(self, _: web.Request) -> web.Response:
        return self._answer()


def port_of(server: LoopbackServer) -> int:
    return int(server.url.rpartition(":")[2])


@asynccontextmanager
async def ollama(models: Mapping[str, Sequence[str]]) -> AsyncIterator[LocalServer]:
    async with Ollama(models) as server:
        yield LocalServer("Ollama", port_of(server), tells_abilities=True)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let local servers have the time to answer that they may need on a busy machine."""
    monkeypatch.setattr(selection, "find_local_model", partial(find_local_model, within_s=30.0))


async def choose(
    setting: str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    base_url: str | None = None,
    servers: Sequence[LocalServer] = NOBODY,
) -> ModelChoice:
    return await choose_model(setting, environ or {}, base_url=base_url, local_ports=servers)


async def test_with_nothing_at_all_no_model_is_chosen_and_the_reason_is_told() -> None:
    choice = await choose()

    assert (choice.client, choice.why) == ("none", "no key and no local model was found")
    assert isinstance(make_client(choice), NoModelClient)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_a_key_in_the_environment_chooses_its_provider(provider: Provider) -> None:
    for key in provider.keys:
        choice = await choose(environ={key: " k-123 "})

        assert (choice.model.provider, choice.why) == (provider.name, f"{key} is set")
        assert choice.api_key is not None
        assert choice.api_key.get_secret_value() == "k-123"
        assert "k-123" not in repr(choice)
        assert isinstance(make_client(choice), OpenAiClient if provider.own_client else LitellmClient)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_every_default_model_is_known_with_its_price_and_calls_tools(provider: Provider) -> None:
    model = await look_up(provider.litellm_id(provider.model), provider.name)

    assert model.tools
    assert model.context_window > 100_000
    assert model.input_price
    assert model.output_price


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_a_provider_is_asked_at_another_address_if_one_is_set(provider: Provider) -> None:
    environ = {provider.keys[0]: "k-123", f"{provider.name.upper()}_API_BASE": "http://proxy.example/v1"}

    for setting in (None, f"{provider.name}/{provider.model}"):
        choice = await choose(setting, environ)
        assert (choice.base_url, choice.model.provider) == ("http://proxy.example/v1", provider.name)


async def test_servers_of_ones_own_have_names_of_their_own() -> None:
    async with OpenAiEmulator([says("Hi.")], models=["qwen3"], api_key="k-123") as big, OpenAiEmulator() as small:
        environ = {
            "BIG_BOX_API_BASE": big.base_url,
            "BIG_BOX_API_KEY": "k-123",
            "OLLAMA_API_BASE": small.base_url,
        }
        choice = await choose("big-box/qwen3", environ)
        client = make_client(choice)
        done = await Talk(client, choice.model).done()
        await client.close()
        other = await choose_fallback("ollama/test-model", environ)

        assert choice.model.id == done.message.model == "big-box/qwen3"
        assert big.requests[0].body["model"] == "qwen3"
        assert (other.model.id, other.base_url) == ("ollama/test-model", small.base_url)
        assert (other.model.input_price, other.api_key) == (0.0, None)


async def test_an_empty_key_is_no_key() -> None:
    assert (await choose(environ={"ANTHROPIC_API_KEY": " "})).client == "none"


async def test_a_setting_wins_over_keys_and_servers() -> None:
    environ = {"ANTHROPIC_API_KEY": "a", "GROQ_API_KEY": "g"}

    groq = await choose("groq/qwen/qwen3.8-27b", environ)
    assert (groq.model.id, groq.model.provider) == ("groq/qwen/qwen3.8-27b", "groq")
    assert groq.why == "the settings ask for it, and GROQ_API_KEY is set"


async def test_a_model_that_no_table_knows_gets_a_small_window_and_no_price() -> None:  # S0-32
    model = (await choose("openai/gpt-from-next-year", {"OPENAI_API_KEY": "k"})).model

    assert (model.id, model.context_window, model.input_price) == ("openai/gpt-from-next-year", 32_000, None)


@pytest.mark.parametrize(
    ("setting", "environ", "words"),
    [
        ("anthropic/claude-sonnet-5", {}, "ANTHROPIC_API_KEY"),
        ("gemini/gemini-flash-latest", {"ANTHROPIC_API_KEY": "a"}, "GEMINI_API_KEY"),
        ("antropic/claude-sonnet-5", {"ANTHROPIC_API_KEY": "a"}, "anthropic"),
        ("gpt-5.4-mini", {"OPENAI_API_KEY": "k"}, "provider/model"),
        ("openai/", {"OPENAI_API_KEY": "k"}, "provider/model"),
        ("ollama/qwen3:8b", {}, "OPENAI_BASE_URL"),
    ],
)
async def test_a_setting_that_cannot_be_obeyed_says_what_to_change(
    setting: str, environ: Mapping[str, str], words: str
) -> None:
    with pytest.raises(ModelSettingError, match=words):
        await choose(setting, environ)


async def test_a_base_url_takes_any_model_to_the_light_client() -> None:
    async with OpenAiEmulator(models=["first", "second"], context_window=16_384) as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "a"}
        unset = await choose(environ=environ)
        named = await choose("second", environ)
        unlisted = await choose("anthropic/third", environ)
        by_setting = await choose(base_url=server.base_url)

    assert (unset.client, unset.model.id, unset.model.context_window) == ("openai", "first", 16_384)
    assert (unset.base_url, unset.why) == (server.base_url, f"the settings name the server at {server.base_url}")
    assert unset.model.id == "first"
    assert (named.model.id, named.model.input_price) == ("second", 0.0), "a server on this machine costs nothing"
    assert (unlisted.client, unlisted.model.id) == ("openai", "anthropic/third")
    assert (by_setting.base_url, by_setting.api_key) == (server.base_url, None)
    assert isinstance(make_client(unset), OpenAiClient)


async def test_openais_own_address_is_no_server_of_ones_own() -> None:
    choice = await choose(environ={"OPENAI_BASE_URL": "https://api.openai.com/v1", "OPENAI_API_KEY": "k"})

    assert (choice.client, choice.base_url) == ("litellm", "https://api.openai.com/v1")


@pytest.mark.parametrize("rest", ["", "/chat/completions"])
async def test_an_address_of_azure_names_its_model(rest: str) -> None:
    base_url = f"https://me.openai.azure.com/openai/deployments/gpt-5-mini{rest}?api-version=2024-10-21"

    unset, named = await choose(base_url=base_url), await choose("the-fast-one", base_url=base_url)

    assert [(each.client, each.model.id, each.base_url) for each in (unset, named)] == [
        ("openai", "gpt-5-mini", base_url),
        ("openai", "the-fast-one", base_url),
    ]


ODD_ADDRESSES = (
    *(
        "127.0.0.1:8000",
        "localhost/v1",
        '"http://localhost/v1"',
        "htp://localhost/v1",
        "http:///v1",
        "http://h:port/v1",
    ),
    *("http://127.0.0.1:99999/v1", "http://127.0.0.1:80:80/v1", "http://<host>:8000/v1", "http://h\u200b/v1"),
    *("http://h\uff1a8080/v1", "http://[::1/v1"),
)


@pytest.mark.parametrize("base_url", ODD_ADDRESSES)
async def test_a_base_url_that_leads_nowhere_is_refused(base_url: str) -> None:
    at_provider = {"DEEPSEEK_API_KEY": "k", "DEEPSEEK_API_BASE": base_url}
    for chosen in (
        choose("x", base_url=base_url),
        choose("deepseek/x", at_provider),
        choose("box/x", {"BOX_API_BASE": base_url}),
    ):
        with pytest.raises(ModelSettingError) as refused:
            await chosen
        assert f'The base URL "{base_url}" is no address of a server' in str(refused.value)


@pytest.mark.parametrize(
    "base_url", ["HTTP://Box/V1", "http://[::1]:9/v1", "http://u:p@my_box:9", "https://b\u00fccher.example/v1"]
)
async def test_odd_base_urls_that_lead_somewhere_are_taken(base_url: str) -> None:
    environ = {"DEEPSEEK_API_KEY": "k", "DEEPSEEK_API_BASE": base_url}

    assert (await choose("deepseek/x", environ)).base_url == base_url


async def test_a_base_url_that_nobody_answers_needs_a_model_name() -> None:
    async with OpenAiEmulator() as server:
        await server.leave()
        with pytest.raises(ModelSettingError, match="is it running"):
            await choose(base_url=server.base_url)
        assert (await choose("mine", base_url=server.base_url)).model.id == "mine"


async def test_ollamas_newest_model_with_tools_is_taken() -> None:
    models = {
        "nomic-embed-text:latest": ["embedding"],
        "mystery:latest": ["embedding"],
        "gemma:2b": ["completion", "vision"],
        "qwen3:8b": ["completion", "tools", "thinking"],
        "llama3.1:8b": ["completion", "tools"],
    }
    async with ollama(models) as server:
        choice = await choose(servers=[server])

    assert choice.why == f"Ollama answers on port {server.port} with qwen3:8b"
    assert (choice.client, choice.base_url) == ("openai", f"http://127.0.0.1:{server.port}/v1")
    model = choice.model
    assert (model.tools, model.vision, model.reasoning, model.input_price) == (True, False, True, 0.0)


async def test_a_model_without_tools_is_better_than_none() -> None:
    async with ollama({"gemma:2b": ["completion"]}) as server:
        choice = await choose(servers=[server])

    assert (choice.model.id, choice.model.tools) == ("gemma:2b", False)


async def test_a_server_with_nothing_to_chat_with_is_passed_over() -> None:
    async with ollama({"bge-m3": ["embedding"], "unlabelled": ["embedding"]}) as empty, OpenAiEmulator() as other:
        choice = await choose(servers=[empty, LocalServer("vLLM", port_of(other))])

    assert choice.why == f"vLLM answers on port {port_of(other)} with test-model"


async def test_a_local_model_can_be_asked_for_by_name() -> None:
    async with ollama({"qwen3:8b": ["completion", "tools"], "gemma:2b": ["completion"]}) as server:
        choice = await choose("ollama/gemma:2b", {"ANTHROPIC_API_KEY": "a"}, servers=[server])
        with pytest.raises(ModelSettingError, match="fetch the model"):
            await choose("ollama/mistral", servers=[server])

    assert (choice.client, choice.model.id) == ("openai", "gemma:2b")
    assert choice.why == f"the settings ask for it, and Ollama answers on port {server.port} with gemma:2b"


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(text="<html>It works!</html>", content_type="text/html"),
        lambda: web.Response(text='{"data": 7}', content_type="application/json"),
        lambda: web.Response(text="[]", content_type="application/json"),
        lambda: web.json_response({"error": "who are you?"}, status=401),
        lambda: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}),
        lambda: web.json_response({"object": "list", "data": None}),
    ],
)
async def test_whatever_else_listens_there_is_no_model_server(answer: Callable[[], web.Response]) -> None:
    async with Odd(answer) as odd:
        assert (await choose(servers=[LocalServer("llama.cpp", port_of(odd))])).client == "none"


async def test_servers_that_take_long_are_asked_at_the_same_time() -> None:
    async with AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(OpenAiEmulator()) for _ in range(8)]
        gates = [each.faults.hold("models") for each in slow]
        servers = [LocalServer(f"slow {number}", port_of(each)) for number, each in enumerate(slow)]
        choosing = asyncio.create_task(choose(servers=servers))
        for each in slow:
            await each.wait_for(partial(_is_asked, each))
        for gate in gates:
            gate.set()
        choice = await choosing

    assert choice.why == f"slow 0 answers on port {servers[0].port} with test-model"


def _is_asked(server: OpenAiEmulator) -> bool:
    return server.faults.pending == 0


async def test_a_silent_server_keeps_no_other_from_being_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "find_local_model", partial(find_local_model, within_s=5.0))
    async with OpenAiEmulator() as silent, OpenAiEmulator() as quick:
        gate = silent.faults.hold("models")
        servers = [LocalServer("silent", port_of(silent)), LocalServer("quick", port_of(quick))]
        choice = await choose(servers=servers)
        gate.set()

    assert choice.why == f"quick answers on port {port_of(quick)} with test-model"


async def test_choosing_and_making_a_client_imports_no_litellm() -> None:
    code = "import agent_core.models.providers, sys; sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0
