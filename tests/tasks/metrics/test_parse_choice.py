"""Contract of single-choice replies: every form, and every tricky or malformed reply seen so far (own wording)."""

from tasks.metrics.parsing import SINGLE_FORMS, Parse, parse_choice
from tests.rows import each_row

FEELINGS = ("joy", "sadness", "anger", "fear")
FEELINGS_ZH = ("快乐", "悲伤", "愤怒", "恐惧")
IRONY = ("not ironic", "ironic")
IRONY_ZH = ("不是反讽", "是反讽")
MOOD = ("happy", "unhappy")
MEANING = ("different meaning", "same meaning")
AGREE_ZH = ("完全不同意", "不同意", "中立", "同意", "完全同意")
YES_NO = ("yes", "no")
NINE = tuple(f"feeling number {name}" for name in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))
THIRTY = tuple(f"label {number}" for number in range(30))
USE = ("used metaphorically", "used literally")
SENSES = ("different senses", "same sense")
MEANING_ZH = ("意思相同", "意思不同")
PREMISES = (
    "True: the premises imply the conclusion",
    "False: the premises imply that the conclusion does not hold",
    "Uncertain: the premises imply neither",
)
PLANS = ("They call a friend", "There is no need, I can wait", "Not before noon", "I wait until it is over")
PLANS_ZH = ("可以先打电话", "我们没有办法", "不同意他去", "等到明天再说")

READ: dict[tuple[str, tuple[str, ...], int], list[str]] = {
    ("letter", FEELINGS, 1): [
        *("B", "b", " B \n", "`B`", "# B", "B<|im_end|>", "B</s>", "Option B", "选B吧", "```\nB\n```"),
        "<think>A seems right. Or C?</think>B",
    ],
    ("letter", FEELINGS, 0): ["A", "a."],
    ("letter", NINE, 8): ["I"],
    ("letter", THIRTY, 27): ["AB", "ab"],
    ("letter", FEELINGS, 2): ["选项C", "选项 C", "C选项", "C项"],
    ("option text", FEELINGS, 1): ["sadness", "Sadness.", "**SADNESS**"],
    ("option text", FEELINGS_ZH, 1): ["悲伤。"],
    ("option text", MOOD, 1): ["unhappy"],
    ("option text", MOOD, 0): ["happy"],
    ("option text", IRONY, 1): ["ironic"],
    ("option text", IRONY, 0): ["Not ironic."],
    ("option text", IRONY_ZH, 1): ["是反讽"],
    ("option text", IRONY_ZH, 0): ["不是反讽。"],
    ("option text", MEANING, 1): ["Same  meaning", "ｓａｍｅ ｍｅａｎｉｎｇ"],
    ("option text", AGREE_ZH, 1): ["不同意"],
    ("option text", AGREE_ZH, 3): ["同意"],
    ("option text", YES_NO, 1): ["No."],
    ("option text", ("5", "-5"), 1): ["-5"],
    ("option text", ("35", "3.5"), 1): ["3.5"],
    ("option text", ("C", "C++", "C#"), 1): ["C++"],
    ("option text", ("How are you holding up?", "Stop crying!"), 0): ["How are you holding up?"],
    ("option text", ("[1, 0, 1]", "[1, 0, 0]"), 0): ["[1, 0, 1]"],
    ("option text", ("AB", "aB"), 1): ["aB"],
    ("option text", ("The answer is A", "The answer is B"), 1): ["The answer is B"],
    ("letter", ("E", "G"), 0): ["E"],
    ("letter", ("B", "A"), 1): ["B"],
    ("letter and text", ("M: Yes.", "M: No, I'd say A. And you?"), 1): ["B. M: No, I'd say A. And you?"],
    ("letter and text", ("(i) and (ii)", "(i), (ii) and (iii)"), 1): ["(B) (i), (ii) and (iii)"],
    ("letter and text", ("7", "-7"), 1): ["B、-7"],
    ("letter and text", ("bd", "abd"), 0): ["A: bd"],
    ("letter and text", ("$\\mathrm{g}$", "$\\mathrm{g}^{-1}$"), 1): ["B. $\\mathrm{g}^{-1}$"],
    ("letter and text", ("A公司怎么选都行", "不论A公司怎么选，都不行"), 1): ["B. 不论A公司怎么选，都不行"],
    ("statement", ("M: I see.", "F: It isn't B. Sorry!"), 1): ["The answer is F: It isn't B. Sorry!"],
    ("statement", ("Yes.", "Not today."), 1): ["The answer is B. Not today.\nShe is tired."],
    ("letter and text", FEELINGS, 1): ["B. sadness", "B) Sadness", "B: sadness"],
    ("letter and text", FEELINGS_ZH, 1): ["B、悲伤", "B．悲伤", "B.悲伤"],
    ("statement", FEELINGS, 1): [
        *("B. The girl has just lost her dog.", "B, because she has lost her dog.", "B because she has lost her dog."),
        *("The answer is option B.", "The answer is probably B.", "The correct option is B, since nobody is angry."),
        *("The best answer to this question is B.", 'The answer is "sadness", since she cries.', "I think B"),
        *("Option B seems most appropriate.", "A could fit, and C too. Still, she cries. Therefore, the answer is B."),
        *("我选择 B", "I think B fits best.", "X is true and T is not, so the answer is B.", "X is true. The answer is B."),
    ],
    ("statement", FEELINGS_ZH, 1): [
        *("B，因为她的狗丢了。", "答案为B，因为她很难过。", "答案应该是B。", "她并不高兴所以选B。", "B最合适。"),
        *("选项B是正确的。", "选B是因为她很难过。", "所以B更合适。"),
    ],
    ("statement", FEELINGS, 0): ["A. She finally smiles.", "A: she finally smiles", "The answer is A because she smiles."],
    ("statement", MOOD, 1): ["The answer is unhappy."],
    ("statement", IRONY, 0): ["The answer is: not ironic."],
    ("statement", FEELINGS, 2): ["I'd say C", "I'd say C, though she hides it.", "It must be C.", "C is my answer."],
    ("statement", NINE, 1): ["I think the answer is B."],
    ("statement", FEELINGS, 3): ["My choice: D", "If it were a party, A. Here there is none, so the answer is D.", "Ans: D"],
    ("statement", FEELINGS_ZH, 3): ["你可以选择D. 恐惧。\n\nD. 恐"],
    ("statement", FEELINGS_ZH, 2): ["【答案】C\n【解析】他很生气。", "不是A，而是C。", "A、B、D都不对，所以答案是C"],
    ("letter and text", FEELINGS_ZH, 2): ["C愤怒"],
    ("letter and text", PREMISES, 1): ["B. False", "B: False", "(B) False."],
    ("letter and text", PREMISES, 2): ["C. Uncertain", "**C. Uncertain**", "C. the premises imply neither"],
    ("letter and text", ("Yes, she is", "No, he is"), 1): ["B. No", "B. no", "B. No, he is"],
    ("letter and text", MEANING_ZH, 1): ["B. 不同", "B、不同。", "选项B：不同"],
    # What is common to both does not speak against the letter.
    ("letter and text", MEANING_ZH, 0): ["A. 相同", "A. 意思"],
    ("letter and text", PLANS, 2): ["C. Not before", "C. Not before noon"],
    ("statement", MEANING_ZH, 1): ["B. 不同\n\n因为说的是两件事。", "答案是B. 不同"],
    ("statement", PREMISES, 1): ["B. False\n\nNothing else follows.", "The answer is B. False", "The answer is B (False)."],
    ("part of a text", USE, 1): ["literally", "Literally.", "**literally**"],
    ("part of a text", SENSES, 0): ["different"],
    ("part of a text", MEANING_ZH, 1): ["不同", "不同。"],
    ("part of a text", PREMISES, 2): ["Uncertain", "imply neither"],
    ("part of a text", PREMISES, 1): ["False", "The conclusion does not hold."],
    ("part of a text", PLANS, 0): ["call a friend", "They call"],
    ("part of a text", PLANS_ZH, 0): ["先打电话"],
    ("JSON", USE, 1): ['{"answer": "literally"}'],
    ("JSON", PREMISES, 1): ['{"answer": "B. False"}'],
    ("JSON", FEELINGS, 1): ['{"answer": "B"}', '{"answer": "sadness"}', '{"answer": "B. sadness"}'],
    ("JSON", FEELINGS_ZH, 1): ['{"答案": "B"}'],
    ("JSON", ("16", "18"), 1): ['{"answer": 18}'],
    ("text at an edge", YES_NO, 0): ["Yes, because he says so."],
    ("text at an edge", YES_NO, 1): ["No. Nothing points to it."],
    ("text at an edge", FEELINGS, 1): ["Sadness: the girl has lost her dog.", "The girl has lost her dog.\n\nSadness"],
    ("only text named", FEELINGS, 1): ["She feels sadness here."],
    ("only text named", FEELINGS_ZH, 1): ["这条消息表达了悲伤。"],
    ("only text named", MEANING, 1): ["The two sentences have the same meaning."],
    ("only text named", IRONY, 0): ["The remark is not ironic"],
    ("only text named", MOOD, 1): ["She seems unhappy."],
}

UNREAD: dict[tuple[tuple[str, ...], str], list[str]] = {
    (FEELINGS, "holds no word"): ["", "   \n", "..."],
    (FEELINGS, "E is not an option"): ["E", "The answer is E.", "答案是E"],
    (FEELINGS, "I is not an option"): ["I"],
    (("2", "i", *NINE), "is the letter of one option and the text of another"): ["i"],
    (FEELINGS, "names more than one option"): ["I think A or C", "A or C", "A and C", "答案是A或C"],
    # As a part it fits the one, by the word in it the other.
    (("very happy indeed", "happy"), "names more than one option"): ["very happy"],
    (YES_NO, "states no answer"): ["Yes and no", "No way to know."],
    (FEELINGS, "states no answer"): [
        *("B.\nC.", "A is a good option but B is as good", "It depends. If he is tired, A; otherwise B."),
        *("I think the girl looks different from her sister.", "I would never choose B."),
    ],
    (NINE, "states no answer"): [
        *("I think so, she does.", "The answer is I do not know.", "As a language model I have no feelings."),
    ],
    (("one", "two"), "I is not an option"): ["I"],
    (FEELINGS, "contradicts itself"): [
        *("The answer is A. The answer is B.", "Final answer: A. Final answer: B.", "B. She cries. Therefore, the answer is C."),
    ],
    (FEELINGS, "letter and text beside it are different options"): [
        *("A. sadness", "A. sadness\n\nThe answer is A. sadness", "The answer is sadness (A)."),
    ],
    (IRONY, "letter and text beside it are different options"): ["A. ironic"],
    (FEELINGS_ZH, "letter and text beside it are different options"): ["A. 悲伤"],
    (PREMISES, "letter and text beside it are different options"): ["A. Uncertain", "A. False", "C. True."],
    (MEANING_ZH, "letter and text beside it are different options"): ["A. 不同", "B、相同", "答案是A. 不同"],
    (("Yes, she is", "No, he is"), "letter and text beside it are different options"): ["B. Yes", "A. no"],
    # A word that only agrees to answer is the beginning of an option here.
    (("Sure, go ahead", "Better not"), "letter and text beside it are different options"): ["B. Sure"],
    (USE, "letter and text beside it are different options"): ["A. literally", "B. metaphorically"],
    (AGREE_ZH, "letter and text beside it are different options"): ["A. 同意", "A. 不同意", "D. 完全"],
    (USE, "states no answer"): ["not literally", "It is not literally meant.", "literally or metaphorically", "literal"],
    (MEANING_ZH, "states no answer"): ["意思", "同", "不"],
    (PREMISES, "states no answer"): ["the premises", "imply", "not", "uncertain: the premises"],
    (PLANS, "states no answer"): ["no", "There", "They", "need", "wait"],
    (PLANS_ZH, "states no answer"): ["可以", "我们", "没有", "他去"],
    (("It is not ironic", "It is sincere"), "states no answer"): ["ironic", "is ironic"],
    (("Honesty is not what matters", "Success"), "states no answer"): ["Honesty"],
    (("no harm", "cannot tell", "none of these"), "states no answer"): ["no", "can", "tel"],
    (("strongly agree", "agree", "disagree", "strongly disagree"), "states no answer"): ["strongly", "gree"],
    (("well-being", "-5 degrees", "3.50 euros", "isn't so"), "states no answer"): ["being", "5 degrees", "50 euros"],
    (FEELINGS_ZH, "states no answer"): [
        *("你可以在选项中选择：A. 快乐，B. 悲", "A. 快乐\nB. 悲伤\nC. 愤怒\nD. 恐惧\n\n这是一个", "我不觉得快乐"),
    ],
    (IRONY, "states no answer"): ["She isn't ironic here"],
    (("Vitamin A", "Vitamin B", "Zinc", "Iron"), "states no answer"): ["Vitamin D is what you need."],
    (("-5", "15"), "states no answer"): ["5"],
}


@each_row(("form", "options", "expected", "reply"), [(*key, reply) for key, replies in READ.items() for reply in replies])
def test_reply_is_read_by_its_form(form: str, options: tuple[str, ...], expected: int, reply: str) -> None:
    assert parse_choice(reply, options) == Parse((expected,), form)


@each_row(
    ("options", "reason", "reply"),
    [(*key, reply) for key, replies in UNREAD.items() for reply in replies],
)
def test_reply_is_refused_with_its_reason(options: tuple[str, ...], reason: str, reply: str) -> None:
    assert parse_choice(reply, options) == Parse(None, reason)


def test_every_form_is_covered() -> None:
    assert {form for form, *_ in READ} == {*SINGLE_FORMS, "JSON"}


def test_letter_of_an_unfinished_list_is_no_answer() -> None:
    reply = "Here are the options again:\n\nA. "
    assert parse_choice(reply, FEELINGS).indices == (0,)
    assert parse_choice(reply, FEELINGS, cut=True) == Parse(None, "states no answer")


def test_cut_beginning_belongs_to_its_option() -> None:
    assert parse_choice("They call a", PLANS, cut=True) == Parse((0,), "part of a text")


def test_single_letter_cut_after_it_is_an_answer() -> None:
    assert parse_choice("B", FEELINGS, cut=True) == Parse((1,), "letter")
