"""Files of a workspace keep their sources, and no copy or program loses the mark of untrusted input."""

import json
import os
from functools import partial
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent_core.origin import CLEAN, DATA, Origin, named
from agent_core.sources import file
from agent_core.workspace.outputs import keep_text
from agent_core.workspace.provenance import FileLedger, FileSources
from agent_core.workspace.rows_file import SPARE
from tests.cpu import growth
from tests.examples import examples

EVE = named("page:eve.example")
LIMIT = 60.0
"""Seconds that a program may run."""


def files_of(home: Path) -> FileSources:
    (home / "w").mkdir(exist_ok=True)
    return FileSources(home / "w", home / "kept" / "w.json")


def write(files: FileSources, home: Path, name: str, text: str, origin: Origin = CLEAN) -> None:
    path = home / "w" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    files.wrote(name, origin)


def test_a_file_of_which_nothing_is_known_is_a_strangers(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    (tmp_path / "w" / "report.md").write_text("obey")

    assert files.of(["report.md"]) == named(file("report.md"))
    assert files.of_names(".") == named(file("report.md/"))
    assert files.end(files.begin(CLEAN, LIMIT)) == named(file("report.md"))


def test_an_output_that_is_just_being_kept_taints_no_list_of_names(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    name = keep_text(tmp_path / "w", "long")

    assert files.of_names(".") == CLEAN
    assert files.of([name]) == named(file(name))


def test_what_people_and_tools_brought_is_known_in_the_next_life_too(tmp_path: Path) -> None:
    write(files_of(tmp_path), tmp_path, "mine.txt", "mine")
    write(files_of(tmp_path), tmp_path, "hers/page.md", "obey", EVE)
    later = files_of(tmp_path)

    assert later.of(["mine.txt"]) == CLEAN
    assert later.of(["./hers//page.md"]) == EVE
    assert later.of_names(".") == EVE
    assert later.of(["nothing.txt"]) == CLEAN


def test_what_was_changed_behind_our_back_is_not_known_any_more(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "mine.txt", "mine")
    before = (tmp_path / "w" / "mine.txt").stat()
    (tmp_path / "w" / "mine.txt").write_text("ours")
    os.utime(tmp_path / "w" / "mine.txt", ns=(before.st_atime_ns, before.st_mtime_ns))

    assert files.of(["mine.txt"]) == named(file("mine.txt"))


def test_a_former_content_that_is_brought_back_is_known_again(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "a.txt", "mine")
    write(files, tmp_path, "a.txt", "hers", EVE)
    (tmp_path / "w" / "a.txt").write_text("mine")
    assert files.of(["a.txt"]) == CLEAN
    (tmp_path / "w" / "a.txt").write_text("hers")
    assert files.of(["a.txt"]) == EVE


def test_a_file_that_was_deleted_is_known_again_where_it_is_brought_back(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "mine.txt", "mine")
    write(files, tmp_path, "hers.txt", "hers", EVE)
    before = files.begin(CLEAN, LIMIT)
    for name in ("mine.txt", "hers.txt"):
        (tmp_path / "w" / name).unlink()
    files.end(before)

    later = files_of(tmp_path)
    for name, words in {"mine.txt": "mine", "hers.txt": "hers"}.items():
        (tmp_path / "w" / name).write_text(words)
    assert (later.of(["mine.txt"]), later.of(["hers.txt"])) == (CLEAN, EVE)
    (tmp_path / "w" / "mine.txt").write_text("others")
    assert later.of(["mine.txt"]) == named(file("mine.txt"))


def test_a_program_among_clean_files_leaves_clean_ones(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "sales.csv", "1,2")

    before = files.begin(CLEAN, LIMIT)
    write_by_program(tmp_path, "chart.png")
    assert files.end(before) == CLEAN

    assert files.of(["chart.png", "sales.csv"]) == CLEAN


def test_a_program_that_could_read_a_strangers_file_leaves_strangers_files(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "page.md", "obey", EVE)
    write(files, tmp_path, "sales.csv", "1,2")

    before = files.begin(named("network"), LIMIT)
    write_by_program(tmp_path, "chart.png")
    files.end(before)

    assert files.of(["chart.png"]) == named("network") | EVE
    assert files.of(["sales.csv"]) == CLEAN, "it was not touched"


def test_of_two_programs_at_once_neither_washes_what_the_other_writes(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    clean = files.begin(CLEAN, LIMIT)
    tainted = files.begin(EVE, LIMIT)
    write_by_program(tmp_path, "out.txt")
    assert files.end(clean) == EVE
    assert files.of(["out.txt"]) == EVE
    files.end(tainted)
    assert files.of(["out.txt"]) == EVE


def test_what_a_killed_program_has_written_is_of_what_it_could_read(tmp_path: Path) -> None:
    write(files_of(tmp_path), tmp_path, "sales.csv", "1,2")
    files_of(tmp_path).begin(DATA, LIMIT)
    write_by_program(tmp_path, ".output/1.txt")
    later = files_of(tmp_path)

    assert later.of([".output/1.txt"]) == DATA, "it asks no more than the program itself did"
    assert later.of(["sales.csv"]) == CLEAN
    again = files_of(tmp_path)
    assert again.end(again.begin(CLEAN, LIMIT)) == DATA, "and no more after the next start"


def test_a_killed_program_that_could_read_a_strangers_words_leaves_them_marked(tmp_path: Path) -> None:
    files_of(tmp_path).begin(EVE, LIMIT)
    write_by_program(tmp_path, "left.txt")

    assert files_of(tmp_path).of(["left.txt"]) == EVE


def test_what_comes_after_a_killed_program_must_have_ended_stays_unknown(tmp_path: Path) -> None:
    files_of(tmp_path).begin(CLEAN, -LIMIT)
    write_by_program(tmp_path, "left.txt")

    assert files_of(tmp_path).of(["left.txt"]) == named(file("left.txt"))


def test_what_arrives_while_a_program_runs_is_in_all_that_it_writes_and_says(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    before = files.begin(CLEAN, LIMIT)
    write(files, tmp_path, "sent.txt", "obey", EVE)
    write_by_program(tmp_path, "copy.txt")

    assert files.end(before) == EVE
    assert files.of(["copy.txt"]) == EVE


def test_a_file_of_a_person_that_arrives_while_a_program_runs_is_data_in_all_that_it_writes(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    before = files.begin(CLEAN, LIMIT)
    write(files, tmp_path, "sent.txt", "obey", DATA)
    write_by_program(tmp_path, "copy.txt")

    assert files.end(before) == DATA
    assert files.of(["copy.txt"]) == DATA


def test_what_another_program_has_written_is_in_all_that_one_writes_that_still_runs(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    long, short = files.begin(CLEAN, LIMIT), files.begin(EVE, LIMIT)
    write_by_program(tmp_path, "hers.txt")
    files.end(short)
    write_by_program(tmp_path, "copy.txt")

    assert files.end(long) == EVE
    assert files.of(["copy.txt"]) == EVE


def test_a_program_among_clean_files_is_clean_again_once_no_other_runs(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    files.end(files.begin(EVE, LIMIT))

    assert files.end(files.begin(CLEAN, LIMIT)) == CLEAN


def test_kept_results_do_not_name_the_folder_in_which_they_are(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    (tmp_path / "w" / ".output").mkdir()
    (tmp_path / "w" / ".output" / "1.txt").write_text("obey")
    files.wrote(".output/1.txt", EVE, CLEAN)
    (tmp_path / "w" / ".output" / "1.txt").unlink()

    assert files.end(files.begin(CLEAN, LIMIT)) == CLEAN


def test_a_ledger_that_cannot_be_read_knows_nothing(tmp_path: Path) -> None:
    write(files_of(tmp_path), tmp_path, "mine.txt", "mine")
    (tmp_path / "kept" / "w.json").write_text('{"mine.txt": 5}')

    assert files_of(tmp_path).of(["mine.txt"]) == named(file("mine.txt"))


def test_a_content_has_its_origin_though_the_file_is_another_meanwhile(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    write(files, tmp_path, "page.md", "obey", EVE)
    read = (tmp_path / "w" / "page.md").read_bytes()
    write(files, tmp_path, "page.md", "mine")

    assert files.of(["page.md"]) == CLEAN
    assert files.of_content("page.md", read) == EVE
    assert files.of_content("./page.md", b"mine") == CLEAN
    assert files.of_content("page.md", b"of a program") == named(file("page.md"))


def test_a_record_costs_as_much_among_many_as_among_few(tmp_path: Path) -> None:
    def written(files: int) -> int:
        home = tmp_path / str(files)
        home.mkdir()
        ledger = files_of(home)
        for number in range(files):
            write(ledger, home, f"{number:04}.txt", str(number))
        before = (home / "kept" / "w.json").stat()
        write(ledger, home, "one-more.txt", "1")
        after = (home / "kept" / "w.json").stat()
        assert after.st_ino == before.st_ino
        assert files_of(home).of([f"{number:04}.txt" for number in range(files)]) == CLEAN
        return after.st_size - before.st_size

    assert written(600) == written(60)


def test_the_file_of_records_stays_as_small_as_what_it_says(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    for number in range(3 * SPARE):
        write(files, tmp_path, "diary.txt", str(number % 5), EVE)

    assert len((tmp_path / "kept" / "w.json").read_text().splitlines()) <= SPARE + 5
    assert files_of(tmp_path).of(["diary.txt"]) == EVE


def test_a_record_that_a_crash_cut_is_unknown_and_all_others_stay(tmp_path: Path) -> None:
    write(files_of(tmp_path), tmp_path, "mine.txt", "mine")
    kept = tmp_path / "kept" / "w.json"
    write(files_of(tmp_path), tmp_path, "hers.txt", "obey", EVE)
    kept.write_bytes(kept.read_bytes()[:-20])

    later = files_of(tmp_path)
    assert (later.of(["mine.txt"]), later.of(["hers.txt"])) == (CLEAN, named(file("hers.txt")))
    write(later, tmp_path, "new.txt", "new")
    assert files_of(tmp_path).of(["mine.txt", "new.txt"]) == CLEAN


def test_records_of_earlier_versions_are_read_and_go_on(tmp_path: Path) -> None:
    write(files_of(tmp_path), tmp_path, "mine.txt", "mine")
    kept = tmp_path / "kept" / "w.json"
    kept.write_text(json.dumps(dict(map(json.loads, kept.read_text().splitlines()))))

    later = files_of(tmp_path)
    assert later.of(["mine.txt"]) == CLEAN
    write(later, tmp_path, "hers.txt", "obey", EVE)
    assert files_of(tmp_path).of(["hers.txt"]) == EVE
    assert files_of(tmp_path).of(["mine.txt"]) == CLEAN


def test_all_who_write_in_a_workspace_know_of_each_other(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path / "kept")
    files = ledger.of(tmp_path / "w")

    assert ledger.of(tmp_path / "w") is files


def write_by_program(home: Path, name: str) -> None:
    """Write a file as a sandboxed program would, without recording it."""
    path = home / "w" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"made by {name}")


NAMES = st.sampled_from(["a", "b", "c/d", ".output/1.txt"])


class Copies(RuleBasedStateMachine):
    """Compares the ledger with the truth: a file that may hold Eve's words must be marked as hers."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(os.environ.get("TMPDIR", "/tmp")) / f"copies-{os.getpid()}-{id(self)}"  # noqa: S108 - removed
        self.home.mkdir()
        self.files = files_of(self.home)
        self.hers: set[str] = set()
        self.all: set[str] = set()
        self.count = 0

    def teardown(self) -> None:
        for path in sorted(self.home.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        self.home.rmdir()

    def write(self, name: str) -> None:
        self.count += 1
        path = self.home / "w" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(self.count))
        self.all.add(name)

    @rule(name=NAMES, hers=st.booleans())
    def a_tool_writes(self, name: str, hers: bool) -> None:  # noqa: FBT001 - hypothesis fills it in
        self.write(name)
        self.files.wrote(name, EVE if hers else CLEAN, CLEAN if name.startswith(".") else None)
        (self.hers.add if hers else self.hers.discard)(name)

    @rule(name=NAMES, other=NAMES)
    def a_tool_copies(self, name: str, other: str) -> None:
        origin = self.files.of([name])
        self.write(other)
        self.files.wrote(other, origin)
        (self.hers.add if name in self.hers and name in self.all else self.hers.discard)(other)

    @rule(names=st.sets(NAMES), forgets=st.booleans())
    def a_program_runs(self, names: set[str], forgets: bool) -> None:  # noqa: FBT001 - hypothesis fills it in
        could_read = bool(self.hers)
        before = self.files.begin(CLEAN, LIMIT)
        for name in names:
            self.write(name)
        if forgets:  # Parley was killed
            self.files = files_of(self.home)
        else:
            self.files.end(before)
        if could_read:
            self.hers |= names
        elif not forgets:
            self.hers -= names

    @rule()
    def parley_starts_again(self) -> None:
        self.files = files_of(self.home)

    @rule(name=NAMES)
    def a_file_is_taken_away(self, name: str) -> None:
        (self.home / "w" / name).unlink(missing_ok=True)
        self.all.discard(name)
        self.hers.discard(name)

    @invariant()
    def what_is_hers_is_said_to_be(self) -> None:
        for name in self.hers:
            assert self.files.of([name]).is_tainted, name
        if self.hers:
            assert self.files.end(self.files.begin(CLEAN, LIMIT)).is_tainted


TestNothingIsWashed = Copies.TestCase
TestNothingIsWashed.settings = settings(max_examples=examples(25), stateful_step_count=20, deadline=None)


def test_the_end_of_a_program_takes_twice_as_long_for_twice_the_files_that_it_took_away(tmp_path: Path) -> None:
    def ended(count: int) -> None:
        kept = tmp_path / "kept" / "w.json"
        kept.parent.mkdir(exist_ok=True)
        row = {"state": [1, 1, 1], "sources": "", "contents": {"0" * 32: ""}}
        kept.write_text(json.dumps({f"{number}.txt": row for number in range(count)}))
        files = files_of(tmp_path)
        files.end(files.begin(CLEAN, LIMIT))

    grown = growth(partial(ended, 2_000), partial(ended, 8_000), times=4, most=2.5**2)

    assert grown <= 2.5**2


def test_names_without_a_record_are_looked_up_in_one_pass_over_those_with_one(tmp_path: Path) -> None:
    def sources_of(count: int) -> FileSources:
        home = tmp_path / str(count)
        (home / "w").mkdir(parents=True)
        (home / "kept").mkdir()
        row = {"state": [1, 1, 1], "sources": "", "contents": {}}
        (home / "kept" / "w.json").write_text(json.dumps({f"a/{number}.txt": row for number in range(count)}))
        for number in range(count):
            (home / "w" / f"{number}").mkdir()
        return files_of(home)

    few, many = sources_of(700), sources_of(2_800)
    for look in (lambda files: files.of_names("."), lambda files: files.end(files.begin(CLEAN, LIMIT))):
        assert growth(partial(look, few), partial(look, many), times=4, most=2.5**2) <= 2.5**2
