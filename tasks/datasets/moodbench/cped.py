"""CPED: which of 13 emotions a line of a Chinese television series expresses."""

from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from tasks.datasets.options import find_gold, label_item
from tasks.datasets.pinned_files import moodbench_file

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


def adapt_cped(record: Record) -> Item:
    """One line of a TV series, with its scene and speaker: the same words may be said in different moods. `subset`: scene."""
    fields = record.fields
    known = [text for text in (GENDERS[fields["Gender"]], AGES[fields["Age"]]) if text]
    person = f"{fields['Speaker']}（{'，'.join(known)}）" if known else fields["Speaker"]
    context = f"场景：{SCENES[fields['Scene']]}\n说话人：{person}\n台词：{fields['Utterance'].strip()}"
    gold = find_gold(CPED_INDICES, fields["Emotion"])
    item = label_item("zh", context, "说话人说这句台词时的情绪是哪一种？", tuple(CPED_EMOTIONS.values()), gold)
    unmatched = () if fields["Emotion"] in CPED_UNMATCHED else None
    return item.model_copy(update={"subset": fields["Scene"], "reference_gold_indices": unmatched})


CPED = DatasetSpec(
    id="cped",
    title="CPED",
    files=(moodbench_file("emo_ability/emo_recognition/CPED_txtcsv/test_split.csv"),),
    record_format="csv",
    adapter=adapt_cped,
    languages=("zh",),
    licence="Apache-2.0",
    paper="Chen et al. 2022, CPED: A Large-Scale Chinese Personalized and Emotional Dialogue Dataset, arXiv:2205.14727",
    required=("Speaker", "Gender", "Age", "Scene", "Emotion", "Utterance"),
    expected_rows=300,
    redistributable=True,
    differences=(
        "All 13 labels can be answered; the released list of options lacks those of 127 rows (highest possible 57.7 %).",
        "Scene and speaker are shown: one text occurs three times with three labels, which they tell apart.",
        "The sample holds single lines; what was said before them is not in the file.",
        "The released weights count this score in three places; it counts once here, as in the paper.",
    ),
)
