"""Adapters on records of our own wording, shaped like the released ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from schemas.errors import SourceError
from schemas.item import Item, Record
from tasks.benchmarks.moodbench.datasets.reasoning import join_logiqa_lines
from tasks.benchmarks.moodbench.datasets.summaries import join_meetings
from tasks.datasets.building import build_of_records
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.options import order_matters
from tests.rows import each_row
from tests.tasks.datasets.real_datasets import adapt, make_items, right

POLARITIES = {1: "positive", 0: "negative"}
NLI = {"premise": " It rains.", "hypothesis": "It is wet."}
WIC = {"word": "draw", "sentence1": "She draws a horse.", "sentence2": "He drew the curtains.", "start1": 4, "end1": 9}
COPA = {"premise": "The kettle whistled.", "choice1": "The water boiled.", "choice2": "The lamp went out."}
IMDB = {"text": "Slow start.<br /><br />Then 1 < 2 <i>jokes</i>.<br/>"}
AG_NEWS = {"title": "Tea at \\$4", "description": " Prices\\rose  by\\\\a third.\\"}
MULTIRC = {"paragraph": "Ann has a cat.", "question": "Who?", "answer": "Ann", "idx": {"paragraph": 4, "question": 17}}


@each_row(
    ("name", "fields", "context", "label", "golds"),
    [
        (
            "copa",
            {**COPA, "question": "cause"},
            "The kettle whistled.",
            "label",
            {0: "The water boiled.", 1: "The lamp went out."},
        ),
        ("rte", NLI, "Text: It rains.\nStatement: It is wet.", "label", {0: "entailment", 1: "not entailment"}),
        ("mnli", NLI, "Premise: It rains.\nHypothesis: It is wet.", "label", {0: "entailment", 1: "neutral", 2: "contradiction"}),
        (
            *("ocnli", {"sentence1": "他昨天没睡", "sentence2": "他昨天醒着"}, "前提：他昨天没睡\n假设：他昨天醒着"),
            *("label", {0: "中立", 1: "蕴含", 2: "矛盾"}),
        ),
        (
            *("wic", WIC, "Sentence 1: She draws a horse.\nSentence 2: He drew the curtains."),
            *("label", {1: "same sense", 0: "different senses"}),
        ),
        (
            *("lcqmc", {"sentence1": "怎么煮鸡蛋", "sentence2": "鸡蛋要怎么煮？"}, "问句一：怎么煮鸡蛋\n问句二：鸡蛋要怎么煮？"),
            *("gold_label", {"1": "意思相同", "0": "意思不同"}),
        ),
        (
            *("qqp", {"question1": "How do I boil an egg?", "question2": ' What is an "egg"? '}),
            *('Question 1: How do I boil an egg?\nQuestion 2: What is an "egg"?', "is_duplicate"),
            {"1": "duplicates", "0": "not duplicates"},
        ),
        ("sst2", {"sentence": "it does n't drag . "}, "it does n't drag .", "label", POLARITIES),
        ("imdb", IMDB, "Slow start.\n\nThen 1 < 2 <i>jokes</i>.", "label", POLARITIES),
        ("thucnews", {"text": "今天天气晴朗。\n"}, "今天天气晴朗。", "label", {0: "教育", 5: "时政", 8: "股票", 9: "科技"}),
        ("ag_news", AG_NEWS, "Tea at $4\nPrices rose by a third.", "class", {"1": "World", "3": "Business"}),
        ("multirc", MULTIRC, "Ann has a cat.", "label", {1: "yes", 0: "no"}),
    ],
)
def test_a_label_stands_for_its_option(
    name: str, fields: dict[str, Any], context: str, label: str, golds: dict[Any, str]
) -> None:
    items = {value: adapt(name, {**fields, label: value}) for value in golds}
    assert {value: right(item) for value, item in items.items()} == {value: [gold] for value, gold in golds.items()}
    assert {(item.context, item.language) for item in items.values()} == {(context, "en" if context.isascii() else "zh")}
    assert adapt(name, {**fields, label: "-"}).gold_indices is None


CPED = {"Speaker": "小王", "Scene": "office", "Utterance": "好吧 ", "Emotion": "worried", "Dialogue_ID": "31_219"}
EDOS = {"text": "Hello .", "ed_emotion": "angry", "dialogue_id": "7"}
HELLASWAG = {
    "ctx": "[header] How to dry boots [title] [step] Open them. [step] Loosen the laces [twice].",
    "endings": ["[substeps] Wait.", "Wait. [title] Fill them. [step] Use paper.", "Sing.", "Run."],
    "source_id": "wikihow~1",
}
CMRC = {"context": "茶馆<br>开于1901年。", "question": "茶馆何时开业？"}
EMOBENCH = {
    "language": "en",
    "coarse_category": "complex",
    "scenario": "A parcel came.\n\n",
    "subject": "I",
    "emotion_choices": ["Joy", "Joy & Fear", "Fear"],
    "emotion_label": "Joy & Fear",
}
MOODBENCH = {
    **{f"option_{letter}": text for letter, text in zip("abcd", ("听她说", "换个话题", "讲笑话", "离开"), strict=True)},
    "category": "Personal Scenarios",
    "subcategory": "Emotional Support",
}
RECORD = {
    "passage": "Ann Lee met Bo Li.\n@highlight\nThey talked\n@highlight\nBo left",
    "query": "@placeholder went home.",
    "entities": ["Ann Lee", "Bo\u00a0Li", "Bo", "Bo Li"],
}
WSC = {"text": "Ann saw Eve when she waved , and she smiled .", "span1_text": "Ann", "span2_text": "she", "label": 1}
MUTUAL = {"article": "F: Is it 5: 30? M: Hm. F: So?", "options": ["M: No.", "M:  At 9.", "M: Pardon?", "M: Yes."], "answers": "B"}
FOLIO = {"premises": ["All cats purr. ", "Tom is a cat."], "conclusion": "Tom purrs.", "conclusion-FOL": "Purr(tom)"}
LOGIQA = {"label": "c", "text": "Some text.", "question": "Which?"}
VUA = {"sentence": "Time flies .", "w_index": "1", "label": "1", "POS": "VERB"}
MMLU = {"question": "1 + 1?", "options": ["1", "2", "3"], "answer_index": 1, "category": "math"}
BOOK = {"excerpt_text": "*One. * * * Two. Three.*\n\n", "segment_1": "*One.*", "segment_2": "*Three.*", "book_idx": 9}
SAFETY = {"id": 7, "question": " What helps one sleep?  ", "options": ["A walk", "A drum\nsolo"]}
LEVELS = ["完全不同意", "不同意", "中立", "同意", "完全同意"]
NUMBERED = ("one", "two", "three", "four")

ITEMS: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
    ("copa", {**COPA, "question": "effect", "label": 1}, {"subset": "effect", "question": "to be its effect?"}),
    ("wic", {**WIC, "label": 1}, {"question": '"draw"'}),
    ("thucnews", {"text": "今天", "label": 0}, {"question": "这篇新闻属于哪个类别？"}),
    ("multirc", {**MULTIRC, "label": 1}, {"subset": "4-17", "question": '\nQuestion asked: "Who?"\nProposed answer: "Ann"'}),
    (
        *("hellaswag", {**HELLASWAG, "label": "1"}),
        {
            "context": "How to dry boots\nOpen them.\nLoosen the laces [twice].",
            "options": ("Wait.", "Wait. Fill them. Use paper.", "Sing.", "Run."),
            "gold_indices": (1,),
            "subset": "wikihow",
        },
    ),
    (
        *("cmrc2018", {**CMRC, "answers": {"answer_start": [8, 8, 7], "text": ["1901年", "1901年", "于1901年"]}}),
        {"context": "茶馆<br>开于1901年。", "references": ("1901年", "于1901年")},
    ),
    (
        *("goemotions", {"text": "Thanks, [NAME], what a day! ", "labels": "27,0,15"}),
        {"context": "Thanks, [NAME], what a day!", "right": ["admiration", "gratitude", "neutral"]},
    ),
    (
        *("emobench1", EMOBENCH),
        {
            "question": "At the end of this story, what would I most likely feel?",
            "context": "A parcel came.",
            "right": ["Joy & Fear"],
            "subset": "complex",
        },
    ),
    ("emobench1", {**EMOBENCH, "language": "zh", "subject": "我"}, {"language": "zh", "question": "，我最有可能是什么感受？"}),
    (
        *("moodbench3", {**MOODBENCH, "text": "小林叹气。\n问题：她不说。\n问题:\n怎么做最好？", "gold": "D"}),
        {
            "context": "小林叹气。\n问题：她不说。",
            "question": "怎么做最好？",
            "right": ["离开"],
            "subset": "Personal Scenarios: Emotional Support",
        },
    ),
    ("edos", EDOS, {"gold_indices": (1,), "cluster": "dialogue 7"}),
    *(
        (
            *("cped", {**CPED, "Gender": gender, "Age": age}),
            {"context": f"场景：办公室\n说话人：{person}\n台词：好吧", "gold_indices": (11,), "reference_gold_indices": None},
        )
        for gender, age, person in (
            ("male", "young", "小王（男，青年）"),
            ("unknown", "elderly", "小王（老年）"),
            ("unknown", "unknown", "小王"),
        )
    ),
    (
        *("record", {**RECORD, "answers": ["Bo", "Bo\u00a0Li", "Bo Li"]}),
        {
            "context": "Ann Lee met Bo Li.\n- They talked\n- Bo left",
            "question": "Sentence: @placeholder went home.\nEntities:\n- Ann Lee\n- Bo Li\n- Bo",
            "references": ("Bo", "Bo Li"),
        },
    ),
    (
        *("wsc", {**WSC, "span2_index": 4}),
        {
            "context": "Ann saw Eve when **she** waved , and she smiled .",
            "question": 'Does the pronoun marked as **she** refer to "Ann"?',
            "right": ["yes"],
        },
    ),
    # 7 is one word early, as in one record of the release.
    *(
        ("wsc", {**WSC, "span2_index": index}, {"context": "Ann saw Eve when she waved , and **she** smiled ."})
        for index in (8, 7)
    ),
    (
        *("mutual", MUTUAL),
        {
            "context": "F: Is it 5: 30?\nM: Hm.\nF: So?",
            "options": ("M: No.", "M: At 9.", "M: Pardon?", "M: Yes."),
            "gold_indices": (1,),
        },
    ),
    *(
        (
            *("folio", {**FOLIO, "label": label}),
            {
                "context": "Premises:\n- All cats purr.\n- Tom is a cat.",
                "question_type": "ranking",
                "question": "Conclusion: Tom purrs.",
                "gold_indices": (place,),
            },
        )
        for place, label in enumerate(("True", "False", "Uncertain"))
    ),
    *(
        ("logiqa", {**LOGIQA, "options": printed}, {"options": options, "gold_indices": (2,)})
        for printed, options in (
            (["A.one", "B.two", "C.three", "D.four"], NUMBERED),
            (["A.one", "C.three", "B.two", "D.four"], NUMBERED),
            (["A one", "B? two", "C.three", "D. four"], NUMBERED),
            (["one", "B.two", "C.three", "four"], NUMBERED),
            (["A.one", "Shed B.3", "C.three", "D.four"], ("one", "Shed B.3", "three", "four")),
            (["A.one", "A two", "C.three", "D.four"], ("one", "A two", "three", "four")),
        )
    ),
    *(
        ("semeval2018_task3", {"Label": "1", "Tweet text": tweet}, {"context": shown, "gold_indices": (0,)})
        for tweet, shown in (
            ("Great, rain again #IRONY", "Great, rain again"),
            ("#Not what I wanted, #sarcasm!", "what I wanted, !"),
            ("He is #not happy #nothing #ironyoffate", "He is happy #nothing #ironyoffate"),
        )
    ),
    ("vua20", VUA, {"context": "Time *flies* .", "gold_indices": (0,), "subset": "VERB", "question": '"flies"'}),
    ("mmlu_pro", MMLU, {"gold_indices": (1,)}),
    (
        *("booksort", {**BOOK, "present_seg1_first": 0, "distance_bin": 250}),
        {
            "context": "One. * * * Two. Three.",
            "options": ("Three.", "One."),
            "gold_indices": (1,),
            "reference_gold_indices": (0,),
        },
    ),
    (
        *("safetybench_offensiveness", {**SAFETY, "answer": 1}),
        {"question": "What helps one sleep?", "item_id": "7", "options": ("A walk", "A drum solo"), "gold_indices": (1,)},
    ),
    *(("safetybench_offensiveness", {**SAFETY, "answer": answer}, {"gold_indices": None}) for answer in (None, 2, -1)),
    # A right answer printed twice.
    ("safetybench_offensiveness", {**SAFETY, "options": ["A", "B", "B"], "answer": 2}, {"gold_indices": None}),
    ("safetybench_offensiveness", {**SAFETY, "options": ["A", "B", "B"], "answer": 0}, {"gold_indices": (0,)}),
    # The key goes by the texts of the choices, not by the file's scores.
    ("eq60", {"Question": "我爱听。", "Choices": LEVELS[::-1], "Score": [1, 2, 3, 4, 5]}, {"option_points": (2, 1, 0, 0, 0)}),
]


@each_row(("name", "fields", "expected"), ITEMS)
def test_a_record_becomes_its_item(name: str, fields: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    item = adapt(name, fields)
    for attribute, value in expected.items():
        if attribute == "question":
            assert value in item.question
        else:
            assert (right(item) if attribute == "right" else getattr(item, attribute)) == value


@each_row(
    ("name", "fields", "error"),
    [
        ("moodbench3", {**MOODBENCH, "text": "小林叹气，说她有问题：很累。", "gold": "D"}, "not enough values to unpack"),
        ("lcsts", {"input": "别的文本。", "output": "摘要"}, "not enough values to unpack"),
    ],
)
def test_a_record_that_cannot_be_asked(name: str, fields: Mapping[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        adapt(name, fields)


@each_row(
    ("options", "matters"),
    [
        (("A和B均正确", "甲"), True),
        (("A，B和C均对", "甲", "乙"), True),
        (("B+C+D", "甲", "乙", "丙"), True),
        (("B+C+D", "甲", "乙"), False),
        (("$\\mathrm{C}，\\mathrm{D}$均是", "甲", "乙", "丙"), True),
        (("F or H", "F or L", "H or L"), False),
        (("A与B谁大无法判断", "甲"), False),
        (("A， D， A+D", "甲"), False),
        (("both A and B", "x"), True),
        (("None of the above choices .", "x"), True),
        (("以上都不对", "甲"), True),
        (("上述方法可以省时", "甲"), False),
        (("60岁以上均可", "甲"), False),
    ],
)
def test_order_matters_where_options_name_others(options: tuple[str, ...], matters: bool) -> None:
    assert order_matters(options) is matters


@each_row(
    ("language", "last", "fixed"),
    [
        ("en", "All of the above", True),
        ("en", "None of the above options.", True),
        ("en", "All of his friends above the shop", False),
        ("zh", "以上都是", True),
        ("zh", "都是", True),
        ("zh", "每周两次以上", False),
        ("zh", "都听他的", False),
    ],
)
def test_safetybench_fixes_the_order(language: str, last: str, fixed: bool) -> None:
    spec = find_dataset("safetybench_offensiveness")
    chosen = spec if language == "en" else spec.alternative
    assert chosen is not None
    assert chosen.adapter is not None
    item = chosen.adapter(Record({**SAFETY, "options": ["A walk", last], "answer": 0}, "file", 0))
    assert isinstance(item, Item)
    assert (item.language, item.fixed_order) == (language, fixed)


def test_ceval_reads_the_subject_from_the_folder() -> None:
    rows = {"question": "一加一等于____", "A": "2", "B": "3", "C": "4", "D": "5"}
    first, second = (
        adapt("ceval", {**rows, **changed}, file="law/val-00000-of-00001.parquet")
        for changed in ({"answer": "A"}, {"answer": "", "D": "以上都不对"})
    )
    assert (first.subset, first.gold_indices, first.options, first.fixed_order) == ("law", (0,), ("2", "3", "4", "5"), False)
    assert (second.gold_indices, second.fixed_order) == (None, True)


AGIEVAL = {"passage": "", "question": "Q", "options": ["(A)a", "  B. b", "C？ c", "(D)、d"]}


@each_row(
    ("label", "gold", "question_type", "reference"),
    [
        ("C", (2,), "single_choice", None),
        (["C"], (2,), "single_choice", ()),
        ("A C", (0, 2), "multiple_answer", ()),
        (["A", "C"], (0, 2), "multiple_answer", ()),
    ],
)
def test_agieval_labels(label: Any, gold: Any, question_type: str, reference: Any) -> None:
    item = adapt("agieval", {**AGIEVAL, "label": label}, file="jec-qa-ca.jsonl")
    assert item.options == ("a", "b", "c", "d")
    assert (item.gold_indices, item.question_type, item.reference_gold_indices) == (gold, question_type, reference)
    assert (item.language, item.context, item.subset) == ("zh", None, "jec-qa-ca")


@each_row(
    ("printed", "options"),
    [(["(A)A)7", "(B)B) 8", "(C)C)C)"], ("7", "8", "C)")), (["(A)A)7", "(B)A)8"], ("A)7", "A)8"))],
)
def test_agieval_strips_a_second_letter_all_have(printed: list[str], options: tuple[str, ...]) -> None:
    assert adapt("agieval", {**AGIEVAL, "options": printed, "label": "A"}, file="aqua-rat.jsonl").options == options


def lines(*texts: str, file: str = "file") -> list[Record]:
    return [Record({"line": text}, file, row) for row, text in enumerate(texts)]


BLOCK = ("", "a", "Some text.", "Which?", "A.1", "B.2", "C.3", "D.4")


def test_logiqa_gathers_eight_lines_a_question() -> None:
    gathered = join_logiqa_lines(lines(*BLOCK, *BLOCK))
    assert [record.row for record in gathered] == [0, 8]
    assert list(gathered[1].fields.values()) == ["a", "Some text.", "Which?", ["A.1", "B.2", "C.3", "D.4"]]


def test_piqa_labels_are_joined_by_line() -> None:
    spec, ways = find_dataset("piqa"), {"sol1": "Use a towel.", "sol2": "Use a brick."}
    goals = [Record({"goal": f"Dry cup {row}.", **ways}, "valid.jsonl", row) for row in range(3)]
    items = make_items(spec, [*goals, *lines(*"012")])
    assert items["gold_indices"].to_list() == [[0], [1], None]
    assert (items["context"][0], items["options"][0].to_list()) == ("Dry cup 0.", ["Use a towel.", "Use a brick."])
    built = build_of_records(spec, [*goals, *lines(*"012")], None, 0)
    assert (built.items.height, built.rejected.height) == (2, 1)
    with pytest.raises(SourceError):
        make_items(spec, [*goals, *lines(*"01")])


@each_row(
    ("divided", "joined"),
    [
        ("今天 气温 1 ℃ , 明天 - 2 ℃ 。", "今天气温1℃,明天-2℃。"),
        ("股价 上涨 0 . 05 % , 收 于 8 : 30 前", "股价上涨0.05%,收于8:30前"),
        ("他 说 : “ thank you very much ” 。", "他说:“thank you very much”。"),
        ("共 有 3 GB 内存 , 46 家 公司", "共有3 GB内存,46家公司"),
        ("进入 1 / 4 决赛", "进入1/4决赛"),
        ("9 · 19 声明", "9·19声明"),
    ],
)
def test_spaces_between_chinese_words_go(divided: str, joined: str) -> None:
    item = adapt("cnewsum", {"article": [divided, divided], "summary": divided})
    assert (item.references, item.context) == ((joined,), joined * 2)


MEETING = Record({"id": "7", "eos_index": [0, 2], "summary": "总结"}, "long.txt", 0)


def segment(name: str, speaker: list[int]) -> Record:
    context = [[f"{name}的第{turn}句。", "完。"] for turn in range(len(speaker))]
    return Record({"id": name, "context": context, "speaker": speaker}, "short.txt", 0)


def test_meeting_is_joined_in_order_of_its_segments() -> None:
    (joined,) = join_meetings([MEETING, segment("7_10", [2]), segment("7_2", [1, 3]), segment("8_0", [9])])
    assert (joined.file, joined.row) == ("long.txt", 0)
    item = adapt("vcsum", joined.fields)
    assert item.context == "发言人1：7_2的第0句。完。\n发言人3：7_2的第1句。完。\n发言人2：7_10的第0句。完。"
    assert item.references == ("总结",)
    (whole,) = join_meetings([MEETING, segment("6", [5]), segment("7", [1, 2, 1])])
    assert whole.fields["speaker"] == [1, 2, 1]


@each_row(("segments", "turns"), [([], 0), ([segment("7_0", [1, 2])], 2)])
def test_a_meeting_with_turns_missing_is_refused(segments: list[Record], turns: int) -> None:
    with pytest.raises(ValueError, match=f"meeting 7 has {turns} turns of {turns} speakers, not 3"):
        join_meetings([MEETING, *segments])


@each_row(
    ("name", "fields"),
    [
        ("copa", {**COPA, "question": "reason", "label": 0}),
        ("copa", {**COPA, "question": "cause", "premise": None, "label": 0}),
        ("rte", {**NLI, "hypothesis": None, "label": 0}),
        ("rte", NLI),
    ],
)
def test_a_choice_without_its_texts_is_refused(name: str, fields: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        adapt(name, fields)
