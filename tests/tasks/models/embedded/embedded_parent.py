"""A process that runs the embedded server, prints its process id and waits to be killed."""

import asyncio
import sys

from tasks.models.embedded.serving import serve_embedded


async def wait() -> None:
    async with serve_embedded(tell=lambda _: None) as server:
        sys.stdout.write(f"{server._started.pid}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(wait())
