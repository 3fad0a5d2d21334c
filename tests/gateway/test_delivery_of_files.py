"""Of files that go together only those do not arrive that the platform refuses."""

from pathlib import Path

import pytest

from agent_core.origin import CLEAN
from channels.attachments import Attachment
from channels.base import OutboundMessage
from gateway.store.rows import Post, PostState
from tests.gateway.delivering import ANN, Scene, answer, refuse, scene


def with_files(*names: str, words: str = "Here.") -> Post:
    files = tuple(Attachment(name=name, mime_type="text/plain", path=f"/nowhere/{name}") for name in names)
    return Post("r:answer:0", "r", ANN, OutboundMessage(markdown=words, attachments=files), CLEAN)


def arrived(now: Scene) -> list[tuple[str, list[str]]]:
    return [(message.markdown, [file.name for file in message.attachments]) for _, message in now.channel.posts]


@pytest.mark.parametrize(
    ("bad", "come"),
    [
        (["b.exe"], [("Here.", ["a.txt"]), ("", ["c.txt"])]),
        (["a.txt"], [("Here.", []), ("", ["b.exe"]), ("", ["c.txt"])]),
        (["a.txt", "c.txt"], [("Here.", []), ("", ["b.exe"])]),
        (["a.txt", "b.exe", "c.txt"], [("Here.", [])]),
        ([], [("Here.", ["a.txt", "b.exe", "c.txt"])]),
    ],
)
async def test_the_words_and_the_good_files_arrive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: list[str], come: list[tuple[str, list[str]]]
) -> None:
    async with scene(tmp_path) as now:
        refuse(monkeypatch, *bad)
        post = with_files("a.txt", "b.exe", "c.txt")
        await now.store.outbox.add([post, answer(1)])

        trouble = await now.delivery.attempt(ANN, [post, answer(1)])

        assert arrived(now) == [*come, ("answer 1", [])]
        assert (trouble.reason if trouble else None) == (f"{bad[-1]}: it was refused" if bad else None)
        assert await now.store.outbox.unsent() == []


async def test_files_without_words_are_parted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene(tmp_path) as now:
        refuse(monkeypatch, "a.txt")
        post = with_files("a.txt", "b.txt", words="")
        await now.delivers(post)

        assert arrived(now) == [("", ["b.txt"])]
        assert await now.states(post) == [PostState.FAILED]


async def test_what_was_parted_arrives_after_a_kill_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """The process has ended."""

    def kill(*_: object) -> None:
        raise Killed

    async with scene(tmp_path) as now:
        refuse(monkeypatch, "b.txt")
        monkeypatch.setattr(now.delivery.tally, "done", kill)
        with pytest.raises(Killed):
            await now.delivers(with_files("a.txt", "b.txt", "c.txt"))
    async with scene(tmp_path) as later:
        left = await later.store.outbox.unsent()
        await later.delivery.deliver(ANN, left)

        assert [files for _, files in arrived(later)][-1] == ["c.txt"]
        assert await later.store.outbox.unsent() == []
