"""The nodes as operators see them: the command, the doctor, and a node whose folder is not the shared one."""

import json
import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from channels.checkup import Finding
from gateway.cli import main
from gateway.cluster.node import Node, NodeInfo
from gateway.records.metric import Metric
from gateway.settings.digests import digests
from gateway.settings.settings import load_settings
from gateway.store import nodes
from gateway.store.home_marker import FILE, ForeignHome, HomeNotShared
from gateway.store.opening import NodeNameTaken, locked
from gateway.store.store import Store
from gateway.upkeep.doctor.database import look_at_database
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.gateway.bot import Bot, BotOptions
from tests.postgres import UrlOf, rows
from tests.process import SILENT

FACTS = NodeInfo(name="a", host="here", pid=4711, version="1.0", started=1_795_170_240.0)


@pytest.fixture
async def two_nodes(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Two nodes, of which one has another model, and which do not beat while the commands of a test run."""
    monkeypatch.setattr(nodes, "SILENT", 30.0)
    other = replace(FACTS, name="b", settings=json.dumps({"model": "1234abcd"}))
    async with AsyncExitStack() as life:
        for facts in (FACTS, other):
            await life.enter_async_context(Node.joined(url, facts))
        yield


def seen(findings: list[Finding], mark: str) -> list[str]:
    return [each.what for each in findings if each.mark == mark]


def use_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let commands read this home, and no setting of the environment in which the tests run."""
    for name in [each for each in os.environ if each.startswith("PARLEY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PARLEY_HOME", str(home))


@pytest.mark.usefixtures("two_nodes")
def test_the_command_lists_the_nodes_and_what_is_not_the_same_on_them(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)
    monkeypatch.setenv("PARLEY_DATABASE_URL", url)
    rows(url, "INSERT INTO chat_owners SELECT 'telegram:1:2', id, 1, now() FROM nodes WHERE name = 'a'")
    rows(url, "INSERT INTO leases SELECT 'duties', id, 1, now() FROM nodes WHERE name = 'b'")
    rows(url, "UPDATE nodes SET unreachable = 'slack,telegram' WHERE name = 'b'")

    code = main(["nodes"])

    first, one, second, two, out_of_reach, warning = capsys.readouterr().out.splitlines()
    assert first.startswith("a  1.0 on here, pid 4711, since 2026-11-20")
    assert one.endswith("chats 1  runs 0  leases: none")
    assert second.startswith("b cannot reach slack, telegram  1.0 on here")
    assert two.endswith("chats 0  runs 0  leases: duties")
    assert out_of_reach == "! b cannot reach slack, telegram; nodes that can do its work there"
    assert warning == "! model is not the same on all nodes: a / b"
    assert code == 1


def test_without_a_database_there_is_one_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_home(monkeypatch, tmp_path)

    assert main(["nodes"]) == 2
    assert "There is one node" in capsys.readouterr().err


@pytest.mark.usefixtures("two_nodes")
def test_the_doctor_looks_at_the_way_to_the_database_the_clock_the_folder_and_the_nodes(
    tmp_path: Path, url: str
) -> None:
    well = list(look_at_database(url, tmp_path))
    rows(url, "UPDATE nodes SET beat = beat - interval '1 minute', unreachable = 'slack' WHERE name = 'b'")
    late = list(look_at_database(url, tmp_path, lambda: time.time() + 300))

    assert seen(well, "problem") == []
    assert {
        "the way to the database keeps sessions, locks and news",
        "the clock agrees with that of the database",
        f"{tmp_path} will belong to the database from the first start on",
        "nodes: a, b",
    } <= {*seen(well, "ok")}
    assert seen(well, "note") == ["model is not the same on all nodes: a / b"]
    [apart] = seen(late, "problem")
    assert re.fullmatch(r"the clock of this machine is 30\d s ahead of that of the database", apart)
    assert "node b has not been heard of for 6" in seen(late, "note")[0]
    assert seen(late, "note")[1] == "node b cannot reach slack; nodes that can do its work there"


def test_the_doctor_finds_nothing_wrong_with_a_database_that_was_just_made(tmp_path: Path, bare_url_of: UrlOf) -> None:
    found = list(look_at_database(bare_url_of(tmp_path / "new"), tmp_path))

    assert seen(found, "problem") == []
    assert seen(found, "ok") == ["the way to the database keeps sessions, locks and news"]
    assert seen(found, "note") == [
        "the database can be used; it is empty or of an older Parley, and the next start makes its tables"
    ]


async def test_a_node_refuses_a_folder_that_is_not_the_one_of_the_database(tmp_path: Path, url: str) -> None:
    shared, own, foreign = (tmp_path / name for name in ("shared", "own", "foreign"))
    for folder in (shared, own, foreign):
        folder.mkdir()
    (foreign / FILE).write_text("another database")
    async with Store.open(tmp_path, FakeClock(), numbered(), url=url) as store:
        await store.home_marker.check(shared)
        await store.home_marker.check(shared)

        with pytest.raises(HomeNotShared, match="Mount the folder that the other nodes use"):
            await store.home_marker.check(own)
        with pytest.raises(ForeignHome, match="belongs to another database"):
            await store.home_marker.check(foreign)
    assert seen(list(look_at_database(url, shared)), "problem") == []
    assert seen(list(look_at_database(url, foreign)), "problem") == [f"{foreign} belongs to another database"]
    assert seen(list(look_at_database(url, own)), "problem") == [
        f"{own} is not the folder that the nodes share ({FILE} is missing in it)"
    ]


async def test_a_second_process_with_the_name_of_a_node_is_refused(tmp_path: Path) -> None:
    with locked(tmp_path / "nodes" / "a", NodeNameTaken):
        with (
            pytest.raises(NodeNameTaken, match="with the node name a already uses"),
            locked(tmp_path / "nodes" / "a", NodeNameTaken),
        ):
            pass
        with locked(tmp_path / "nodes" / "b", NodeNameTaken):
            pass
    with locked(tmp_path / "nodes" / "a", NodeNameTaken):
        pass


async def test_the_metrics_tell_of_each_node(tmp_path: Path, url: str) -> None:
    bot = Bot(tmp_path, ("Hello.",), BotOptions(database=url, settings={"database_url": SecretStr(url)}))
    await bot.start()
    await bot.channel.hears("hello")
    await bot.made.app.settled()
    async with Node.joined(url, replace(FACTS, name="b")):
        name = next(each.name for each in await bot.made.base.store.nodes.seen() if each.name != "b")
        found = {
            (metric.name, *labels): value
            for metric in await bot.made.serving.metrics.read()
            if isinstance(metric, Metric)
            for labels, value in metric.samples
        }

    assert found["parley_node_chats", name] == 1
    assert found["parley_node_chats", "b"] == found["parley_node_runs", "b"] == 0
    assert 0 <= found["parley_node_beat_seconds", "b"] < 60
    await bot.stop()


def test_digests_tell_settings_apart_without_telling_them(tmp_path: Path) -> None:
    plain = {"PARLEY_HOME": str(tmp_path), **SILENT, "TELEGRAM_BOT_TOKEN": "12345:" + "a" * 35}
    same = {**plain, "PARLEY_HOME": str(tmp_path / "b"), "PARLEY_NODE_NAME": "b", "PARLEY_WEB_PORT": "0"}
    other = {**plain, "TELEGRAM_BOT_TOKEN": "12345:" + "b" * 35}

    loaded = [load_settings(each, tmp_path) for each in (plain, same, other)]
    assert all(each.secrets for each in loaded), "what an object caches is no setting, and differs in each process"
    told, told_again, told_otherwise = map(digests, loaded)

    assert told == told_again
    assert set(json.loads(told)) >= {"model", "telegram.bot_token"}
    assert [name for name, digest in json.loads(told).items() if json.loads(told_otherwise)[name] != digest] == [
        "telegram.bot_token"
    ]
    assert "aaaaa" not in told
