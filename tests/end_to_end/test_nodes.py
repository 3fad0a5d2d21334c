"""Several processes of `parley run` on one database: whichever dies, freezes or ends, each message is answered once."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from gateway.errors import INTERRUPTED, REFUSED
from gateway.store.server import PostgresServer
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end import next_release
from tests.end_to_end.forks import parley
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, ends_with, shows
from tests.gateway.cluster.versions import newer_parley
from tests.postgres import UrlOf, rows
from tests.process import until

SERVES = "Chat   telegram"
pytestmark = [only("telegram"), pytest.mark.timeout(120), pytest.mark.one_process("it starts its nodes itself")]


def echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


class Three:
    """Three nodes on one platform."""

    def __init__(self, stage: Stage, url: str) -> None:
        self.stage = stage
        self.url = url
        self.programs: dict[str, Program] = {}
        for name in ("a", "b", "c"):
            program = stage.program.twin(f"{name}.txt")
            program.set("PARLEY_DATABASE_URL", url)
            program.set("PARLEY_NODE_NAME", name)
            program.set("PARLEY_WEB", "off")
            self.programs[name] = program

    async def start(self, *names: str) -> None:
        """Start nodes, and wait until they serve."""
        starting = {self.programs[name]: self.programs[name].console.count(SERVES) for name in names}
        for program in starting:
            await program.launch()

        def have_begun() -> bool:
            return all(program.console.count(SERVES) > before for program, before in starting.items())

        await until(lambda: have_begun() or not all(program.is_running for program in starting))
        assert [program.console for program in starting if not program.is_running] == []
        await self.stage.platform.listening()

    def living(self) -> set[str]:
        """Return the names of the nodes that were not taken over."""
        if rows(self.url, "SELECT to_regclass('nodes')") == [(None,)]:
            return set()
        return {str(name) for (name,) in rows(self.url, "SELECT name FROM nodes WHERE NOT fenced")}

    def of(self, text: str) -> str:
        """Return the name of the node that works on the chat in which this was said."""
        query = "SELECT name FROM nodes JOIN chat_owners ON node = id JOIN inbox USING (chat)"
        return str(rows(self.url, f"{query} WHERE payload LIKE '%{text}%'")[0][0])

    def free_lock(self, name: str) -> None:
        """End the session that holds a node's lock, as if its machine were gone."""
        query = (
            "SELECT pg_terminate_backend(pg_locks.pid) FROM pg_locks, nodes WHERE locktype = 'advisory'"
            " AND (classid::bigint << 32) | objid::bigint = hashtextextended('parley node ' || id, 0)"
        )
        rows(self.url, f"{query} AND name = '{name}'")


@pytest.fixture
async def nodes(own_stage: Stage, bare_url_of: UrlOf) -> AsyncIterator[Three]:
    three = Three(own_stage, bare_url_of(own_stage.program.home))
    async with AsyncExitStack() as stack:
        for program in three.programs.values():
            stack.push_async_callback(program.kill)
        yield three


async def test_the_database_restarts_and_a_node_is_killed_and_another_one_goes_on_with_its_run(nodes: Three) -> None:
    stage = nodes.stage
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    nodes.programs["c"].module = next_release.__name__  # side by side with two of this version
    await nodes.start("a", "b", "c")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)
    stage.script.respond = echo

    rows(nodes.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    await chat.says(ann, "are you there?")
    await until(lambda: rows(nodes.url, "SELECT count(*) FROM inbox") == [(2,)])
    assert nodes.living() == {"a", "b", "c"}
    await nodes.programs[nodes.of("hello")].kill()
    await chat.until(ends_with("You said are you there?."))
    await chat.says(ann, "still there?")

    await chat.until(ends_with("You said still there?."))
    taken = "SELECT DISTINCT application_version FROM dbos.workflow_status WHERE status = 'SUCCESS'"
    await until(lambda: rows(nodes.url, taken) == [("1",)])
    assert rows(nodes.url, "SELECT name FROM nodes WHERE version = '999.0'") == [("c",)]
    assert len(nodes.living()) == 2


async def test_an_older_node_ends_with_a_sentence_once_a_newer_parley_has_changed_the_tables(nodes: Three) -> None:
    stage, late = nodes.stage, asyncio.Event()
    stage.script.respond = lambda _: says("too late", hold=late)
    await nodes.start("a")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)
    await chat.says(ann, "are you there?")

    with newer_parley(nodes.stage.program.home):
        await PostgresServer(nodes.url).migrate()
    late.set()

    older = nodes.programs["a"]
    assert await older.ended() == REFUSED
    *_, last = older.console.splitlines()
    assert "Start the newer version" in last
    assert "level=error" not in older.console
    assert "Traceback" not in older.console
    assert nodes.living() == set()


@pytest.mark.parametrize(("told", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, INTERRUPTED)])
async def test_a_node_that_waits_for_its_database_ends_as_soon_as_it_is_told(
    nodes: Three, told: signal.Signals, code: int
) -> None:
    node = nodes.programs["a"]
    node.set("PARLEY_DATABASE_URL", "postgresql://parley@127.0.0.1:1/parley")
    await node.launch()
    await until(lambda: "Parley waits up to a minute for its database" in node.console)

    node.send(told)

    assert await node.ended() == code
    assert "Traceback" not in node.console


async def test_a_frozen_node_is_taken_over_and_begins_anew_when_it_wakes(nodes: Three) -> None:
    stage, late = nodes.stage, asyncio.Event()
    stage.script.respond = lambda _: says("too late", hold=late)
    await nodes.start("a", "b")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)
    stage.script.respond = echo

    frozen = nodes.of("hello")
    nodes.programs[frozen].freeze()
    nodes.free_lock(frozen)  # without this it would take 30 s
    await chat.until(shows("You said hello."))
    late.set()
    nodes.programs[frozen].send(signal.SIGCONT)
    await until(lambda: nodes.living() == {"a", "b"})
    await chat.says(ann, "and now?")

    await chat.until(shows("You said hello.", "You said and now?."))
    console = nodes.programs[frozen].console
    assert "begins anew" in console
    assert "destroyed" not in console
    assert "level=error" not in console
    assert "Traceback" not in console


async def test_a_node_that_loses_its_connection_or_is_taken_over_while_it_starts_begins_anew(nodes: Three) -> None:
    nodes.stage.script.respond = echo
    await PostgresServer(nodes.url).migrate()
    rows(nodes.url, "CREATE SEQUENCE tries")
    join = (
        "DECLARE try bigint := nextval(''tries''); BEGIN"
        " IF try = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
        " NEW.fenced := try = 2; RETURN NEW; END"
    )
    rows(nodes.url, f"CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS '{join}'")
    rows(nodes.url, "CREATE TRIGGER lose BEFORE INSERT ON nodes FOR EACH ROW EXECUTE FUNCTION lose()")
    await nodes.start("a")
    ann, chat = nodes.stage.private("Ann")
    await chat.says(ann, "hello")

    await chat.until(shows("You said hello."))
    assert rows(nodes.url, "SELECT count(*) FROM nodes") == [(2,)]


async def test_a_node_that_is_told_to_stop_leaves_its_run_to_another_one(nodes: Three) -> None:
    stage = nodes.stage
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    await nodes.start("a", "b")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)
    stage.script.respond = echo

    assert await nodes.programs[nodes.of("hello")].terminate() == 0
    await chat.says(ann, "still there?")

    await chat.until(lambda c: "You said still there?." in c.screen[-1])
    assert "\n".join(chat.screen).count("You said") in (1, 2)  # the second message may steer the run
    assert len(nodes.living()) == 1


async def test_a_node_that_is_taken_over_after_it_was_told_to_stop_ends(nodes: Three) -> None:
    stage, node = nodes.stage, nodes.programs["a"]
    node.set("PARLEY_DRAIN_SECONDS", "600")
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    await nodes.start("a")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await stage.asked(1)

    node.send(signal.SIGTERM)
    await until(lambda: "Finishing 1 answer" in node.console)
    rows(nodes.url, "UPDATE nodes SET fenced = TRUE")

    assert await node.ended() == 0
    assert "begins anew" not in node.console


async def test_a_chat_that_kills_every_node_is_set_aside(nodes: Three) -> None:
    stage = nodes.stage
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    await nodes.start("a", "b", "c")
    ann, chat = stage.private("Ann")
    await chat.says(ann, "poison")
    for deaths in range(1, 4):
        await stage.asked(deaths)
        killed = nodes.of("poison")
        await nodes.programs[killed].kill()
        if deaths == 3:
            break
        await nodes.start(killed)
    await chat.until(lambda c: bool(c.screen) and "Continue" in str(c.bot_messages[-1].buttons))
    stage.script.respond = echo
    await chat.says(ann, "hello")

    await chat.until(ends_with("You said hello."))


async def test_a_store_moves_from_one_process_on_a_file_to_three_nodes(nodes: Three) -> None:
    stage = nodes.stage
    stage.script.respond = echo
    await stage.platform.launch()
    await stage.platform.listening()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "hello")
    await chat.until(shows("You said hello."))
    await stage.program.terminate()

    moved = await parley("migrate", "--to", nodes.url, environ={"PARLEY_HOME": str(stage.program.home)})
    assert moved.code == 0, moved.err
    await nodes.start("a", "b", "c")
    await chat.says(ann, "still there?")

    await chat.until(shows("You said hello.", "You said still there?."))
    assert "You said hello." in stage.model.requests[-1].texts("assistant")
