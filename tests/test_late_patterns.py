"""Patterns that are compiled when they are first used: none is at the start, and all of them can be."""

from pathlib import Path

from tests.process import python
from tests.test_imports import RUNS_A_PROGRAM, module_names

AT_THE_START = """
import gc
import gateway.app.start
from agent_core.late_pattern import LatePattern

late = [each for each in gc.get_objects() if isinstance(each, LatePattern)]
print(len(late) > 100, [each.pattern for each in late if "compiled" in vars(each)])
"""
ALL = """
import gc, importlib, sys, warnings
from agent_core.late_pattern import LatePattern

for name in sys.argv[1:]:
    importlib.import_module(name)
warnings.simplefilter("error")
print(len([each.compiled for each in gc.get_objects() if isinstance(each, LatePattern)]) > 100)
"""


async def test_no_late_pattern_is_compiled_at_the_start(tmp_path: Path) -> None:
    ran = await python("-P", "-c", AT_THE_START, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "True []")


async def test_each_late_pattern_can_be_compiled(tmp_path: Path) -> None:
    names = [name for name in module_names() if name not in RUNS_A_PROGRAM]

    ran = await python("-P", "-c", ALL, *names, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "True")
