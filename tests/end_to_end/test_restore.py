"""A backup is restored between conversations: nothing is sent twice, and the owner learns what was not answered."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass

import pytest
import pytest_asyncio

from gateway.store.opening import FILE
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end import forks
from tests.end_to_end.jobs import is_idle
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.emulated import STRANGERS
from tests.end_to_end.platforms.inbox import acknowledged
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, ends_with, has, shows
from tests.process import until

pytestmark = [
    where(lambda facts: facts.emulated),
    pytest.mark.timeout(120),
    pytest.mark.one_process("backups are made of a file of SQLite"),
]


def echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


async def parley(stage: Stage, *arguments: str) -> None:
    home = {"PARLEY_HOME": str(stage.program.home), "HOME": str(stage.program.home.parent)}
    done = await forks.parley(*arguments, environ=home)
    assert done.code == 0, done.err


def unsent(stage: Stage) -> int:
    with closing(sqlite3.connect(stage.program.home / FILE)) as store:
        rows = store.execute("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')")
        return int(rows.fetchone()[0])


def to_be_told(stage: Stage) -> int:
    """Return the number of messages of which the owner was not told yet."""
    with closing(sqlite3.connect(stage.program.home / FILE)) as store:
        return int(store.execute("SELECT count(*) FROM set_aside WHERE told = 0").fetchone()[0])


@dataclass(frozen=True)
class Talk:
    """An owner and another user after a restore.

    A backup was made, more messages came, the program was killed, the backup restored, and the program restarted.
    """

    ann: Person
    with_ann: Chat
    bob: Person
    with_bob: Chat


@pytest_asyncio.fixture
async def talk(own_stage: Stage) -> Talk:
    stage = own_stage
    stage.net.lift_limits()
    stage.script.respond = echo
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{stage.net.id_of(STRANGERS + 1)}")
    await stage.start()
    (ann, with_ann), (bob, with_bob) = stage.private("Ann"), stage.private("Bob")
    backup = str(stage.program.home.parent / "backup.zip")

    await with_ann.says(ann, "one")
    await with_bob.says(bob, "hello")
    await with_ann.until(shows("You said one."))
    await with_bob.until(shows("You said hello."))
    await is_idle(stage.program.home)
    await acknowledged(stage.program.home)
    await parley(stage, "backup", backup)
    await with_ann.says(ann, "two")
    await with_bob.says(bob, "three")
    await with_ann.until(shows("You said one.", "You said two."))
    await with_bob.until(shows("You said hello.", "You said three."))
    await stage.program.kill()
    await with_bob.says(bob, "four")
    await parley(stage, "restore", backup)
    restored = int(time.time())
    await until(lambda: int(time.time()) > restored)  # Telegram's dates have a resolution of one second
    await with_bob.says(bob, "five")
    stage.model.requests.clear()
    await stage.start()
    return Talk(ann, with_ann, bob, with_bob)


async def test_what_was_said_since_the_backup_is_not_answered_and_nothing_is_said_again(
    own_stage: Stage, talk: Talk
) -> None:
    await talk.with_bob.until(ends_with("You said five."))
    await talk.with_ann.says(talk.ann, "six")
    await talk.with_ann.until(has("You said six."))

    assert talk.with_bob.screen == ["You said hello.", "You said three.", "You said five."]
    assert [text for text in talk.with_ann.screen if "did not" not in text] == [
        "You said one.",
        "You said two.",
        "You said six.",
    ]
    assert len(own_stage.model.requests) == 2


async def test_what_was_said_since_the_backup_is_listed_once_to_the_owner(own_stage: Stage, talk: Talk) -> None:
    await talk.with_ann.until(lambda chat: "were not answered" in chat.screen[-1])
    told = talk.with_ann.screen[-1]
    between = ("two", "three", "four") if own_stage.platform.facts.tells_history else ("four",)
    assert [line.rpartition(": ")[2] for line in told.split("\n")[1:]] == list(between)

    await until(lambda: unsent(own_stage) == 0)
    await own_stage.program.kill()
    await own_stage.start()
    await talk.with_ann.says(talk.ann, "six")
    await talk.with_ann.until(ends_with("You said six."))

    assert to_be_told(own_stage) == 0
    assert [text for text in talk.with_ann.screen if "were not answered" in text] == [told]
