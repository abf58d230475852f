"""A stand-in for the servers that are asked for their models."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolsupport.core.errors import RequestRefused, Unreachable
from toolsupport.core.types import Endpoint
from toolsupport.providers import ModelDetails, RunningModel, ServerReport
from toolsupport.providers.error_text import answered


@dataclass
class Servers:
    """What is answered, by address; everything else is unreachable. `asked` lists the models that were described.

    `errors` are the statuses that some addresses answer with instead of a list of models.
    """

    reports: dict[str, ServerReport] = field(default_factory=dict)
    details: dict[str, ModelDetails] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    surveyed: list[str] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    at_once: int = 0
    most_at_once: int = 0

    async def survey(self, endpoint: Endpoint) -> ServerReport:
        self.surveyed.append(endpoint.base_url)
        if status := self.errors.get(endpoint.base_url):
            failed = answered(endpoint, status, '{"error":"no"}')
            raise RequestRefused(failed.message, kind=failed.kind, status=status, body=failed.body)
        if endpoint.base_url not in self.reports:
            raise Unreachable(f"{endpoint.base_url} does not answer (connection refused).")
        return self.reports[endpoint.base_url]

    async def describe(self, endpoint: Endpoint, name: str) -> ModelDetails:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.asked.append(name)
        if name not in self.details:
            raise Unreachable(f"{name} was not described.")
        return self.details[name]

    async def running(self, endpoint: Endpoint) -> tuple[RunningModel, ...]:
        raise Unreachable(f"{endpoint.base_url} does not answer (connection refused).")
