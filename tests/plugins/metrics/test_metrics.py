"""What an operator's tools see: every metric moves with what happens, and names neither people nor chats."""

import re
from pathlib import Path

import pytest
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, ScriptedLlm, calls
from agent_core.tools.tool import tool
from channels.base import ChannelError
from gateway.plugins.metrics.settings import MetricsSettings
from gateway.settings.budgets import BudgetSettings
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import load_settings
from tests.gateway.conftest import StartBot
from tests.gateway.operation import watched
from tests.gateway.test_budgets import DEAR
from tests.plugins.metrics.samples import parsed, sample
from tests.process import REPOSITORY


@tool()
async def look_up(name: str) -> str:
    """Look something up.

    Args:
        name: Its name.
    """
    if name == "nothing":
        raise ValueError("there is no such thing")
    return f"{name} is blue"


MODEL = {"model": DEAR.id}
MEMORY = {"platform": "memory"}
MOVED = {
    sample("parley_messages_accepted_total", **MEMORY): 2,
    sample("parley_messages_answered_total", **MEMORY): 2,
    sample("parley_messages_waiting"): 0,
    sample("parley_runs_total", outcome="completed"): 1,
    sample("parley_runs_total", outcome="error"): 1,
    sample("parley_run_seconds_count"): 2,
    sample("parley_model_calls_total", **MODEL, outcome="answered"): 2,
    sample("parley_model_calls_total", **MODEL, outcome="retried"): 1,
    sample("parley_model_calls_total", **MODEL, outcome="failed"): 1,
    sample("parley_tool_calls_total", tool="look_up", outcome="ok"): 1,
    sample("parley_tool_calls_total", tool="look_up", outcome="failed"): 1,
    sample("parley_tool_calls_total", tool="unknown", outcome="failed"): 1,
    sample("parley_delivery_retries_total", **MEMORY): 1,
    sample("parley_rate_limits_total", **MEMORY): 1,
    sample("parley_channel_connected", **MEMORY): 1,
    sample("parley_info", version="0", model="scripted", node=""): 1,
}
"""What the conversation leaves."""
GREW = [
    sample("parley_model_tokens_total", **MODEL, kind="input"),
    sample("parley_model_tokens_total", **MODEL, kind="output"),
    sample("parley_deliveries_total", **MEMORY, outcome="sent"),
    sample("parley_budget_used_ratio", period="month", unit="tokens"),
    sample("parley_store_bytes", file="database"),
    sample("parley_store_bytes", file="wal"),
    sample("parley_disk_free_bytes"),
    sample("parley_started_seconds"),
]


async def _metrics(client: ClientSession) -> str:
    async with client.get("/metrics") as answer:
        assert answer.status == 200
        return await answer.text()


def _documented() -> dict[str, set[str]]:
    page = (REPOSITORY / "docs" / "operate.md").read_text()
    rows = re.findall(r"^\| `(parley_\w+)` \| (.*?) \|", page, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}


async def test_every_metric_moves_in_a_conversation_and_stands_in_the_docs(
    wired_bot: StartBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHOW_AFTER", "SHOW_TOOL_AFTER"):  # progress of a slow run would meet the fault in place of the answer
        monkeypatch.setattr(f"gateway.delivery.progress_message.{name}", 3_600.0)
    bot = await wired_bot(
        Failure(kind=FailureKind.TRANSIENT),
        calls(("look_up", {"name": "sky"}), ("look_up", {"name": "nothing"}), ("conjure", {})),
        "The sky is blue.",
        Failure(kind=FailureKind.AUTH),
        tools=(look_up,),
        model=DEAR,
        budgets=BudgetSettings(all="1M tokens a month"),
    )
    bot.channel.fails("send", ChannelError("slow down", retry_after=0.01))
    async with watched(bot, tmp_path) as client:
        before = parsed(await _metrics(client))
        await bot.hears("What colour is the sky?")
        await bot.hears("And the sea?")
        text = await _metrics(client)
    after = parsed(text)

    missed = {key: after.get(key, 0.0) for key, wanted in MOVED.items() if after.get(key, 0.0) != wanted}
    assert missed == {}
    assert [key for key in GREW if not after.get(key, 0.0) > 0] == []
    assert sample("parley_runs_total", outcome="completed") not in before
    is_priced = type(bot.llm) is not ScriptedLlm  # the prices are the clients' work
    assert (after[sample("parley_model_cost_usd_total", **MODEL)] > 0) is is_priced
    families = {each.name: each for each in text_string_to_metric_families(text)}
    ours = {name: each for name, each in families.items() if name.startswith("parley_")}
    printed = {f"{name}_total" if each.type == "counter" else name: each for name, each in ours.items()}
    assert sorted(printed) == sorted(_documented())
    for name, labels in _documented().items():
        found = {label for each in printed[name].samples for label in each.labels}
        assert found <= labels, name
    assert not re.search(r"\bann\b|sky|sea", text)


async def test_while_parley_starts_there_are_no_metrics(tmp_path: Path) -> None:
    async with watched(None, tmp_path) as client, client.get("/metrics") as answer:
        assert (answer.status, await answer.text()) == (503, "starting")


@pytest.mark.parametrize(
    ("header", "status"), [("", 401), ("Bearer wrong", 401), ("the-token", 401), ("Bearer the-token", 200)]
)
async def test_metrics_ask_for_the_token_if_one_is_set(
    start_bot: StartBot, tmp_path: Path, header: str, status: int
) -> None:
    bot = await start_bot(settings={"plugin": {"metrics": MetricsSettings(token=SecretStr("the-token"))}})
    async with watched(bot, tmp_path) as client, client.get("/metrics", headers={"Authorization": header}) as answer:
        assert answer.status == status
        assert answer.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
        assert ("parley_info" in await answer.text()) is (status == 200)


@pytest.mark.parametrize(
    ("dotenv", "toml", "now"),
    [
        ("PARLEY_WEB_METRICS_TOKEN=the-token\n", "", "PARLEY_PLUGIN_METRICS_TOKEN"),
        ("", '[web]\nmetrics_token = "the-token"\n', "plugin.metrics_token"),
    ],
)
def test_the_token_still_counts_under_its_former_name_with_a_warning(
    tmp_path: Path, dotenv: str, toml: str, now: str
) -> None:
    (tmp_path / ".env").write_text(dotenv)
    (tmp_path / "parley.toml").write_text(toml)

    loaded = load_settings({"PARLEY_HOME": str(tmp_path)}, tmp_path)

    assert CurrentSettings(loaded).of(MetricsSettings).token == SecretStr("the-token")
    assert [(each.mark, each.fix) for each in loaded.warnings] == [("note", f"call it {now}")]
    assert loaded.secrets.are_in("the-token")


def test_its_present_name_wins_over_the_former_one(tmp_path: Path) -> None:
    names = {"PARLEY_PLUGIN_METRICS_TOKEN": "new-token", "PARLEY_WEB_METRICS_TOKEN": "old-token"}

    loaded = load_settings({"PARLEY_HOME": str(tmp_path), **names}, tmp_path)

    assert CurrentSettings(loaded).of(MetricsSettings).token == SecretStr("new-token")


async def test_no_web_page_reads_them_under_a_name_that_it_has_pointed_here(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot()
    async with watched(bot, tmp_path) as client, client.get("/metrics", headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403
