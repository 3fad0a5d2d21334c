"""Facts about this process shown on every surface, so that no other model is mistaken for an AI."""

from pydantic import BaseModel, ConfigDict

from agent_core.models.no_model import NO_MODEL


class About(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    why: str
    """Reason that this model was selected, as a short phrase: "ANTHROPIC_API_KEY is set"."""
    is_ai: bool
    """False if what answers only plays a model, or if no model is set."""
    version: str
    sandbox: str = ""
    """Sandbox that programs run in; empty if no programs are run."""
    no_sandbox: str = ""
    """Reason that there is no sandbox, and the fix."""
    started: float = 0.0
    """In seconds since the epoch."""

    @property
    def has_model(self) -> bool:
        """False if no model is set, so that nothing answers."""
        return self.model != NO_MODEL.id
