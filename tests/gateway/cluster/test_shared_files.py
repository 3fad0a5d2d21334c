"""Files of the home that several processes change: none loses what another has written, and each sees it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_core.mcp.config import McpServer
from agent_core.origin import CLEAN, named
from agent_core.sandbox.usage import Usage
from agent_core.skills.header import Header
from agent_core.skills.installed import InstalledSkills
from agent_core.skills.skill import PackedSkill
from agent_core.sources import file
from agent_core.versions.blobs import Blobs, Budget
from agent_core.versions.undo import newest, undo
from agent_core.versions.versions import DAY
from agent_core.workspace.provenance import FileSources
from channels.base import ChatKey
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.quotas import Quotas
from gateway.permissions.workspaces import Versions
from gateway.settings.limits import QuotaSettings
from tests.agent_core.versions.kit import ANN, by
from tests.clock import FakeClock
from tests.gateway.test_approved_tools import EVIL, PLAIN, described

SKILL = b"---\nname: NAME\ndescription: Does something.\n---\nDo it.\n"


def test_what_people_fill_is_counted_on_all_nodes(tmp_path: Path) -> None:
    nodes = [Quotas(tmp_path, QuotaSettings) for _ in range(4)]

    def fills(number: int) -> None:
        nodes[number % 4].note("memory:ann", f"chat {number}", Usage(10, 1), Usage(10, 1))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(fills, range(20)))

    assert [each.filled_by(["memory:ann"]) for each in nodes] == [Usage(200, 20)] * 4


def test_skills_that_are_approved_at_once_are_all_approved_everywhere(tmp_path: Path) -> None:
    nodes = [InstalledSkills(tmp_path / "installed") for _ in range(4)]

    def approves(number: int) -> None:
        name = f"skill-{number}"
        packed = PackedSkill(
            Header(name=name, description="Does something."), {"SKILL.md": SKILL.replace(b"NAME", name.encode())}
        )
        skills = nodes[number % 4]
        skills.approve(skills.propose(packed, source="", by="memory:ann", at=1.0), by="memory:ann", at=2.0)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(approves, range(8)))

    for skills in nodes:
        assert all(skills.approval(f"skill-{number}") is not None for number in range(8))
    nodes[0].remove("skill-3")
    assert nodes[1].approval("skill-3") is None


def test_versions_that_a_node_keeps_while_another_one_deletes_old_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, chat = FakeClock(), ChatKey(platform="memory", account="here", chat="ann")
    nodes = [Versions(tmp_path, clock) for _ in range(2)]
    versions = nodes[0].of(chat)
    versions.workspace.mkdir(parents=True)
    (versions.workspace / "notes.txt").write_text("old")
    with versions.file(by("call-1"), "other.txt", 1):
        (versions.workspace / "other.txt").write_text("1")
    clock.now += 31 * DAY
    keep = Blobs.keep

    def keeps(blobs: Blobs, handle: int, budget: Budget) -> str:
        digest = keep(blobs, handle, budget)
        nodes[1].prune()
        return digest

    monkeypatch.setattr(Blobs, "keep", keeps)
    with versions.file(by("call-2"), "notes.txt", 3):
        (versions.workspace / "notes.txt").write_text("new")
    group = newest(versions, ANN)
    assert group is not None
    assert undo(versions, group, ANN, anyway="").failed == ()
    nodes[1].prune()

    assert (versions.workspace / "notes.txt").read_text() == "old"
    assert len(list((tmp_path / "versions").glob("*/groups/*.json"))) == 2


def test_tools_that_are_approved_on_one_node_are_so_on_all(tmp_path: Path) -> None:
    servers = {name: McpServer(command=(name,)) for name in ("words", "maps")}
    one, other = (ApprovedTools(tmp_path / "mcp.json", servers) for _ in range(2))
    one.see("words", [described(PLAIN)])
    other.see("maps", [described(PLAIN)])
    for node in (one, other):
        node.see("words", [described(EVIL)])
    assert one.waiting() == other.waiting() == ["words"]
    assert (one.changed.qsize(), other.changed.qsize()) == (1, 0), "owners are told twice"

    assert other.approve("words", other.code("words"))

    assert one.waiting() == other.waiting() == []
    assert ApprovedTools(tmp_path / "mcp.json", servers).waiting() == []


def test_the_origin_of_a_file_is_known_to_the_node_that_takes_over_its_chat(tmp_path: Path) -> None:
    workspace, kept = tmp_path / "workspace", tmp_path / "kept.json"
    workspace.mkdir()
    one, other = FileSources(workspace, kept), FileSources(workspace, kept)
    (workspace / "a.txt").write_text("words of the model")
    assert other.of(["a.txt"]) == named(file("a.txt"))

    one.wrote("a.txt", CLEAN)

    assert other.of(["a.txt"]) == CLEAN
