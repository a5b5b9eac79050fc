"""What the document of a run says of scores below the total: abilities, weakest tasks, headlines, unread replies."""

from pydantic import Field

from schemas.base import Frozen
from schemas.documents.document import SystemName
from schemas.metrics import Metric


class PartScore(SystemName):
    """A score below the total of a model and setting, on 0-100."""

    id: str
    title: str = Field(description="name in reports")
    score: float | None = Field(description="null = nothing was scored")
    ci_low: float | None = Field(description="95 % interval")
    ci_high: float | None = Field(description="upper end of that interval")
    constant: float | None = Field(
        description="the score of the best constant answer to each dataset below it; null = one of them has none"
    )


class AbilityScore(PartScore):
    """A main ability."""

    threshold: float | None = Field(description="that a gate must reach; null = it is no gate")


class WeakTask(PartScore):
    """One of the tasks with the lowest scores."""

    ability: str = Field(description="title of its main ability")
    dataset: str = Field(description="the one with its lowest score")


class LetterShare(SystemName):
    """A letter that a model chooses far more often than it is right, over all single choices."""

    letter: str
    read: int = Field(description="replies that can be read")
    chosen: int = Field(description="of these, replies that choose it")
    right: int = Field(description="of these, replies to items where it is right, which is all that a fair reader would choose")


class HeadlineScore(SystemName):
    """A score that a report shows before the total, on 0-100; null = nothing was scored."""

    headline: str = Field(description="heading under which a report leads with it")
    dataset: str = Field(description="its id")
    method: str = Field(description="as the blueprint names it")
    metric: Metric = Field(description="what is measured")
    score: float | None
    ci_low: float | None = Field(description="95 % interval")
    ci_high: float | None = Field(description="upper end of that interval")
    n: int = Field(description="items scored")
    n_total: int = Field(description="items asked")


class DatasetHeadlines(Frozen):
    """Scores of a dataset that a report shows before the total."""

    dataset: str = Field(description="its title")
    metrics: dict[str, Metric] = Field(description="by headline, in the order of the blueprint")
    scores: tuple[HeadlineScore, ...]
    correlations: dict[str, dict[str, dict[str, float | None]]] = Field(
        description="by setting and two headlines Spearman's rho; null = fewer than three models have both, or one never varies"
    )


class SettingGain(SystemName):
    """What a setting gains over `base`, over the items scored in both, on 0-100."""

    scope: str = Field(description="a dataset, or `total`")
    base_0_100: float = Field(description="score in base")
    setting_0_100: float = Field(description="score in the setting")
    gain: float = Field(description="points; setting - base")
    ci_low: float | None = Field(description="95 % interval of the gain; null = too few items")
    ci_high: float | None = Field(description="upper end of that interval")
    n_items: int = Field(description="scored in both settings")


class UnreadReplies(SystemName):
    """Replies of a model in a setting that cannot be read as an answer."""

    unread: int = Field(description="replies that cannot be read")
    total: int = Field(description="replies that came and are read")
    datasets: dict[str, int] = Field(description="unread ones by dataset, the most first")
