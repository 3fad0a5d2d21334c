"""The page can be used with a screen reader, a keyboard and weak eyes, as far as axe-core can tell."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from channels.base import Button
from channels.web.conversation import Shown
from tests.end_to_end.axe import accessible, violations
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import shown
from tests.page_server import Page

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

TEXT = """# A heading

A [link](https://example.org), `code`, **bold** and a list:

- one
- [x] two

| name | size |
| :--- | ---: |
| one | 12 |

```python
print("hello")
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


@pytest.mark.parametrize("width", [390, 1100], ids=["phone", "desktop"])
async def test_the_chat_has_no_serious_violation(page: Page, browser: Browser, width: int) -> None:
    buttons = ((Button(label="Allow once", action="/allow 1", style="primary"), Button(label="No", action="/deny 1")),)
    page.stored.append(Shown(who="person", message_id="said-1", markdown="Hello there", at=1.0))
    page.stored.append(Shown(who="parley", message_id="m1", markdown=TEXT, reasoning="Think.", at=2.0, buttons=buttons))
    async with page.open(), shown(page, browser, width=width) as (tab, _):
        await expect(tab.get_by_role("article")).to_have_count(2)
        await accessible(tab)


async def test_the_empty_chat_has_no_serious_violation(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await expect(tab.locator("#welcome")).to_be_visible()
        await accessible(tab)


async def test_a_page_that_cannot_be_used_is_noticed(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.evaluate("document.body.append(document.createElement('button'))")
        assert [each.partition(" ")[0] for each in await violations(tab)] == ["button-name"]
