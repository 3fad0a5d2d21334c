"""Accessibility of a page by axe-core: `await accessible(tab)` fails with each serious or critical violation.

`axe_core/` holds axe-core 4.14.1 as published (gzipped), under the Mozilla Public License 2.0 beside it. It is used by
tests only and is in no package of Parley.
"""

import gzip
import hashlib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Page

SCRIPT = Path(__file__).parent / "axe_core" / "axe.min.js.gz"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
"""Digest of the script as published."""
BAD = ("serious", "critical")
ALL = ("minor", "moderate", *BAD)


@cache
def script() -> str:
    """Return axe-core, which sets `window.axe`."""
    content = gzip.decompress(SCRIPT.read_bytes())
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise AssertionError(f"{SCRIPT} is not the published axe-core")
    return content.decode("utf-8")


async def violations(tab: Page, impacts: Collection[str] = BAD) -> list[str]:
    """Return the violations in a tab as it is, by default the serious and critical ones: rule, element and reason."""
    if not await tab.evaluate("'axe' in window"):  # half a megabyte, which no page needs twice
        await tab.evaluate(f"() => {{ {script()} }}")  # not a script element, which the policy refuses
    await tab.evaluate("() => Promise.allSettled(document.getAnimations().map((each) => each.finished))")
    found: dict[str, Any] = await tab.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]}: {' '.join(node['failureSummary'].split())}"
        for rule in found["violations"]
        if rule["impact"] in impacts
        for node in rule["nodes"]
    ]


async def accessible(tab: Page) -> None:
    """Assert that there is no serious or critical violation in a tab, in light and in dark colours."""
    for scheme in ("light", "dark"):
        await tab.emulate_media(color_scheme=scheme)
        found = await violations(tab)
        assert found == [], f"in {scheme} colours: {found}"
    await tab.emulate_media(color_scheme=None)
