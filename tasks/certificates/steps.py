"""The step of a certificate that asks the judge."""

import asyncio
from typing import Any

from schemas.chat import Chat
from schemas.tables.ratings import CertificateRatings
from schemas.worker_pool import ProgressListener, RunJobs
from tasks.certificates.asking import CertifyJob, ask_judge
from tasks.judging.executor import Judge
from tasks.lake.lake import Lake
from tasks.steps import step, up_to_date


@step("certify {job.title}")
async def rate_texts(job: CertifyJob, lake: Lake, chat: Chat, run_jobs: RunJobs, listener: ProgressListener) -> Any:
    """Ask a judge about texts that people rated and return the PartitionRef; a failed call leaves the partition incomplete."""
    if stored := lake.find(job.key):
        return up_to_date(stored)
    listener.expect(len(job.calls))
    given = await ask_judge(job, Judge(job.judge, job.rubric, chat, listener.on_reply), run_jobs)
    complete = not (given["parse_status"] == "failed").any()
    return await asyncio.to_thread(lake.write, job.key, given, CertificateRatings, complete=complete)
