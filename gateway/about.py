"""Who answers here, and since when: shown on every surface, so that nobody mistakes the demo model for an AI."""

from pydantic import BaseModel, ConfigDict


class About(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "Parley"
    """What it calls itself."""
    model: str
    why: str
    """Why it is that one, in one short phrase: "ANTHROPIC_API_KEY is set"."""
    demo: bool
    version: str
    vision: bool = False
    context_window: int = 32_000
    """Tokens."""
    sandbox: str = ""
    """What programs are shut in with; empty: none are run."""
    no_sandbox: str = ""
    """Then why, and what to do about it."""
    started: float = 0.0
    """Seconds since the epoch."""
