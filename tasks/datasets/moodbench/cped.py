"""Emotions of single utterances from closed sets: CPED, EDOS, SemEval-2018 Task 1."""

from collections.abc import Iterable

from schemas.item import Item, Record
from tasks.datasets.adapters.labels import find_gold, label_item

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
CPED_INDICES = {label: index for index, label in enumerate(CPED_EMOTIONS)}
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

# EDOS: 32 emotions of EmpatheticDialogues, 8 intents of its listeners, neutral; `ed_emotion_index` counts in this order.
EDOS_CLASSES = (
    *("afraid", "angry", "annoyed", "anticipating", "anxious", "apprehensive", "ashamed", "caring", "confident", "content"),
    *("devastated", "disappointed", "disgusted", "embarrassed", "excited", "faithful", "furious", "grateful", "guilty"),
    *("hopeful", "impressed", "jealous", "joyful", "lonely", "nostalgic", "prepared", "proud", "sad", "sentimental"),
    *("surprised", "terrified", "trusting", "agreeing", "acknowledging", "encouraging", "consoling", "sympathizing"),
    *("suggesting", "questioning", "wishing", "neutral"),
)
EDOS_INDICES = {name: index for index, name in enumerate(EDOS_CLASSES)}

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
TWEET_COLUMNS = ("id", "tweet", *EMOTION_MEANINGS)
PRESENCE = ("present", "absent")


def adapt_cped(record: Record) -> Iterable[Item]:
    """One line of a TV series, with its scene and speaker: the same words may be said in different moods. `subset`: scene."""
    fields = record.fields
    known = [text for text in (GENDERS[fields["Gender"]], AGES[fields["Age"]]) if text]
    person = f"{fields['Speaker']}（{'，'.join(known)}）" if known else fields["Speaker"]
    context = f"场景：{SCENES[fields['Scene']]}\n说话人：{person}\n台词：{fields['Utterance'].strip()}"
    gold = find_gold(CPED_INDICES, fields["Emotion"])
    item = label_item("zh", context, "说话人说这句台词时的情绪是哪一种？", tuple(CPED_EMOTIONS.values()), gold)
    unmatched = () if fields["Emotion"] in CPED_UNMATCHED else None
    return [item.model_copy(update={"subset": fields["Scene"], "reference_gold_indices": unmatched})]


def adapt_edos(record: Record) -> Iterable[Item]:
    """One turn of a film dialogue. A row whose `ed_emotion` and `ed_emotion_index` disagree yields no gold."""
    fields = record.fields
    gold = find_gold(EDOS_INDICES, fields["ed_emotion"])
    if gold is not None and str(gold[0]) != fields["ed_emotion_index"]:
        gold = None
    question = "Which of these emotions or communicative intents fits this line from a film dialogue best?"
    return [label_item("en", fields["text"].strip(), question, EDOS_CLASSES, gold)]


def adapt_semeval2018_task1(record: Record) -> Iterable[Item]:
    """Eleven items per tweet, one per emotion: "1" = present, "0" = absent. `subset`: the emotion.

    Line breaks are written as backslash and n.
    """
    tweet = record.fields["tweet"].replace("\\n", "\n").strip()
    items = []
    for emotion, meanings in EMOTION_MEANINGS.items():
        question = f"Is {emotion} (which also includes {meanings}) present or absent in this tweet?"
        gold = find_gold({"1": 0, "0": 1}, record.fields[emotion])
        item = label_item("en", tweet, question, PRESENCE, gold)
        items.append(item.model_copy(update={"subset": emotion}))
    return items
