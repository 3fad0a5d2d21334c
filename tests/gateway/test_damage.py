"""A store that was damaged or replaced is refused; one that was only interrupted is opened."""

import asyncio
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.base import ChatKey, MessageReceived, Sender
from gateway.store import side_file as marks
from gateway.store.file_connection import PAGE
from gateway.store.opening import FILE, StoreDamaged, check_store, migrations
from gateway.store.side_file import read_mark
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import FakeClock
from tests.examples import examples
from tests.process import REPOSITORY, until

WAL = f"{FILE}-wal"
FRAME = PAGE + 24
CHAT = ChatKey(platform="memory", account="here", chat="ann")
EARLY, ALL = 60, 150
"""Number of messages in the older copy and in the newest one."""
LIVES = 3
BUSY = """
import asyncio, sys
from pathlib import Path
from agent_core.clock import SystemClock, new_id
from gateway.store.store import Store
from tests.gateway.test_damage import message

async def main():
    async with Store.open(Path(sys.argv[1]), SystemClock(), new_id) as store:
        number = int(sys.argv[2])
        while True:
            await asyncio.gather(*(store.inbox.accept(message(number + each)) for each in range(3)))
            number += 3
            print(number, flush=True)

asyncio.run(main())
"""


def message(number: int) -> MessageReceived:
    who = Sender(id="ann", name="Ann")
    text = f"message {number} " * 30
    return MessageReceived(event_id=f"e{number}", chat=CHAT, sender=who, at=1.0, text=text, message_id=f"m{number}")


def kept(home: Path) -> int:
    with closing(sqlite3.connect(home / FILE)) as connection:
        return int(connection.execute("SELECT count(*) FROM inbox").fetchone()[0])


def contents(home: Path) -> dict[str, bytes]:
    """Return the contents of the database file and its log; an empty log counts as none."""
    files = [home / FILE, home / WAL]
    return {file.name: content for file in files if file.exists() and (content := file.read_bytes())}


def copy(home: Path, target: Path) -> None:
    """Copy the files as a kill at this moment would leave them."""
    target.mkdir()
    for file in home.iterdir():
        if not file.name.endswith("-shm"):
            shutil.copy(file, target)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store with half its messages in the write-ahead log, as after a kill, and an older copy of it."""
    folder = tmp_path_factory.mktemp("stores")
    asyncio.run(_fill(folder))
    return folder / "newest", folder / "older"


async def _fill(folder: Path) -> None:
    async with Store.open(folder / "live", FakeClock(), numbered()) as store:
        for number in range(EARLY):
            await store.inbox.accept(message(number))
        with closing(sqlite3.connect(folder / "live" / FILE, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await store.inbox.accept(message(EARLY))
        copy(folder / "live", folder / "older")
        await asyncio.gather(*(store.inbox.accept(message(number)) for number in range(EARLY, ALL - 20)))
        for number in range(ALL - 20, ALL):
            await store.inbox.accept(message(number))
        sequence = await store.sequence()
        await until(lambda: (mark := read_mark(folder / "live")) is not None and mark.sequence == sequence)
        copy(folder / "live", folder / "newest")


def cut(name: str, size: Callable[[int], int]) -> Callable[[Path, Path], None]:
    def damage(home: Path, _: Path) -> None:
        file = home / name
        with file.open("r+b") as opened:
            opened.truncate(size(file.stat().st_size))

    return damage


def flip(name: str, place: Callable[[int], int], bit: int = 3) -> Callable[[Path, Path], None]:
    def damage(home: Path, _: Path) -> None:
        content = bytearray((home / name).read_bytes())
        content[place(len(content))] ^= 1 << bit
        (home / name).write_bytes(content)

    return damage


def overwrite(name: str, start: Callable[[int], int], content: bytes) -> Callable[[Path, Path], None]:
    def damage(home: Path, _: Path) -> None:
        with (home / name).open("r+b") as opened:
            opened.seek(start((home / name).stat().st_size))
            opened.write(content)

    return damage


def remove(*names: str) -> Callable[[Path, Path], None]:
    def damage(home: Path, _: Path) -> None:
        for name in names:
            (home / name).unlink()

    return damage


def put_back(*names: str, without: str = "") -> Callable[[Path, Path], None]:
    def damage(home: Path, older: Path) -> None:
        for name in names:
            shutil.copy(older / name, home)
        if without:
            (home / without).unlink()

    return damage


def another(home: Path, _: Path) -> None:
    (home / WAL).unlink()
    with closing(sqlite3.connect(home / FILE)) as connection, connection:
        connection.execute("UPDATE store SET id = 'another', sequence = 1000000")


def at_rest(damage: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    """Apply the damage to a store that was closed properly and has no log."""

    def closed_first(home: Path, older: Path) -> None:
        with closing(sqlite3.connect(home / FILE)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        damage(home, older)

    return closed_first


def middle(size: int) -> int:
    return size // 2


Damage = Callable[[Path, Path], object]

DAMAGE: dict[str, Damage] = {
    "the file is empty": cut(FILE, lambda _: 0),
    "the file is half a page": cut(FILE, lambda _: 512),
    "the file is one page": cut(FILE, lambda _: PAGE),
    "the file is a quarter": cut(FILE, lambda size: size // PAGE // 4 * PAGE),
    "the file is half": cut(FILE, lambda size: size // 2),
    "the file lacks all but its log": remove(FILE),
    "all is gone but the side file": remove(FILE, WAL),
    "the file's first bytes are flipped at rest": at_rest(flip(FILE, lambda _: 3)),
    "the file's schema is overwritten at rest": at_rest(overwrite(FILE, lambda _: 100, b"\xff" * 3000)),
    "the file lacks its last page at rest": at_rest(cut(FILE, lambda size: size - PAGE)),
    "the file is all zeros": overwrite(FILE, lambda _: 0, bytes(80 * PAGE)),
    "the file is no database": overwrite(FILE, lambda _: 0, b"no pages of a database" * 9000),
    "the log is deleted": remove(WAL),
    "the log is empty": cut(WAL, lambda _: 0),
    "the log is its header": cut(WAL, lambda _: 32),
    "the log is one frame": cut(WAL, lambda _: 32 + FRAME),
    "the log is half": cut(WAL, middle),
    "the log lacks its last byte": cut(WAL, lambda size: size - 1),
    "a bit of the log's magic is flipped": flip(WAL, lambda _: 0),
    "a bit of the log's salt is flipped": flip(WAL, lambda _: 17),
    "a bit of the log's checksum is flipped": flip(WAL, lambda _: 25),
    "a bit of the first frame's header is flipped": flip(WAL, lambda _: 32 + 1),
    "a bit of the first frame is flipped": flip(WAL, lambda _: 32 + 24 + 2000),
    "a bit in the middle of the log is flipped": flip(WAL, middle),
    "a bit of the last frame is flipped": flip(WAL, lambda size: size - 100),
    "a page in the middle of the log is zeros": overwrite(WAL, middle, bytes(PAGE)),
    "the log begins with zeros": overwrite(WAL, lambda _: 0, bytes(PAGE)),
    "an older copy is put back": put_back(FILE, WAL),
    "an older copy is put back without its log": put_back(FILE, without=WAL),
    "the older log is put back": put_back(WAL),
    "another store is put there": another,
}
HARMLESS: dict[str, Damage] = {
    "nothing": lambda *_: None,
    "a page that the log has anew is flipped": flip(FILE, lambda _: 3),
    "the side file is gone": remove(marks.FILE),
    "the side file is empty": cut(marks.FILE, lambda _: 0),
    "the side file is garbage": overwrite(marks.FILE, lambda _: 0, b"\xff\x00{"),
    "a half-written side file lies there": lambda home, _: (home / f"{marks.FILE}.new").write_text('{"st'),
    "the log's index is garbage": lambda home, _: (home / f"{FILE}-shm").write_bytes(b"\x07" * 32768),
}


@pytest.mark.parametrize("what", DAMAGE)
async def test_a_damaged_store_is_refused_and_left_as_it_is(
    copies: tuple[Path, Path], tmp_path: Path, what: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(copies[0], home)
    DAMAGE[what](home, copies[1])
    before = contents(home)

    with pytest.raises(StoreDamaged) as refused:
        async with Store.open(home, FakeClock(), numbered()):
            pass

    assert "parley restore" in refused.value.sentence
    assert "\n" not in refused.value.sentence
    assert contents(home) == before


@pytest.mark.parametrize("what", HARMLESS)
async def test_what_lost_nothing_is_no_damage(copies: tuple[Path, Path], tmp_path: Path, what: str) -> None:
    home = tmp_path / "home"
    shutil.copytree(copies[0], home)
    HARMLESS[what](home, copies[1])

    async with Store.open(home, FakeClock(), numbered()) as store:
        await store.inbox.accept(message(ALL))
    check_store(home)

    assert kept(home) == ALL + 1


@settings(max_examples=examples(40), deadline=None)
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_flipped_bit_of_the_log_loses_a_message_without_a_word(
    copies: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory, where: float, bit: int
) -> None:
    home = tmp_path_factory.mktemp("flipped") / "home"
    shutil.copytree(copies[0], home)
    flip(WAL, lambda size: int(size * where), bit)(home, copies[1])

    try:
        check_store(home)
    except StoreDamaged:
        pass
    else:
        assert kept(home) == ALL
    shutil.rmtree(home.parent)


async def test_a_kill_in_the_middle_of_writing_is_no_damage(tmp_path: Path) -> None:
    said = 0
    for life in range(LIVES):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", BUSY, str(tmp_path), str(said)),
            env={"PYTHONPATH": str(REPOSITORY)},
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        for _ in range(7 + 40 * life):
            said = int(await process.stdout.readline())
        process.kill()
        rest = await process.stdout.read()
        said = max([said, *(int(line) for line in rest.splitlines(keepends=True) if line.endswith(b"\n"))])
        await process.wait()

        check_store(tmp_path)
        assert kept(tmp_path) >= said


async def test_the_side_file_is_at_most_a_second_behind(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        for number in range(5):
            await store.inbox.accept(message(number))
        sequence = await store.sequence()
        await until(lambda: (mark := read_mark(tmp_path)) is not None and mark.sequence == sequence)
    assert marks.BEHIND < 1.0


async def test_a_side_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        (tmp_path / f"{marks.FILE}.new").mkdir()
        await store.inbox.accept(message(1))
        sequence = await store.sequence()
    mark = read_mark(tmp_path)
    assert mark is not None
    assert mark.sequence < sequence

    (tmp_path / f"{marks.FILE}.new").rmdir()
    async with Store.open(tmp_path, FakeClock(), numbered()):
        pass
    mark = read_mark(tmp_path)
    assert mark is not None
    assert mark.sequence == sequence


async def test_a_store_from_before_side_files_is_opened(tmp_path: Path) -> None:
    older = [step for step in migrations() if step.name < "0008"]
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.executescript("PRAGMA journal_mode = WAL;" + "\n".join(step.read_text() for step in older))
        connection.execute(f"PRAGMA user_version = {len(older)}")

    async with Store.open(tmp_path, FakeClock(), numbered()) as store:
        await store.inbox.accept(message(1))
    check_store(tmp_path)

    assert kept(tmp_path) == 1
    assert read_mark(tmp_path) is not None


async def test_nothing_is_written_beside_a_store_that_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_later = loop.call_later

    def noted(*arguments: object) -> asyncio.TimerHandle:
        timers.append(call_later(*arguments))  # type: ignore[arg-type]
        return timers[-1]

    started, goes_on, write = threading.Event(), threading.Event(), marks.write_mark

    def held(home: Path, mark: marks.Mark) -> None:
        started.set()
        goes_on.wait(30)
        write(home, mark)

    monkeypatch.setattr(loop, "call_later", noted)
    monkeypatch.setattr(marks, "write_mark", held)
    keeper = marks.MarkKeeper(tmp_path, marks.Mark("store", 0))
    keeper.committed(1)
    await until(started.is_set)
    keeper.committed(2)  # while the first is written

    timers.clear()
    goes_on.set()
    await keeper.close()

    mark = read_mark(tmp_path)
    assert mark is not None
    assert mark.sequence == 2
    assert [timer for timer in timers if not timer.cancelled()] == []
