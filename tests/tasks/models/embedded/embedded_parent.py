"""A process that runs the embedded server, has it restarted once, prints both process ids and waits to be killed."""

import asyncio
import os
import signal
import sys

import httpx

from tasks.models.embedded.serving import EmbeddedServer, serve_embedded


async def restarted(server: EmbeddedServer) -> None:
    """Wait until the server was restarted and answers."""
    async with asyncio.timeout(300), httpx.AsyncClient(trust_env=False) as client:
        while True:
            await asyncio.sleep(0.05)
            try:
                if server.restarts and (await client.get(server.base_url.replace("/v1", "/health"))).is_success:
                    return
            except httpx.TransportError:
                pass  # not listening yet


async def wait() -> None:
    async with serve_embedded(tell=lambda _: None) as server:
        first = server.pid
        os.kill(first, signal.SIGKILL)
        await restarted(server)
        sys.stdout.write(f"{first} {server.pid}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(wait())
