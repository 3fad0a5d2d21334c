"""Parley starts without what reads and writes documents, which most starts never need."""

from pathlib import Path

from tests.process import python

NEEDED_LATER = (
    "gateway.plugins.documents.reader.opening",
    "gateway.plugins.documents.writer.blocks",
    "gateway.plugins.documents.writer.pdf",
    "xml.etree.ElementTree",
)


async def test_the_plugin_imports_no_parser_and_no_writer(tmp_path: Path) -> None:
    program = f"import gateway.plugins.documents.plugin, sys; print(sorted({{*{NEEDED_LATER!r}}} & sys.modules.keys()))"

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "[]")
