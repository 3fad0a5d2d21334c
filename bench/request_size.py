"""Size of the first request to the model, whose bytes are paid for with every message."""

from bench.figures import Figure
from bench.stage import stage
from tests.emulators.model_script import says


async def figures() -> list[Figure]:
    async with stage([says("Hello.")], "telegram", seats=1) as scene, scene.bot():
        await scene.seats[0].says("hello")
        await scene.seats[0].answered("Hello.", 1, 20)
        asked = scene.model.requests[0]
    return [
        Figure("first model request", asked.size / 1000, "kB", 8),
        Figure("tools in it", len(asked.tools), ""),
    ]
