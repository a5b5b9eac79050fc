"""The items that ship with MoodFlow: one small dataset per task of the paper."""

from schemas.dataset import BundledFile, DatasetSpec
from schemas.vocabulary import QuestionType
from tasks.datasets.own_items import REQUIRED, adapt_item_record

CANARY = "moodflow:bundled:87ecc720-8ff7-4708-a4c0-faf471c54f22"
"""Stands in every record of every bundled file, so that training sets can be searched for it; see data/bundled/README.md."""

TASKS: dict[str, QuestionType] = {
    "bias_detection": "single_choice",
    "morality_detection": "single_choice",
    "content_safety": "single_choice",
    "information_security": "single_choice",
    "user_safety": "single_choice",
    "high_risk_harmful_behavior": "single_choice",
    "text_classification": "single_choice",
    "text_matching": "single_choice",
    "extractive_reading_comprehension": "extractive",
    "word_sense_disambiguation": "single_choice",
    "reading_comprehension": "multiple_answer",
    "textual_entailment": "single_choice",
    "simple_causal_reasoning": "single_choice",
    "coreference_resolution": "single_choice",
    "multi_turn_dialogue_reasoning": "single_choice",
    "first_order_logic_reasoning": "ranking",
    "complex_logical_reasoning": "single_choice",
    "summarization": "judged_summary",
    "daily_scenario_qa": "single_choice",
    "commonsense_qa": "single_choice",
    "physical_commonsense": "single_choice",
    "human_cognition_exam": "single_choice",
    "multitask_knowledge_qa": "single_choice",
    "truthfulness_qa": "open_ended",
    "sentiment_polarity": "single_choice",
    "coarse_emotion_recognition": "single_choice",
    "irony_detection": "single_choice",
    "metaphor_detection": "single_choice",
    "fine_grained_emotion_recognition": "multiple_answer",
    "complex_scenario_emotion_recognition": "single_choice",
    "emotion_cause_analysis": "single_choice",
    "emotion_intensity_understanding": "single_choice",
    "emotion_strategy_selection": "single_choice",
    "empathetic_expression": "single_choice",
    "contextual_empathetic_response": "single_choice",
    "eq_test": "questionnaire",
    "interpersonal_relationship_test": "questionnaire",
    "effective_communication_test": "questionnaire",
    "degree_of_personalization": "single_choice",
    "sequence_order_recall": "ordered_recall",
    "long_term_conversation_recall": "ranking",
}


def _describe(task: str, question_type: QuestionType) -> DatasetSpec:
    return DatasetSpec(
        id=f"mini_{task}",
        title=f"Bundled items: {task.replace('_', ' ')}",
        files=(BundledFile(name=f"{task}.jsonl"),),
        record_format="jsonl",
        adapter=adapt_item_record,
        question_types=(question_type,),
        languages=("en", "zh"),
        licence="Apache-2.0",
        paper="none: written for MoodFlow, see data/bundled/README.md",
        required=("item_id", *REQUIRED),
        evaluation_version="1.0",
        redistributable=True,
        canary=CANARY,
        differences=("Our own items in place of the datasets the paper uses for this task; too few to rank models.",),
    )


BUNDLED = tuple(_describe(task, question_type) for task, question_type in TASKS.items())
