"""The resources that all clients of a run share."""

from collections.abc import Hashable

from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.budget import Budget
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.limiter import Limiter, Stop


class RunResources:
    """The limiters, budgets, batches and the `Stop` that all clients of a run share.

    Outside a run there is no `stop`. `batches` is None where requests are sent at once.
    """

    def __init__(self, stop: Stop | None = None, batch: BatchSettings | None = None) -> None:
        self.stop = stop
        self.batches = BatchStore(batch.path, batch.run) if batch else None
        self.limiters: dict[Hashable, Limiter] = {}
        self._budgets: list[tuple[object, Budget]] = []

    def budget(self, settings: ClientSettings) -> Budget:
        """Return the budget of clients with these prices, cap and usage log."""
        terms = settings.prices, settings.max_cost, settings.usage_log
        for others, budget in self._budgets:
            if others == terms:
                return budget
        budget = Budget(*terms)
        self._budgets.append((terms, budget))
        return budget

    async def aclose(self) -> None:
        """Close the usage logs; a later request opens them again."""
        for _, budget in self._budgets:
            budget.close()
        if self.batches:
            self.batches.close()
