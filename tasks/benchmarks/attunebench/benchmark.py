"""AttuneBench 1.0."""

from schemas.benchmark import Benchmark
from schemas.question_types import QuestionTypeRow
from schemas.tables.layers import gold_layer

ATTUNEBENCH = Benchmark(
    "attunebench",
    place=4,
    datasets="tasks.benchmarks.attunebench.datasets.conversations:DATASETS",
    solvers="tasks.benchmarks.attunebench.annotate:SOLVERS",
    question_types="tasks.benchmarks.attunebench.benchmark:QUESTION_TYPES",
    metrics="tasks.benchmarks.attunebench.metrics.conversation:METRICS",
    layers="tasks.benchmarks.attunebench.benchmark:LAYERS",
    sections="tasks.benchmarks.attunebench.section:SECTIONS",
    exhibits="tasks.benchmarks.attunebench.exhibits:EXHIBITS",
    exchanges="tasks.benchmarks.attunebench.exchange:EXCHANGES",
)

QUESTION_TYPES = (QuestionTypeRow("annotation", "text", (), has_prompt=False),)
TURNS, WHOLE = "turn_annotations", "conversation_annotations"
LAYERS = (
    gold_layer(TURNS, "tasks.benchmarks.attunebench.conversation:TurnAnnotations"),
    gold_layer(WHOLE, "tasks.benchmarks.attunebench.conversation:ConversationAnnotations"),
)
