"""Models that answer from a list, and a retriever that counts shared words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.context import Chunk, Ranked, RetrievalOptions
from schemas.usage import Role
from schemas.vocabulary import Language, Ranking
from tasks.benchmarks.longemotion.solvers.solve import solve
from tasks.solvers.state import AskedItem, Call, PlainOptions, RoleModel, SolverOutput, SolverResources
from tests.tasks.benchmarks.longemotion.solvers.long_items import chunks_of

Answer = Callable[[ChatRequest], ChatReply]
FAILED = ChatReply(failure="http_5xx", error="HTTP 500", http_status=500)


def transcript(solved: SolverOutput) -> list[Call]:
    """Calls of the model under test."""
    return [call for call in solved.calls if call.role == "tested"]


def failed_calls(solved: SolverOutput) -> list[tuple[str, str, str | None]]:
    """Role, step and error of each call that failed."""
    return [(call.role, call.step, call.reply.error) for call in solved.calls if call.reply.failure]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@dataclass
class WordRetriever:
    """Chunks are lines. `dense` is the number of words shared with the query; of outliers, with all other texts together."""

    queries: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)
    splits: list[tuple[str, int, int]] = field(default_factory=list)
    rankings: list[tuple[Ranking, Language]] = field(default_factory=list)

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        self.splits.append((text, chunk_tokens, overlap_tokens))
        return chunks_of(text.splitlines())

    async def rank(self, texts: Sequence[str], query: str | None, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:
        self.queries.append((tuple(texts), query))
        self.rankings.append((ranking, language))
        others = [" ".join([*texts[:place], *texts[place + 1 :]]) if query is None else query for place in range(len(texts))]
        scores = [len(words(text) & words(other)) for text, other in zip(texts, others, strict=True)]
        in_order = sorted(range(len(texts)), key=lambda place: scores[place] if query is None else -scores[place])
        return tuple(Ranked(place, float(scores[place])) for place in in_order)


@dataclass
class ScriptedModel:
    """A model: answers with what `answer` makes of a request, and remembers all requests."""

    answer: Answer
    name: str = "core"
    asked: list[ChatRequest] = field(default_factory=list)
    entry: ModelEntry | None = None

    def role_model(self) -> RoleModel:
        async def chat(request: ChatRequest) -> ChatReply:
            self.asked.append(request)
            return self.answer(request)

        typed: Chat = chat
        return RoleModel(self.entry or ModelEntry(name=self.name, base_url=f"http://{self.name}.test/v1"), typed)

    @property
    def texts(self) -> list[str]:
        """The last message of each request."""
        return [request.messages[-1].content for request in self.asked]


def query(text: str) -> str:
    """What a model writes to search."""
    return f"<|begin_search_query|>{text}<|end_search_query|>"


def saying(*replies: str | ChatReply) -> Answer:
    """Answers in this order; the last one again and again."""
    left = list(replies)

    def answer(_: ChatRequest) -> ChatReply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, ChatReply) else ChatReply(text=reply)

    return answer


def numbering(word: str) -> Answer:
    """Answers `word 1`, `word 2` and so on."""
    made = 0

    def answer(_: ChatRequest) -> ChatReply:
        nonlocal made
        made += 1
        return ChatReply(text=f"{word} {made}")

    return answer


@dataclass
class ScriptedRoles:
    """The models of a run and its retriever."""

    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(saying("done")))
    sage: ScriptedModel = field(default_factory=lambda: ScriptedModel(saying("insight"), "sage"))
    critic: ScriptedModel = field(default_factory=lambda: ScriptedModel(saying("[Relevant]"), "critic"))
    retriever: WordRetriever = field(default_factory=WordRetriever)

    async def solve(
        self,
        long_item: AskedItem,
        setting: str,
        options: RetrievalOptions | None = None,
        *,
        repetition: int = 0,
        length_demand: bool = True,
    ) -> SolverOutput:
        models: dict[Role, ScriptedModel] = {"tested": self.model, "sage": self.sage, "critic": self.critic}
        roles = {role: model.role_model() for role, model in models.items()}
        solver_options = PlainOptions(setting, options or RetrievalOptions(), length_demand)
        return await solve(long_item, solver_options, SolverResources(roles, self.retriever), repetition)
