"""A process that asks 200 calls through the journal and prints the answers and how many calls it sent."""

import asyncio
import json
import sys
from pathlib import Path

from tasks.models.journal.journal import Journal, JournaledChat
from tests.tasks.models.making_calls import Pauses, client, entry, request

CALLS = 200


async def ask_all(path: Path, base_url: str) -> None:
    async with Journal(path) as journal, client(entry(base_url), Pauses()) as http:
        chat = JournaledChat(http, journal)
        calls = [request(f"call {number}", base_url=base_url) for number in range(CALLS)]
        replies = await asyncio.gather(*map(chat, calls))
    sys.stdout.write(json.dumps({"texts": [reply.text for reply in replies], "sent": chat.counts.sent}))


if __name__ == "__main__":
    asyncio.run(ask_all(Path(sys.argv[1]), sys.argv[2]))
