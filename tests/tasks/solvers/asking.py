"""Ask items in setting `base` as the infer stage does, without a lake."""

from collections.abc import Sequence

import polars as pl

from schemas.chat import Chat, ChatReply, ModelEntry
from schemas.item import Item
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.plain import ask_as_it_is
from tasks.solvers.presentation import Presentation
from tasks.solvers.run import BuiltContexts, Listeners, make_tables, run_solver
from tasks.solvers.state import AskedItem, Call, RoleModel, SolverOptions, SolverResources


class Replies(list[ChatReply]):
    """A progress listener that keeps the replies in the order they came, and counts what was announced."""

    expected = 0

    def expect(self, calls: int) -> None:
        self.expected += calls

    def on_reply(self, reply: ChatReply) -> None:
        self.append(reply)


async def ask_item(item: Item, model: ModelEntry, chat: Chat) -> Call:
    """The one call about an item."""
    resources = SolverResources({"tested": RoleModel(model, chat)})
    (call,) = (await ask_as_it_is(AskedItem("item", item), SolverOptions("base"), resources, 0)).calls
    return call


async def ask_base(
    presentations: Sequence[Presentation], model: ModelEntry, chat: Chat, pool: WorkerPool, replies: Replies | None = None
) -> pl.DataFrame:
    """Rows of `responses`."""
    resources = SolverResources({"tested": RoleModel(model, chat)})
    listeners: Listeners = {"tested": Replies() if replies is None else replies}
    outputs = await run_solver(presentations, BuiltContexts(), SolverOptions("base"), resources, pool.do_all, listeners)
    return make_tables(outputs)["responses"]
