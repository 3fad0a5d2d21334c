"""Settings of the web page's channel; the server has its own."""

from pydantic import BaseModel, ConfigDict

MEGABYTE = 1024 * 1024


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    person: str = "You"
    """Name of the user of the page, as the model sees it."""
    max_upload: int = 50 * MEGABYTE
    """Largest file that the page accepts, in bytes."""
