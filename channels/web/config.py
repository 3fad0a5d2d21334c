"""Settings of the page's channel; the server it is mounted on has its own."""

from pydantic import BaseModel, ConfigDict

MEGABYTE = 1024 * 1024


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    person: str = "You"
    """What the model calls the one person at the page."""
    max_upload: int = 50 * MEGABYTE
    """Largest file that the page takes, in bytes."""
