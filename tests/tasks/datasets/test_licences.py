"""Which datasets' texts may be passed on in a report: those under a verified open licence, and the user's own."""

from pathlib import Path

from schemas.dataset import LocalFile
from tasks.datasets.catalogue import CATALOGUE
from tasks.datasets.own_items import local_dataset


def test_texts_of_uncertain_or_restricted_terms_are_not_passed_on_and_all_others_are() -> None:
    assert {spec.id for spec in CATALOGUE if not spec.redistributable} == {
        *("lcqmc", "wic", "rte", "copa", "ag_news", "thucnews", "qqp", "multirc", "record", "mnli", "wsc", "mutual"),
        *("lcsts", "cnewsum", "cosmos_qa", "truthfulqa", "agieval", "imdb", "sst2", "dianping"),
        *("semeval2018_task1", "semeval2018_task3", "vua20"),
        *("eq60", "iri30", "interpersonal_relationship", "effective_communication"),
        *("longemotion_ec_finentity", "longemotion_ec_emobench_released", "longemotion_ec_finentity_released"),
        *("longemotion_ed", "longemotion_ed_released", "longemotion_ed_backup", "longemotion_qa", "longemotion_es"),
        *("longemotion_es_released", "longemotion_mc1", "longemotion_mc2", "longemotion_mc3", "longemotion_mc4"),
        "longemotion_ee",
    }
    alternatives = [(spec, spec.alternative) for spec in CATALOGUE if spec.alternative]
    assert all(spec.redistributable is other.redistributable for spec, other in alternatives)


def test_own_texts_may_be_passed_on(tmp_path: Path) -> None:
    assert local_dataset("own", "Own", LocalFile(path=tmp_path / "own.jsonl")).redistributable
