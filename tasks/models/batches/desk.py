"""Submit calls as batches and collect what came of them, so that no crash has any call paid for twice."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schemas.chat import ChatRequest, ModelEntry
from schemas.documents.batches import ENDED, BatchNews
from schemas.errors import EndpointError
from tasks.models.batches.apis import FORMS, BatchApi, NoAnswerError, RemoteJob
from tasks.models.batches.limits import limits_at, split
from tasks.models.batches.results import read_lines
from tasks.models.batches.store import BatchStore, Outcome, StoredBatch
from tasks.models.journal.leases import Leases

LONGEST_PAUSE = "MOODFLOW_BATCH_POLL_S"
"""Environment variable: longest pause between two looks at a provider's batches, in seconds; 60 if it is not set."""


def longest_pause_s() -> float:
    """Return the longest pause between two looks at a provider, in seconds; MOODFLOW_BATCH_POLL_S sets it."""
    return float(os.environ.get(LONGEST_PAUSE) or 60)


@dataclass(frozen=True)
class BatchDesk:
    """Hands calls to providers and takes their replies in, in one event loop.

    A job is claimed while it is worked on: no other process submits or collects it at the same time.
    """

    store: BatchStore
    leases: Leases

    async def submit(self, entry: ModelEntry, requests: Sequence[ChatRequest]) -> tuple[str, ...]:
        """Submit calls of one model as jobs within the provider's limits; return what has to be told.

        EndpointError: the provider refused a job with the same calls before, or refuses this one; other jobs are submitted.
        """
        limits, notes, refused = limits_at(entry.base_url), list[str](), list[EndpointError]()
        for part in split(requests, limits):
            try:
                job = self.store.plan(limits.id, entry, part)
                if job and job.state == "failed":
                    name = job.job[:12]
                    raise EndpointError(
                        "the provider refused these calls as a whole before",
                        where=f"batch {name}, model {job.entry.name}, base URL {job.entry.base_url}",
                        got="; ".join(self.store.describe(job).errors) or "no reason given",
                        next_step=f"correct the cause; moodflow batches give-up {name} has the next run submit them again",
                    )
                notes += (await self.work_on([job] if job else [])).notes
            except EndpointError as error:
                refused.append(error)
        if refused:
            raise refused[0]
        return tuple(notes)

    async def work_on(self, jobs: Iterable[StoredBatch]) -> BatchNews:
        """Take jobs as far as they go: submit what is not, collect what has ended."""
        counts, rules, notes = Counter[str](), Counter[str](), list[str]()
        for job in jobs:
            came = await self._work_on(job)
            counts.update(answered=len(came.rows), failed=len(came.failed), freed=came.freed)
            rules.update(came.rules)
            if came.note:
                failed = f"; {len(came.failed):,} failed" if came.failed else ""
                again = f"; {came.freed:,} still to be asked" if came.freed else ""
                refused = "".join(f"; {lines:,} lines refused: {rule}" for rule, lines in came.rules.items())
                notes.append(f"batch {job.job[:12]}: {came.note}{failed}{again}{refused}")
        return BatchNews(jobs=(), **counts, rules=dict(sorted(rules.items())), notes=tuple(notes))

    async def _work_on(self, job: StoredBatch) -> Outcome:
        if not self.leases.claim(job.job):
            return Outcome(note="another process works on it")
        try:
            async with self.api(job) as api:
                job = self.store.find(job.job)
                if job.state in ENDED:
                    return Outcome()
                return await (self._collect(job, api) if job.state == "submitted" else self._submit(job, api))
        except NoAnswerError as error:
            return Outcome(note=f"no answer, so nothing changed: {error}")
        finally:
            self.leases.release(job.job)

    @staticmethod
    def api(job: StoredBatch) -> BatchApi:
        """Return the provider of a job, which is to be opened."""
        limits = limits_at(job.entry.base_url)
        return FORMS[limits.form](job.entry, limits)

    async def _submit(self, job: StoredBatch, api: BatchApi) -> Outcome:
        """Go through the steps up to the provider's name for the job."""
        calls, remote = self.store.calls(job).values(), None
        if job.state == "submitting":
            # The process that wrote this ended before it knew what came of the call that creates the job.
            remote, is_certain = await self._look_twice(job, api)
            if not is_certain:
                why = "it may be one of the provider's that are not done yet; its calls stay claimed until that is known"
                return Outcome(note=why)
        try:
            if job.state == "planned":
                job = self.store.change(job, file_id=await api.upload(calls), state="uploaded")
            if remote is None:
                job = self.store.change(job, state="submitting")
                remote = await api.create(job.file_id or "", calls, job.job)
        except EndpointError:
            self.store.change(job, frees=True, state="given_up")  # the provider has no such job
            raise
        self.store.change(job, remote_id=remote.id, state="submitted", counts=remote.json, window_ends=remote.window_ends)
        return Outcome(note=f"{job.n:,} calls of {job.entry.name} submitted as {remote.id}")

    async def _look_twice(self, job: StoredBatch, api: BatchApi) -> tuple[RemoteJob | None, bool]:
        """Look for a job that may have been created: the job or null, and whether that is certain.

        A provider's list may lag behind; two that agree count. Where jobs carry no label, one with as many calls is ours if its
        results have our ids, which can be read once it has ended.
        """
        known, is_certain = {other.remote_id for other in self.store.jobs()}, True
        for pause_s in (0, longest_pause_s()):
            await asyncio.sleep(pause_s)
            is_certain = True
            async for remote in api.jobs(job.created):
                if remote.label == job.job:
                    return remote, True
                if limits_at(job.entry.base_url).labels or remote.calls != job.n or remote.id in known:
                    continue
                if not remote.has_ended:
                    is_certain = False
                    continue
                lines, _ = await api.read(remote)
                found = read_lines(lines, self.store.calls(job), job.entry)
                if (found.rows or found.failed or found.free) and not found.rules["unknown_id"]:
                    return remote, True
        return None, is_certain

    async def _collect(self, job: StoredBatch, api: BatchApi) -> Outcome:
        remote = await api.poll(job.remote_id or "")
        if remote is None:
            hint = f"moodflow batches give-up {job.job[:12]} frees its calls"
            return Outcome(note=f"the provider has no {job.remote_id} any more; {hint}")
        job = self.store.change(job, counts=remote.json, window_ends=remote.window_ends or job.window_ends)
        if not remote.has_ended:
            return Outcome(note=f"{remote.id} is {remote.status}")
        if remote.status == "failed" and not remote.results:
            self.store.change(job, frees=True, state="failed")
            reasons = "; ".join(remote.errors) or "no reason given"
            return Outcome(note=f"the provider refused it as a whole: {reasons}", freed=job.n)
        lines, is_whole = await api.read(remote)
        calls = self.store.calls(job, is_open=True)
        came = read_lines(lines, calls, job.entry, self.store.calls(job))
        came.is_whole &= is_whole
        self.store.keep(job, came, ends=came.is_whole)
        if not came.is_whole:
            came.note = "its files are not whole; what was read is kept, and it can be collected again"
            return came
        came.freed = len(calls) - len(came.rows) - len(came.failed)
        came.note = f"{remote.id} is {remote.status}: {len(came.rows):,} replies"
        return came


@contextmanager
def open_desk(journal: Path) -> Iterator[BatchDesk]:
    """Open the desk of a journal."""
    with BatchStore(journal) as store, Leases(journal.with_suffix(".leases")) as leases:
        yield BatchDesk(store, leases)
