"""The token counts that a server tells with an answer, and what they cost."""

from msgspec import Struct

from agent_core.messages import Usage
from agent_core.models.llm import ModelInfo
from agent_core.models.wire_values import count_in, fields_of

MILLION = 1_000_000


class WireUsage(Struct, frozen=True):
    """Token counts as the server tells them; None for what it does not tell. `prompt` includes cached tokens."""

    prompt: int | None = None
    completion: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    total: int | None = None
    """May count reasoning that `completion` does not, as xAI's and Gemini's does."""

    def after(self, earlier: "WireUsage | None") -> "WireUsage":
        """Return these counts, and the earlier ones where these tell nothing: some servers tell them one by one."""
        if earlier is None:
            return self
        return WireUsage(
            self.prompt or earlier.prompt,
            self.completion or earlier.completion,
            self.cache_read or earlier.cache_read,
            self.cache_write or earlier.cache_write,
            self.total or earlier.total,
        )

    def priced(self, model: ModelInfo) -> Usage:
        """Return usage with cost; `Usage` counts each token once."""
        fresh = max(0, (self.prompt or 0) - self.cache_read - self.cache_write)
        beside = self.total - self.prompt if self.total and self.prompt else 0
        output = max(self.completion or 0, beside)
        price = model.input_price or 0.0
        read_price = price if model.cache_read_price is None else model.cache_read_price
        write_price = price if model.cache_write_price is None else model.cache_write_price
        cost = fresh * price + self.cache_read * read_price + self.cache_write * write_price
        cost += output * (model.output_price or 0.0)
        return Usage(
            input=fresh,
            output=output,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
            total=fresh + self.cache_read + self.cache_write + output,
            cost_usd=cost / MILLION,
        )


def usage_in(value: object) -> WireUsage | None:
    fields = fields_of(value) if value is not None else None
    if fields is None:
        return None
    details = fields_of(fields.get("prompt_tokens_details") or fields.get("input_tokens_details")) or {}
    told = (details.get("cached_tokens"), fields.get("cached_tokens"), fields.get("prompt_cache_hit_tokens"))
    cached = next((count for each in told if each and (count := count_in(each))), 0)
    return WireUsage(
        prompt=count_in(fields.get("prompt_tokens", fields.get("input_tokens"))),
        completion=count_in(fields.get("completion_tokens", fields.get("output_tokens"))),
        cache_read=cached,
        cache_write=count_in(details.get("cache_creation_tokens")) or 0,
        total=count_in(fields.get("total_tokens")),
    )
