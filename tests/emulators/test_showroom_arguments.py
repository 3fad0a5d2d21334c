"""The arguments of `./run emulators`."""

import sys

import pytest

from tests.emulators.showroom.__main__ import main


@pytest.mark.parametrize("wrong", [("--nodes", "0"), ("--nodes", "6"), ("--port", "65533"), ("--port", "-1")])
def test_a_wrong_number_is_one_sentence(
    wrong: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["showroom", *wrong])

    with pytest.raises(SystemExit, match=r"^2$"):
        main()

    assert capsys.readouterr().err.splitlines()[-1].startswith(f"./run emulators: error: argument {wrong[0]}: ")
