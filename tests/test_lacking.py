"""The suite's summary lists what was not tested."""

from pathlib import Path

from tests.process import python

THREE = """
import pytest

@pytest.mark.parametrize("number", range(2))
def test_searches(number):
    pytest.skip("there is no ripgrep")

@pytest.mark.skipif(True, reason="there is no browser")
def test_a_page():
    pass
"""


async def test_what_a_machine_lacks_is_said_once_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "test_three.py").write_text(THREE)
    ran = await python("-P", "-m", "pytest", "-q", "-p", "tests.lacking", "-c", "/dev/null", str(tmp_path))
    assert ran.code == 0, ran.out
    _, _, told = ran.out.partition("not tested here")
    assert "2 tests: there is no ripgrep\n" in told
    assert "1 test: there is no browser\n" in told


async def test_where_nothing_lacks_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    ran = await python("-P", "-m", "pytest", "-q", "-p", "tests.lacking", "-c", "/dev/null", str(tmp_path))
    assert ran.code == 0, ran.out
    assert "not tested here" not in ran.out
