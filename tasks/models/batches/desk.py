"""Submit calls as batches and collect what came of them, so that no crash has any call paid for twice."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from schemas.chat import ChatRequest, ModelEntry
from schemas.documents.batches import BatchNews
from schemas.errors import EndpointError
from tasks.models.batches.apis import FORMS, BatchApi, NoAnswerError, RemoteJob
from tasks.models.batches.limits import limits_at, split
from tasks.models.batches.results import read_lines
from tasks.models.batches.store import BatchStore, Outcome, StoredBatch
from tasks.models.journal.leases import Leases

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE = "MOODFLOW_BATCH_POLL_S"
"""Environment variable: longest pause between two looks at a provider's batches, in seconds; 60 if it is not set."""


def longest_pause_s() -> float:
    """Return the longest pause between two looks at a provider, in seconds; MOODFLOW_BATCH_POLL_S sets it."""
    return float(os.environ.get(LONGEST_PAUSE) or 60)


class BatchDesk:
    """Hands calls to providers and takes their replies in. Used as a context manager, in one event loop.

    A job is claimed while it is worked on: no other process submits or collects it at the same time.
    """

    def __init__(self, journal: Path) -> None:
        self.store = BatchStore(journal)
        self._leases = Leases(journal.with_suffix(".leases"))

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(self.store)
            opened.enter_context(self._leases)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    async def submit(self, entry: ModelEntry, requests: Sequence[ChatRequest]) -> tuple[str, ...]:
        """Submit calls of one model as jobs within the provider's limits; return what has to be told.

        EndpointError: the provider refused a job with the same calls before, or refuses this one; other jobs are submitted.
        """
        limits, notes, refused = limits_at(entry.base_url), list[str](), list[EndpointError]()
        for part in split(requests, limits):
            try:
                job = self.store.plan(limits.id, entry, part)
                if job and job.state == "failed":
                    raise _refused(job, self.store)
                notes += (await self.work_on([job] if job else [])).notes
            except EndpointError as error:
                refused.append(error)
        if refused:
            raise refused[0]
        return tuple(notes)

    async def work_on(self, jobs: Iterable[StoredBatch]) -> BatchNews:
        """Take jobs as far as they go: submit what is not, collect what has ended."""
        came = list[BatchNews]()
        for job in jobs:
            if not self._leases.claim(job.job):
                came.append(_note(job, "another process works on it"))
                continue
            try:
                async with self.api(job) as api:
                    came.append(await self._go_on(self.store.find(job.job), api))
            except NoAnswerError as error:
                came.append(_note(job, f"no answer, so nothing changed: {error}"))
            finally:
                self._leases.release(job.job)
        return add_up(came)

    @staticmethod
    def api(job: StoredBatch) -> BatchApi:
        """Return the provider of a job, which is to be opened."""
        limits = limits_at(job.entry.base_url)
        return FORMS[limits.form](job.entry, limits)

    async def _go_on(self, job: StoredBatch, api: BatchApi) -> BatchNews:
        if job.state in ("planned", "uploaded", "submitting"):
            submitted = await self._submit(job, api)
            if submitted is None:
                return _note(
                    job, "it may be one of the provider's that are not done yet; its calls stay claimed until that is known"
                )
            return _note(submitted, f"{submitted.n:,} calls of {submitted.entry.name} submitted as {submitted.remote_id}")
        return await self._collect(job, api) if job.state == "submitted" else BatchNews(jobs=())

    async def _submit(self, job: StoredBatch, api: BatchApi) -> StoredBatch | None:
        """Go through the steps up to the provider's name for the job; null: whether it exists is not known yet."""
        calls, remote = self.store.calls(job.job).values(), None
        if job.state == "submitting":
            # The process that wrote this ended before it knew what came of the call that creates the job.
            remote, is_certain = await self._look_twice(job, api)
            if not is_certain:
                return None
        try:
            if job.state == "planned":
                job = self.store.change(job, file_id=await api.upload(calls), state="uploaded")
            if remote is None:
                job = self.store.change(job, state="submitting")
                remote = await api.create(job.file_id or "", calls, job.job)
        except EndpointError:
            self.store.change(job, frees=True, state="given_up")  # the provider has no such job
            raise
        return self.store.change(job, remote_id=remote.id, state="submitted", counts=remote.json, window_ends=remote.window_ends)

    async def _look_twice(self, job: StoredBatch, api: BatchApi) -> tuple[RemoteJob | None, bool]:
        """Look for a job that may have been created: the job or null, and whether that is certain.

        A provider's list may lag behind; two that agree count. Where jobs carry no label, one with as many calls is ours if its
        results have our ids, which can be read once it has ended.
        """
        known, is_certain = {other.remote_id for other in self.store.jobs()}, True
        for number in range(2):
            if number:
                await asyncio.sleep(longest_pause_s())
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
                found = read_lines(lines, self.store.calls(job.job), job.entry)
                if (found.rows or found.failed or found.free) and not found.rules["unknown_id"]:
                    return remote, True
        return None, is_certain

    async def _collect(self, job: StoredBatch, api: BatchApi) -> BatchNews:
        remote = await api.poll(job.remote_id or "")
        if remote is None:
            return _note(
                job, f"the provider has no {job.remote_id} any more; moodflow batches give-up {job.job[:12]} frees its calls"
            )
        job = self.store.change(job, counts=remote.json, window_ends=remote.window_ends or job.window_ends)
        if not remote.has_ended:
            return _note(job, f"{remote.id} is {remote.status}")
        if remote.status == "failed" and not remote.results:
            self.store.change(job, frees=True, state="failed")
            return _note(job, f"the provider refused it as a whole: {'; '.join(remote.errors) or 'no reason given'}", freed=job.n)
        lines, is_whole = await api.read(remote)
        calls = self.store.calls(job.job, "open")
        outcome = read_lines(lines, calls, job.entry, self.store.calls(job.job))
        outcome.is_whole &= is_whole
        self.store.keep(job, outcome)
        if not outcome.is_whole:
            return _note(job, "its files are not whole; what was read is kept, and it can be collected again", outcome)
        left = len(calls) - len(outcome.rows) - len(outcome.failed)
        return _note(job, f"{remote.id} is {remote.status}: {len(outcome.rows):,} replies", outcome, freed=left)


def _note(job: StoredBatch, text: str, outcome: Outcome | None = None, freed: int = 0) -> BatchNews:
    came = outcome or Outcome()
    refused = "".join(f"; {lines:,} lines refused: {rule}" for rule, lines in came.rules.items())
    failed = f"; {len(came.failed):,} failed" if came.failed else ""
    again = f"; {freed:,} still to be asked" if freed else ""
    return BatchNews(
        jobs=(),
        answered=len(came.rows),
        failed=len(came.failed),
        freed=freed,
        rules=dict(came.rules),
        notes=(f"batch {job.job[:12]}: {text}{failed}{again}{refused}",),
    )


def add_up(news: Iterable[BatchNews]) -> BatchNews:
    """Return what was done altogether."""
    listed = list(news)
    rules = {rule for each in listed for rule in each.rules}
    return BatchNews(
        jobs=(),
        **{name: sum(getattr(each, name) for each in listed) for name in ("answered", "failed", "freed")},
        rules={rule: sum(each.rules.get(rule, 0) for each in listed) for rule in sorted(rules)},
        notes=tuple(note for each in listed for note in each.notes),
    )


def _refused(job: StoredBatch, store: BatchStore) -> EndpointError:
    return EndpointError(
        "the provider refused these calls as a whole before",
        where=f"batch {job.job[:12]}, model {job.entry.name}, base URL {job.entry.base_url}",
        got="; ".join(store.describe(job).errors) or "no reason given",
        next_step=f"correct the cause; moodflow batches give-up {job.job[:12]} has the next run submit them again",
    )
