"""A start of Parley loads none of the packages that documents need: they are loaded in the sandbox only."""

from tests.process import python

LOADED = """
import sys
import gateway.plugins.documents.plugin
print(sorted({"openpyxl", "pypdfium2", "gateway.plugins.documents.reader.mail"} & sys.modules.keys()))
"""


async def test_a_start_loads_no_package_of_documents() -> None:
    finished = await python("-c", LOADED)

    assert (finished.code, finished.out) == (0, "[]\n"), finished.err
