"""Which of many emotions a comment, a tweet or a line of dialogue expresses: GoEmotions, EDOS, CPED, SemEval-2018 Task 1."""

from schemas.item import Item, Record
from tasks.benchmarks.moodbench.datasets.release import moodbench_entry, moodbench_file
from tasks.datasets.options import choice

# The released taxonomy in its own order: labels in the data are positions in this list.
EMOTIONS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire"),
    *("disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy"),
    *("love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise"),
    *("neutral",),
)


def adapt_goemotions(record: Record) -> Item:
    """`labels` lists positions in the taxonomy."""
    return Item(
        question_type="multiple_answer",
        context=record.fields["text"].strip(),
        question="Which emotions does the writer of this comment express? Name all that apply, or neutral if there is none.",
        options=EMOTIONS,
        gold_indices=tuple(sorted(map(int, record.fields["labels"].split(",")))),
    )


GOEMOTIONS = moodbench_entry(
    id="goemotions",
    title="GoEmotions",
    files=(moodbench_file("emo_ability/emo_recognition/0730go_emotions_tsvjson/test.tsv"),),
    columns=("text", "labels", "comment_id"),
    adapter=adapt_goemotions,
    question_types=("multiple_answer",),
    licence="Apache-2.0",
    paper="Demszky et al. 2020, arXiv:2005.00547",
    expected_rows=301,
)

# EDOS: 32 emotions of EmpatheticDialogues, 8 intents of its listeners, neutral; in the order of `ed_emotion_index`.
EDOS_CLASSES = (
    *("afraid", "angry", "annoyed", "anticipating", "anxious", "apprehensive", "ashamed", "caring", "confident", "content"),
    *("devastated", "disappointed", "disgusted", "embarrassed", "excited", "faithful", "furious", "grateful", "guilty"),
    *("hopeful", "impressed", "jealous", "joyful", "lonely", "nostalgic", "prepared", "proud", "sad", "sentimental"),
    *("surprised", "terrified", "trusting", "agreeing", "acknowledging", "encouraging", "consoling", "sympathizing"),
    *("suggesting", "questioning", "wishing", "neutral"),
)

EDOS = moodbench_entry(
    id="edos",
    evaluation_version="1.1",
    title="EDOS",
    files=(moodbench_file("emo_ability/emo_recognition/EDOS_1M.csv"),),
    adapter=choice(
        "Which of these emotions or communicative intents fits this line from a film dialogue best?",
        {name: name for name in EDOS_CLASSES},
        gold="ed_emotion",
        context="{text}",
        cluster="dialogue {dialogue_id}",
    ),
    licence="CC BY 4.0",
    paper="Welivita et al. 2021, A Large-Scale Dataset for Empathetic Response Generation, EMNLP 2021",
    ambiguous=("2 items: rows 189 and 212 differ in capitals and punctuation only and have two labels.",),
)

# CPED: label of the data -> option; positives, neutral, negatives, as in its paper.
CPED_EMOTIONS = {
    "happy": "高兴",
    "grateful": "感激",
    "relaxed": "放松",
    "positive-other": "其他积极情绪",
    "neutral": "中性",
    "anger": "愤怒",
    "sadness": "悲伤",
    "fear": "恐惧",
    "depress": "沮丧",
    "disgust": "厌恶",
    "astonished": "惊讶",
    "worried": "担忧",
    "negative-other": "其他消极情绪",
}

# Labels for which the option list of the released code has another word, so that no answer can match.
CPED_UNMATCHED = frozenset({"anger", "sadness", "fear", "depress", "disgust", "positive-other", "negative-other"})

SCENES = {
    "home": "家里",
    "office": "办公室",
    "school": "学校",
    "mall": "商场",
    "hospital": "医院",
    "restaurant": "餐厅",
    "sports-venue": "运动场所",
    "entertainment-venue": "娱乐场所",
    "car": "车上",
    "outdoor": "户外",
    "other-venue": "其他场所",
}

GENDERS = {"female": "女", "male": "男", "unknown": ""}
AGES = {"children": "儿童", "teenager": "少年", "young": "青年", "middle-aged": "中年", "elderly": "老年", "unknown": ""}


def _read_cped(record: Record) -> dict[str, str]:
    """Describe scene and speaker: the same words may be said in different moods."""
    fields = record.fields
    traits = [text for text in (GENDERS[fields["Gender"]], AGES[fields["Age"]]) if text]
    return {"place": SCENES[fields["Scene"]], "person": fields["Speaker"] + (f"（{'，'.join(traits)}）" if traits else "")}


_ask_cped = choice(
    "说话人说这句台词时的情绪是哪一种？",
    CPED_EMOTIONS,
    gold="Emotion",
    read=_read_cped,
    context="场景：{place}\n说话人：{person}\n台词：{Utterance}",
    language="zh",
    subset="{Scene}",
    cluster="{Dialogue_ID}",
)


def adapt_cped(record: Record) -> Item:
    """One line of a TV series."""
    unmatched = () if record.fields["Emotion"] in CPED_UNMATCHED else None
    return _ask_cped(record).model_copy(update={"reference_gold_indices": unmatched})


CPED = moodbench_entry(
    id="cped",
    evaluation_version="1.1",
    title="CPED",
    files=(moodbench_file("emo_ability/emo_recognition/CPED_txtcsv/test_split.csv"),),
    adapter=adapt_cped,
    languages=("zh",),
    licence="Apache-2.0",
    paper="Chen et al. 2022, CPED: A Large-Scale Chinese Personalized and Emotional Dialogue Dataset, arXiv:2205.14727",
)

# SemEval-2018 Task 1, E-c: emotions as its annotators were shown them, in the order of the columns.
EMOTION_MEANINGS = {
    "anger": "annoyance, rage",
    "anticipation": "interest, vigilance",
    "disgust": "disinterest, dislike, loathing",
    "fear": "apprehension, anxiety, terror",
    "joy": "serenity, ecstasy",
    "love": "affection",
    "optimism": "hopefulness, confidence",
    "pessimism": "cynicism, no confidence",
    "sadness": "pensiveness, grief",
    "surprise": "distraction, amazement",
    "trust": "acceptance, liking, admiration",
}

# Eleven items per tweet, one per emotion.
_EMOTION_QUESTIONS = [
    choice(
        f"Is {emotion} (which also includes {meanings}) present or absent in this tweet?",
        {"1": "present", "0": "absent"},
        gold=emotion,
        shared="tweet",
        # Line breaks are written as backslash and n.
        read=lambda record: {"tweet": record.fields["tweet"].replace("\\n", "\n").strip()},
        context="{tweet}",
        subset=emotion,
    )
    for emotion, meanings in EMOTION_MEANINGS.items()
]


SEMEVAL2018_TASK1 = moodbench_entry(
    id="semeval2018_task1",
    evaluation_version="1.1",
    title="SemEval-2018 Task 1, emotions in tweets",
    files=(moodbench_file("emo_ability/emo_understanding/SemEval-2018_Task_1_txt/E-c/E-c-En-test-gold.txt"),),
    file_format="tsv_plain",
    columns=("id", "tweet", *EMOTION_MEANINGS),
    adapter=lambda record: [ask(record) for ask in _EMOTION_QUESTIONS],
    licence="(c) 2018 NRC Canada: cite, do not redistribute",
    paper="Mohammad et al. 2018, SemEval-2018 Task 1: Affect in Tweets",
)
