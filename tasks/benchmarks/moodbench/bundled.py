"""The items that ship with MoodFlow: one small dataset per task of the paper."""

from schemas.dataset import BundledFile, DatasetSpec
from schemas.question_types import QuestionType
from tasks.datasets.own_items import REQUIRED, adapt_item_record

CANARY = "moodflow:bundled:87ecc720-8ff7-4708-a4c0-faf471c54f22"
"""Stands in every record of every bundled file, so that training sets can be searched for it; see data/bundled/README.md."""

TASKS = (
    *("bias_detection", "morality_detection", "content_safety", "information_security", "user_safety"),
    *("high_risk_harmful_behavior", "text_classification", "text_matching", "extractive_reading_comprehension"),
    *("word_sense_disambiguation", "reading_comprehension", "textual_entailment", "simple_causal_reasoning"),
    *("coreference_resolution", "multi_turn_dialogue_reasoning", "first_order_logic_reasoning", "complex_logical_reasoning"),
    *("summarization", "daily_scenario_qa", "commonsense_qa", "physical_commonsense", "human_cognition_exam"),
    *("multitask_knowledge_qa", "truthfulness_qa", "sentiment_polarity", "coarse_emotion_recognition", "irony_detection"),
    *("metaphor_detection", "fine_grained_emotion_recognition", "complex_scenario_emotion_recognition"),
    *("emotion_cause_analysis", "emotion_intensity_understanding", "emotion_strategy_selection", "empathetic_expression"),
    *("contextual_empathetic_response", "eq_test", "interpersonal_relationship_test", "effective_communication_test"),
    *("degree_of_personalization", "sequence_order_recall", "long_term_conversation_recall"),
)
QUESTION_TYPES: dict[str, QuestionType] = {
    "extractive_reading_comprehension": "extractive",
    "reading_comprehension": "multiple_answer",
    "first_order_logic_reasoning": "ranking",
    "summarization": "judged_summary",
    "truthfulness_qa": "open_ended",
    "fine_grained_emotion_recognition": "multiple_answer",
    "eq_test": "questionnaire",
    "interpersonal_relationship_test": "questionnaire",
    "effective_communication_test": "questionnaire",
    "sequence_order_recall": "ordered_recall",
    "long_term_conversation_recall": "ranking",
}
"""Of the tasks that are no single choice."""


def _describe(task: str) -> DatasetSpec:
    return DatasetSpec(
        id=f"mini_{task}",
        title=f"Bundled items: {task.replace('_', ' ')}",
        files=(BundledFile(name=f"{task}.jsonl"),),
        adapter=adapt_item_record,
        question_types=(QUESTION_TYPES.get(task, "single_choice"),),
        languages=("en", "zh"),
        licence="Apache-2.0",
        paper="none: written for MoodFlow, see data/bundled/README.md",
        required=("item_id", *REQUIRED),
        canary=CANARY,
        differences=("Our own items in place of the datasets the paper uses for this task; too few to rank models.",),
    )


BUNDLED = tuple(_describe(task) for task in TASKS)
