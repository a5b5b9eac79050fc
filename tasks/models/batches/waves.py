"""The client of a run in batch mode: it sends nothing, and notes what a batch is to ask."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.chat import ChatReply, ChatRequest, Keep, KeepingChat, ModelEntry
from schemas.documents.batches import WaitingRun
from tasks.models.batches.limits import is_too_large, limits_at
from tasks.models.batches.messages import without_counterpart
from tasks.models.batches.store import BatchStore
from tasks.models.cost import BudgetAccount, Reservation
from tasks.models.http.failures import BUDGET_SPENT
from tasks.models.journal.journal import WAITING, Journal
from tasks.text.number_format import counted, listed


@dataclass(eq=False)
class WaveChat:
    """Answers that a call waits, and notes it, unless it was let through, a batch brought its failure, or the budget is spent."""

    chat: KeepingChat
    entry: ModelEntry
    journal: Journal
    store: BatchStore
    account: BudgetAccount | None = None
    to_file: bool = False
    noted: dict[str, ChatRequest] = field(default_factory=dict)
    """Calls of this pass, by key."""
    sent: dict[str, ChatReply] = field(default_factory=dict)
    """Replies of this process to calls that were let through, and failures that a batch brought, by key."""
    told: set[str] = field(default_factory=set)
    """Keys of these failures."""
    _live: set[str] = field(default_factory=set)
    _reserved: dict[str, Reservation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._limits = limits_at(None if self.to_file else self.entry.base_url)
        # What goes to a file, or is said in another API's form, may not go live.
        self.may_send = not self.to_file and self._limits.form == "openai"

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Answer a request without sending it, if it was not let through."""
        key = request.key
        # A call that a batch has comes here only if it is to be sent all the same.
        if self.may_send and (key in self._live or self.journal.is_open(key)):
            reply: ChatReply | None = await self.chat(request, keep)
        else:
            reply = self._known(request)
            if reply is None and self._reserve(request):
                self.noted[key] = request
                return WAITING
        reply = reply or ChatReply(failure="budget", error=BUDGET_SPENT)
        self._release(key, reply)
        self.sent[key] = reply
        return reply

    def groups(self) -> Mapping[ModelEntry, list[ChatRequest]]:
        """Return what was noted, by model, and forget it."""
        groups: dict[ModelEntry, list[ChatRequest]] = {}
        for request in self.noted.values():
            entry = self.entry.model_copy(update={"name": request.model, "identity": request.identity})
            groups.setdefault(entry, []).append(request)
        self.noted = {}
        return groups

    def let_through(self, requests: Iterable[ChatRequest]) -> None:
        """Have these calls sent when they are asked for again."""
        for request in requests:
            self._live.add(request.key)
            self._release(request.key, WAITING)  # a live call reserves at its own price

    def settle(self) -> None:
        """Replace what was reserved for calls by what they have used, where a batch brought their replies."""
        for key in [*self._reserved]:
            if reply := self.journal.get(key):
                self._release(key, reply)

    def _reserve(self, request: ChatRequest) -> bool:
        """Return whether the budget allows a call, for which it reserves at the price of batches."""
        if self.account and request.key not in self._reserved:
            if not (reserved := self.account.reserve(request, "batch")):
                return False
            self._reserved[request.key] = reserved
        return True

    def _release(self, key: str, reply: ChatReply) -> None:
        if self.account and (reserved := self._reserved.pop(key, None)):
            self.account.settle(reserved, reply)

    def _known(self, request: ChatRequest) -> ChatReply | None:
        """Return what is known of a call without an answer that counts; null: it is to be asked."""
        if (reply := self.store.failure(request.key)) is not None:
            self.told.add(request.key)
            return reply
        if self._limits.form == "anthropic" and (left := without_counterpart(request.body())):
            hint = "; --set models.dialect.unsent=[json_schema] leaves out a schema" if "response_format" in left else ""
            return ChatReply(failure="http_4xx", error=f"not sent: the Messages API has no {', '.join(left)}{hint}")
        if is_too_large(request, self._limits):
            return ChatReply(failure="context_too_long", error="not sent: larger than a call of a batch may be")
        # It answers a part of the prompt, and a batch would again.
        stored = self.journal.get(request.key)
        return stored if stored and stored.paid_as in ("batch", "file") else None


def waiting_words(waiting: WaitingRun) -> str:
    """Return in one sentence what a run waits for."""
    batches = [counted(len(waiting.jobs), "batch", "batches")] if waiting.jobs or not waiting.files else []
    return f"{counted(waiting.calls.waiting, 'call')} wait in {listed([*batches, *waiting.files])}"
