"""A process that asks 200 calls through the journal and prints a line per reply, then its counts; tests start it and kill it."""

import asyncio
import sys
from pathlib import Path

from schemas.chat import ChatRequest
from tasks.models.journal.journal import Journal, JournaledChat
from tests.tasks.models.making_calls import Pauses, client, entry, request

CALLS = 200
CONCURRENCY = 8


def calls(base_url: str) -> list[ChatRequest]:
    return [request(f"call {number}", base_url=base_url) for number in range(CALLS)]


async def ask_all(path: Path, base_url: str) -> None:
    async with Journal(path) as journal, client(entry(base_url, concurrency=CONCURRENCY), Pauses()) as http:
        chat = JournaledChat(http, journal)

        async def ask(call: ChatRequest) -> None:
            reply = await chat(call)
            say(f"{call.messages[0].content}: {reply.text}")

        await asyncio.gather(*(ask(call) for call in calls(base_url)))
        say(f"{chat.counts.sent} sent {chat.counts.from_journal} from the journal {chat.counts.failed} failed")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(ask_all(Path(sys.argv[1]), sys.argv[2]))
