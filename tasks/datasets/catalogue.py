"""Every dataset MoodFlow knows, by name.

To add one: an entry in the module it belongs to under `entries/`, and an adapter if none fits.
"""

from difflib import get_close_matches
from typing import get_args

from schemas.dataset import DatasetSpec, LocalFile, RecordFormat
from schemas.errors import UsageError
from schemas.vocabulary import LANGUAGES, QUESTION_TYPES
from tasks.datasets.bundled import BUNDLED, OWN_ITEMS_REQUIRED
from tasks.datasets.entries.commonsense import COMMONSENSE
from tasks.datasets.entries.companionship import COMPANIONSHIP
from tasks.datasets.entries.emotional import EMOTIONAL
from tasks.datasets.entries.empathy import EMPATHY
from tasks.datasets.entries.exams import EXAMS
from tasks.datasets.entries.feelings import FEELINGS
from tasks.datasets.entries.foundational import FOUNDATIONAL
from tasks.datasets.entries.questionnaires import QUESTIONNAIRES
from tasks.datasets.entries.reasoning import REASONING
from tasks.datasets.entries.safety import SAFETY
from tasks.datasets.entries.summaries import SUMMARIES
from tasks.datasets.entries.understanding import UNDERSTANDING
from tasks.datasets.entries.values import VALUES
from tasks.datasets.longemotion.catalogue import LONGEMOTION
from tasks.datasets.longemotion.catalogue_classification import EMOTION_CLASSIFICATION
from tasks.datasets.longemotion.catalogue_mini import LONG_MINI
from tasks.datasets.own_items import adapt_item_record

CATALOGUE: tuple[DatasetSpec, ...] = (
    *VALUES,
    *SAFETY,
    *FOUNDATIONAL,
    *UNDERSTANDING,
    *REASONING,
    *SUMMARIES,
    *COMMONSENSE,
    *EXAMS,
    *EMOTIONAL,
    *FEELINGS,
    *EMPATHY,
    *QUESTIONNAIRES,
    *COMPANIONSHIP,
    *BUNDLED,
    *EMOTION_CLASSIFICATION,
    *LONGEMOTION,
    *LONG_MINI,
)


def find_dataset(name: str) -> DatasetSpec:
    """The catalogue entry of this name.

    Raises:
        UsageError: there is none; the message names the nearest ones.
    """
    entries = {spec.id: spec for spec in CATALOGUE}
    if name in entries:
        return entries[name]
    nearest = get_close_matches(name, entries, n=3, cutoff=0.4)
    next_step = f"did you mean {' or '.join(nearest)}?" if nearest else "moodflow datasets list shows them all"
    raise UsageError(
        f"There is no dataset {name} in the catalogue.",
        expected=f"one of {len(entries)} names",
        got=name,
        next_step=next_step,
    )


def local_dataset(name: str, title: str, source: LocalFile) -> DatasetSpec:
    """Describe a user's own file in item format as a catalogue entry would; the file's suffix says how it is written.

    Raises:
        UsageError: the suffix is none of the formats.
    """
    return DatasetSpec(
        id=name,
        title=title,
        files=(source,),
        record_format=_format_of(source),
        adapter=adapt_item_record,
        question_types=QUESTION_TYPES,
        languages=LANGUAGES,
        licence="the user's own",
        paper="the user's own",
        required=OWN_ITEMS_REQUIRED,
        evaluation_version="1.0",
        redistributable=True,
    )


def _format_of(source: LocalFile) -> RecordFormat:
    formats: tuple[RecordFormat, ...] = get_args(RecordFormat)
    for known in formats:
        if source.path.suffix.lower() == f".{known}":
            return known
    raise UsageError(
        "The format of the file is not known.",
        where=str(source.path),
        expected=f"a name that ends in one of {', '.join(f'.{known}' for known in formats)}",
        got=source.path.suffix or "no suffix",
        next_step="rename the file after its format",
    )
