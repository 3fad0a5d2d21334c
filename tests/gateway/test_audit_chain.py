"""The audit files are chained: nobody without the key changes them unseen, and what a kill cut off is only a gap."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.records.audit_actions import last_actions
from gateway.records.audit_chain import HEADS, KEY, Chain
from gateway.records.audit_check import Verdict, check
from tests.examples import examples

DAY = "2026-11-22"
NEXT = "2026-11-23"
AT = f"{DAY}T09:00:00.000Z"


def recorded(home: Path, *words: str, day: str = DAY, stops: bool = True) -> Chain:
    """Record an entry for each word, and stop cleanly unless told otherwise."""
    chain = Chain(home)
    for word in words:
        chain.append(day, AT, [(AT, "ok", {"person": f"memory:{word}", "tool": "look", "result": f"{word} 东京"})])
    if stops:
        chain.close()
    return chain


def checked(home: Path, today: str = NEXT) -> Verdict:
    return check(home, today, is_running=False)


def test_what_was_written_is_found_unchanged(tmp_path: Path) -> None:
    recorded(tmp_path, "ann", "bob")
    recorded(tmp_path, "carl", day=NEXT)

    assert checked(tmp_path) == Verdict(days=2, entries=3)
    for name in (KEY, HEADS):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_no_byte_can_be_changed_added_or_removed(tmp_path: Path, data: st.DataObject) -> None:
    file = tmp_path / "audit" / f"{DAY}.jsonl"
    if not file.exists():
        recorded(tmp_path, "ann", "bob", "carl")
    whole = file.read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start, min(len(whole), start + 400)))
    altered = whole[:start] + data.draw(st.binary(max_size=3)) + whole[end:]
    if altered.split(b"\n")[:3] == whole.split(b"\n")[:3]:
        return  # only something after the last entry differs
    file.write_bytes(altered)
    try:
        assert checked(tmp_path).faults or checked(tmp_path).gaps
        if len(altered.splitlines()) <= len(whole.splitlines()):
            assert checked(tmp_path).faults
    finally:
        file.write_bytes(whole)


Change = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[1:],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: lines[:-1],
        lambda lines: [],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [lines[0], *lines],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [lines[0].replace(b"ann", b"bob"), *lines[1:]],
        lambda lines: [*lines[:-1], b'{"at": "x", "status": "ok", "erased": "1", "digest": "2", "code": "3"}'],
    ],
    ids=["first", "middle", "last", "all", "order", "twice", "again", "edited", "erased"],
)
def test_entries_cannot_be_removed_moved_repeated_or_edited(tmp_path: Path, change: Change) -> None:
    recorded(tmp_path, "ann", "bob", "carl")
    file = tmp_path / "audit" / f"{DAY}.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in change(file.read_bytes().splitlines())))

    assert checked(tmp_path).faults


def test_a_file_cannot_be_removed_or_added(tmp_path: Path) -> None:
    recorded(tmp_path, "ann")
    file = tmp_path / "audit" / f"{DAY}.jsonl"
    file.rename(file.with_name(f"{NEXT}.jsonl"))

    assert checked(tmp_path).faults == [
        f"{DAY}: the file was removed, with 1 entries",
        f"{NEXT}: the file was added, for no entry was written on that day",
    ]


@pytest.mark.parametrize("name", [KEY, HEADS])
def test_the_key_and_the_heads_cannot_be_removed_unseen(tmp_path: Path, name: str) -> None:
    recorded(tmp_path, "ann")
    (tmp_path / name).unlink()
    assert checked(tmp_path).faults

    recorded(tmp_path, "bob", day=NEXT)
    assert checked(tmp_path).faults, "the next start does not hide it"


def test_what_a_kill_cut_off_is_a_gap(tmp_path: Path) -> None:
    recorded(tmp_path, "ann", stops=False)
    file = tmp_path / "audit" / f"{DAY}.jsonl"
    with file.open("ab") as half:
        half.write(b'{"at": "2026-11-22T09:')

    assert (checked(tmp_path).faults, len(checked(tmp_path).gaps)) == ([], 2)

    recorded(tmp_path, "bob", day=NEXT)
    found = checked(tmp_path)
    assert (found.faults, found.entries) == ([], 3)
    assert [gap.partition(":")[0] for gap in found.gaps] == [f"{DAY}, line 2", f"{DAY}, line 3"]


def test_entries_written_before_the_heads_were_are_taken_over_after_a_kill(tmp_path: Path) -> None:
    recorded(tmp_path, "ann", stops=False)
    older = (tmp_path / HEADS).read_bytes()
    recorded(tmp_path, "bob", stops=False)
    (tmp_path / HEADS).write_bytes(older)  # as if the kill had come between the two writes
    recorded(tmp_path, "carl")

    found = checked(tmp_path)
    assert found.faults == []
    assert [each.person for each in last_actions(tmp_path, 9)] == ["memory:carl", "memory:bob", "memory:ann"]


def test_the_day_of_the_upgrade_has_lines_that_cannot_be_checked(tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / f"{DAY}.jsonl").write_text('{"at": "x", "status": "ok"}\n')
    recorded(tmp_path, "ann")

    assert checked(tmp_path) == Verdict(days=1, entries=1, unsigned=1)


def test_thirty_days_later_the_rest_still_holds(tmp_path: Path) -> None:
    recorded(tmp_path, "ann")
    chain = recorded(tmp_path, "bob", day="2026-12-01", stops=False)
    chain.sweep("2026-12-22")
    chain.close()

    assert [file.name for file in (tmp_path / "audit").iterdir()] == ["2026-12-01.jsonl"]
    assert checked(tmp_path, "2026-12-22") == Verdict(days=1, entries=1)


def test_an_erased_entry_says_so_and_the_chain_holds(tmp_path: Path) -> None:
    chain = recorded(tmp_path, "ann", "bob", "carl", stops=False)
    assert chain.erase(lambda content: content.get("person") == "memory:bob") == 1
    chain.append(DAY, AT, [(AT, "ok", {"person": "memory:dora"})])
    chain.close()

    assert "bob" not in (tmp_path / "audit" / f"{DAY}.jsonl").read_text()
    assert checked(tmp_path) == Verdict(days=1, entries=4, erased=1)
    assert [each.is_erased for each in last_actions(tmp_path, 9)] == [False, False, True, False]


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}.000Z"


# Several processes


def say(chain: Chain, word: str, day: str = DAY) -> None:
    chain.append(day, AT, [(AT, "ok", {"person": f"memory:{word}"})])


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    one, other = Chain(tmp_path), Chain(tmp_path)
    for word in ("ann", "bob", "carl"):
        say(one, word)
        say(other, word)
    say(other, "zoe", NEXT)
    say(one, "eve", NEXT)
    assert other.erase(lambda content: content["person"] == "memory:bob") == 2
    say(one, "dan")
    one.close()
    say(other, "fay")
    other.close()

    assert checked(tmp_path) == Verdict(days=2, entries=10, erased=2)


def test_processes_that_start_at_once_make_one_key(tmp_path: Path) -> None:
    chains = [Chain(tmp_path) for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(say, chains, "abcdefgh"))
    for chain in chains:
        chain.close()

    assert checked(tmp_path) == Verdict(days=1, entries=8)


def test_one_that_was_killed_leaves_a_gap_though_others_go_on(tmp_path: Path) -> None:
    living, killed = Chain(tmp_path), Chain(tmp_path)
    say(living, "ann")
    say(killed, "bob")
    heads = (tmp_path / HEADS).read_bytes()
    say(killed, "carl")
    (tmp_path / HEADS).write_bytes(heads)  # it died before it wrote the head
    del killed
    say(living, "dan")
    newcomer = Chain(tmp_path)
    say(newcomer, "eve")
    for chain in (living, newcomer):
        chain.close()

    verdict = checked(tmp_path)
    assert (verdict.entries, verdict.faults, len(verdict.gaps)) == (6, [], 1)
