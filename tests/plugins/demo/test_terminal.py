"""The demo model in the terminal."""

from pathlib import Path

from tests.end_to_end.forks import parley


async def test_a_chat_in_the_terminal_is_not_mixed_with_what_the_log_knows(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PARLEY_MODEL": "demo"}
    talked = await parley("chat", cwd=tmp_path, environ=environ, says="show me a failing tool\n")

    assert talked.code == 0
    assert "there is no a-file-that-does-not-exist.txt" in talked.out
    assert talked.err == ""
