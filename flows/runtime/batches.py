"""A run in batch mode: pass after pass over its jobs, until what is left waits in batches or nothing is."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from flows.planning.jobs import ResolvedPlan
from flows.runtime.endpoints import Endpoint, count_calls
from flows.runtime.prefect_flows import log
from schemas.chat import ModelEntry
from schemas.documents.batches import BatchNews, WaitingRun
from schemas.lineage import StageResult
from schemas.plan import Plan
from tasks.models.batches.desk import BatchDesk, longest_pause_s
from tasks.models.batches.store import BatchStore, StoredBatch
from tasks.models.batches.waves import WaveChat
from tasks.models.journal.request_files import OpenCall, write_requests
from tasks.models.journal.table import JOURNAL
from tasks.text.number_format import counted


@dataclass(frozen=True)
class Waves:
    """The passes of a run: each makes a wave of the calls that it could make."""

    plan: Plan
    endpoints: Mapping[ModelEntry, Endpoint]
    desk: BatchDesk
    files: list[str] = field(default_factory=list)
    """Files that the calls of another machine were written to."""
    told: set[str] = field(default_factory=set)
    """Notes that are in the log: while a run waits, most looks find nothing new."""
    rules: Counter[str] = field(default_factory=Counter)
    """Lines of batches that were refused, by the rule that they break."""

    async def collect(self) -> BatchNews:
        """Take in what has ended of the batches of this run's endpoints, whether or not it is in batch mode."""
        news = await self.desk.work_on(_open_jobs(self.plan, self.desk.store))
        self._tell(news.notes)
        self.rules.update(news.rules)
        store = self.desk.store
        if self.plan.live_too and (calls := sum(store.describe(job).open for job in _open_jobs(self.plan, store))):
            has = f"batches have {counted(calls, 'call')}"
            self._tell([f"{has}; those that this run needs are sent too, and may be paid for twice"])
        return news

    async def settle(self) -> bool:
        """End a pass: submit what it noted, let small groups through; return whether no other pass is to come.

        With `wait` it returns when replies came, or calls are to be asked again.
        """
        waves = {endpoint.wave: None for endpoint in self.endpoints.values() if endpoint.wave}
        again = await self._submit(waves)
        pause_s = 1.0
        while not again and self.plan.wait and count_calls(self.endpoints).waiting and _open_jobs(self.plan, self.desk.store):
            await asyncio.sleep(min(pause_s, longest_pause_s()))
            pause_s *= 2
            news = await self.collect()
            again = news.answered + news.failed + news.freed > 0
        for wave in waves:
            wave.settle()
        if again:
            for endpoint in set(self.endpoints.values()):
                endpoint.chat.begin_again(endpoint.wave.sent if endpoint.wave else {})
        elif not count_calls(self.endpoints).waiting:
            self.desk.store.forget_failures(key for wave in waves for key in wave.told)
        return not again

    async def _submit(self, waves: Collection[WaveChat]) -> bool:
        """Submit or let through what was noted; return whether something was let through."""
        through = False
        if file := self.plan.requests_to:
            noted = (OpenCall(request, "", "") for wave in waves for group in wave.groups().values() for request in group)
            for about in write_requests(noted, file):
                self.files.append(str(file.with_name(about.file)))
                self._tell([f"{counted(about.calls, 'call')} of {about.model} written to {self.files[-1]}"])
            return False
        for wave in waves:
            for entry, requests in wave.groups().items():
                if wave.may_send and len(requests) < self.plan.batch_below:
                    wave.let_through(requests)
                    through = True
                    continue
                self._tell(await self.desk.submit(entry, requests))
        return through

    def _tell(self, notes: Iterable[str]) -> None:
        for note in notes:
            if note not in self.told:
                self.told.add(note)
                log(note)


def waiting_run(resolved: ResolvedPlan, inferred: StageResult) -> WaitingRun:
    """Describe what a run waits for."""
    with BatchStore(resolved.lake.state / JOURNAL) as store:
        jobs = tuple(map(store.describe, _open_jobs(resolved.plan, store)))
    return WaitingRun(calls=inferred.calls, jobs=jobs, files=inferred.request_files)


def _open_jobs(plan: Plan, store: BatchStore) -> list[StoredBatch]:
    here = {entry.base_url for entry in plan.entries}
    return [job for job in store.jobs(is_open=True) if job.entry.base_url in here]
