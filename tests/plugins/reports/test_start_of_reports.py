"""Parley starts without what makes reports, which is imported when one is made."""

from pathlib import Path

from tests.process import python

MAKERS = [f"gateway.plugins.reports.{name}" for name in ("agenda", "feed", "github", "mail", "weather", "week")]


async def test_the_plugin_imports_nothing_that_makes_a_report(tmp_path: Path) -> None:
    program = f"import gateway.plugins.reports.plugin, sys; print(sorted({{*{MAKERS!r}}} & sys.modules.keys()))"

    ran = await python("-P", "-c", program, cwd=tmp_path, environ={"HOME": str(tmp_path)})

    assert (ran.code, ran.err, ran.out.strip()) == (0, "", "[]")
