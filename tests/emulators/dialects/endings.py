"""How a provider says that an answer has ended, and what that means."""

from collections.abc import Mapping
from typing import Literal

Ending = Literal["whole", "calls", "cut", "paused", "refused", "broken"]
"""whole: the answer stands. calls: it asks for tools. cut: it reached a limit. paused: the model goes on when the
answer comes back. refused: the content is not allowed. broken: the server failed."""
Endings = Mapping[str, Ending]
"""Each reason that the provider gives."""

OPENAI_ENDINGS: Endings = {"stop": "whole", "tool_calls": "calls", "length": "cut", "content_filter": "refused"}
LOCAL_ENDINGS: Endings = {"stop": "whole", "tool_calls": "calls", "length": "cut"}
