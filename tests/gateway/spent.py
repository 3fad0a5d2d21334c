"""What models have cost, as the ledger has it."""

import random

from agent_core.models.scripted import SCRIPTED_MODEL
from channels.base import ChatKey
from gateway.store.budget import Payer, Spent
from gateway.store.store import Store

DEAR = SCRIPTED_MODEL.model_copy(update={"input_price": 3.0, "output_price": 15.0})


async def spend(
    store: Store, at: float, cost: int, *, chat: str = "ann", person: str = "memory:ann", **how: str
) -> None:
    """Record a call that has ended."""
    payer = Payer(
        ChatKey(platform="memory", account="here", chat=chat),
        run=how.get("run", "r"),
        person=person,
        job=how.get("job", ""),
    )
    call, spent, model = f"{at}-{cost}-{random.random()}", Spent(cost // 100, cost), how.get("model", "small")  # noqa: S311
    await store.spending.reserve(call, at, payer, model, spent)
    await store.spending.settle(call, model, spent, "settled")
