"""A process that journals replies one after the other and prints each key once it is durable; a test kills it."""

import asyncio
import sys
from itertools import count
from pathlib import Path

from schemas.chat import ChatReply
from tasks.models.journal.journal import Journal
from tests.tasks.models.making_calls import request


async def write(path: Path) -> None:
    async with Journal(path) as journal:
        for number in count():
            call = request(f"call {number}")
            await journal.write(call, ChatReply(text=f"answer {number}"))
            sys.stdout.write(f"{call.key}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
