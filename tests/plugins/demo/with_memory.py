"""Whether the memory is there, which the demo model uses where it can."""

import pytest

from gateway.app.chosen_plugins import own_plugins

HAS_MEMORY = any("recall" in plugin.tool_names for plugin in own_plugins())
NEEDS_MEMORY = pytest.mark.skipif(not HAS_MEMORY, reason="the memory was deleted")
