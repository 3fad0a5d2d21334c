"""`parley audit` lists the last actions, and says whether the files were changed."""

import os
from pathlib import Path

import pytest

from gateway.cli import main
from gateway.records.audit_chain import Chain
from tests.gateway.test_audit_chain import now


def test_the_command_says_what_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PARLEY_HOME", str(tmp_path))
    for name in [each for each in os.environ if each.startswith("PARLEY_") and each != "PARLEY_HOME"]:
        monkeypatch.delenv(name)  # those of the tests are no settings
    assert main(["audit", "--verify"]) == 0
    assert main(["audit"]) == 0
    assert capsys.readouterr().out == "Nothing has been recorded yet.\n" * 2

    chain = Chain(tmp_path)
    day = now()[:10]
    chain.append(day, now(), [(now(), "ok", {"person": "memory:ann", "tool": "look", "chat": "memory:here:ann"})])
    chain.close()
    assert main(["audit", "--verify"]) == 0
    assert main(["audit"]) == 0
    assert capsys.readouterr().out.endswith("look    for memory:ann in memory:here:ann\n")

    os.truncate(tmp_path / "audit" / f"{day}.jsonl", 0)
    assert main(["audit", "--verify"]) == 1
    assert f"CHANGED: {day}: 1 of 1 entries are missing" in capsys.readouterr().out
