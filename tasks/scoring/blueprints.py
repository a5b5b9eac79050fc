"""Find and read blueprints."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from yaml import MappingNode

from schemas.benchmark import files_by_name
from schemas.blueprint import Blueprint, PaperWording
from schemas.errors import BlueprintError, suggest, summarize, unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.metrics import METRICS, SHARE
from schemas.vocabulary import CORRECTED, Profile
from tasks.judging.rubrics import RUBRICS, load_rubric
from tasks.metrics.metric import PROFILES
from tasks.scoring.blueprint_file import BlueprintFile, blueprint_error, read_blueprint_file
from tasks.scoring.published import papers
from tasks.scoring.tree import metric_rows
from tasks.solvers.prompts import PROMPTS

BLUEPRINTS = DATA_FOLDER / "blueprints"

SUFFIXES = (".yaml", ".yml")
WORDING, RUBRICS_BELOW = "wording", "rubrics/"
"""Whose words a folder of prompts has, and where in it rubrics are."""


def load_blueprint(name_or_path: str | Path) -> Blueprint:
    """Read and check a blueprint that ships with MoodFlow, by its name, or a YAML file, by its path.

    A path of one of your own files is relative to the blueprint's file there, and to the current folder here. BlueprintError:
    there is no such blueprint, or it breaks a rule.
    """
    file = find_blueprint(name_or_path)
    status = file.stat()
    blueprint = _read_once(file, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
    if blueprint.rubrics:
        blueprint = blueprint.model_copy(update={"own_rubrics": _read_folder(blueprint.rubrics)})
    return with_texts(blueprint, blueprint.prompts) if blueprint.prompts else blueprint


def with_texts(blueprint: Blueprint, folder: Path) -> Blueprint:
    """Return a blueprint with the texts of a folder in place of its own of these names: prompts, and rubrics below `rubrics/`.

    Raise BlueprintError if the folder cannot be read; UsageError if it has a rubric that nothing names, or a broken one.
    """
    texts = _read_folder(folder, with_wording=True)
    wording = texts.pop(WORDING, None)
    rubrics = {name.removeprefix(RUBRICS_BELOW): texts.pop(name) for name in list(texts) if name.startswith(RUBRICS_BELOW)}
    own = {**blueprint.own_rubrics, **rubrics}
    for name in rubrics:
        load_rubric(name, blueprint.own_rubrics)  # there has to be one that it replaces
        load_rubric(name, own)
    changed = {"own_prompts": {**blueprint.own_prompts, **texts}, "own_rubrics": own, "wording": wording}
    return blueprint.model_copy(update=changed)


def _read_folder(folder: Path, *, with_wording: bool = False) -> dict[str, Any]:
    """Return the YAML files of a folder by their paths in it, without suffix; raise BlueprintError if there are none."""
    texts, place = dict[str, Any](), folder
    try:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
        for place in paths:
            texts[place.relative_to(folder).with_suffix("").as_posix()] = text = read_yaml(read_text(place))
            json.dumps(text)  # a date of YAML is no text, and none of a manifest
        place = folder
        if with_wording and WORDING in texts:
            texts[WORDING] = _read_wording(texts)
        if texts and len(texts) == len(paths):
            return texts
        reason = "two of its files have one name" if texts else "it has no YAML files" if folder.is_dir() else "no such folder"
    except (OSError, ValueError, TypeError) as error:
        reason = summarize(error)
    raise BlueprintError(
        "a folder of prompts or rubrics cannot be read",
        where=str(place),
        expected="YAML files",
        got=reason,
        next_step="correct the files, or the path, which in a blueprint is relative to its file",
    )


def _read_wording(texts: Mapping[str, Any]) -> PaperWording:
    wording, titles = PaperWording.model_validate(texts[WORDING]), [paper.title for paper in papers()]
    if wording.paper not in titles:
        raise ValueError(f"{WORDING}.yaml: paper is one of {', '.join(titles)}, not {wording.paper}")
    if absent := sorted(set(wording.files) - texts.keys()):
        raise ValueError(f"{WORDING}.yaml lists {absent[0]}.yaml, which is not in the folder")
    shipped = {f"{RUBRICS_BELOW}{name}": file for name, file in files_by_name("rubrics", RUBRICS).items()}
    for name in wording.files:
        file = shipped.get(name, PROMPTS / f"{name}.yaml")
        if file.is_file() and _words(read_yaml(read_text(file))) == _words(texts[name]):
            raise ValueError(f"{WORDING}.yaml: {name}.yaml has the words that ship with MoodFlow, not the paper's")
    return wording


def _words(content: Any) -> Any:
    """Return the texts of a file at their places, whatever its version, its numbers and the space between words."""
    if isinstance(content, dict):
        return {name: words for name, value in content.items() if name != "version" and (words := _words(value))}
    if isinstance(content, list):
        return [_words(value) for value in content]
    return " ".join(content.split()) if isinstance(content, str) else ""


@lru_cache(maxsize=16)
def _read_once(file: Path, stamp: tuple[int, ...]) -> Blueprint:  # noqa: ARG001  part of the cache's key
    """Read a file once until it changes: a command looks its blueprint up half a dozen times, at 30 to 70 ms each."""
    document = _read_file(file)
    if "extends" in document.values:
        document = _extended(document)
    try:
        blueprint = Blueprint.model_validate(document.values)
    except ValidationError as error:
        raise blueprint_error(error, document) from error
    _check_bounds(blueprint, document)
    return blueprint


def _read_file(file: Path) -> BlueprintFile:
    """Parse a blueprint; folders and files that it names beside it are named from anywhere."""

    def whole(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: whole(inner, key) for key, inner in value.items()}
        return str(file.parent / value) if name in ("rubrics", "prompts", "path") and isinstance(value, str) else value

    document = read_blueprint_file(file)
    return replace(document, values=whole(document.values))


def _extended(document: BlueprintFile) -> BlueprintFile:
    """Return a blueprint that states what it has otherwise than one that ships with MoodFlow, as a whole.

    Where something stands in the whole no file says, so that errors name the file alone.
    """
    base = document.values["extends"]
    if base not in list_blueprints() or base == document.file.stem:
        raise BlueprintError(
            "extends must name a blueprint that ships with MoodFlow",
            where=document.place(("extends",)),
            expected=f"one of {', '.join(list_blueprints())}",
            got=str(base),
            next_step="use one of these, or copy your blueprint",
        )
    own = {name: value for name, value in document.values.items() if name != "extends"}
    return BlueprintFile(document.file, MappingNode("", []), overlay(_read_file(_files()[base]).values, own))


def overlay(below: Any, above: Any) -> Any:
    """Return values on top of others: mappings key by key, lists of parts with ids part by part; what is new comes last."""
    if isinstance(below, dict) and isinstance(above, dict):
        return below | {name: overlay(below[name], value) if name in below else value for name, value in above.items()}
    lists = [
        part
        for part in (below, above)
        if isinstance(part, list) and all(isinstance(entry, dict) and "id" in entry for entry in part)
    ]
    if len(lists) == len((below, above)):
        parts = ({entry["id"]: entry for entry in part} for part in lists)
        return list(overlay(next(parts), next(parts)).values())
    return above


def _check_bounds(blueprint: Blueprint, document: BlueprintFile) -> None:
    """Raise BlueprintError where a metric whose values are no shares is normalised by bounds that do not hold them."""
    for name, _, metric, _, kind, low, high in metric_rows(blueprint):
        least, most = METRICS[metric].bounds
        if (least, most) != SHARE and low is not None and high is not None and not low <= least <= most <= high:
            raise BlueprintError(
                f"the normalisation of {metric} does not cover its range",
                where=document.place(("datasets", name)),
                expected=f"bounds that include {least:g} to {most:g}",
                got=f"{kind}, {low:g} to {high:g}",
                next_step=f"state normalisation: {{type: numeric, min: {least:g}, max: {most:g}}}",
            )


def _files() -> dict[str, Path]:
    return files_by_name("blueprints", BLUEPRINTS)


def list_blueprints() -> list[str]:
    """List names of the blueprints that ship with MoodFlow or an installed benchmark."""
    return sorted(_files())


def find_blueprint(name_or_path: str | Path) -> Path:
    """Find file of a blueprint; raise BlueprintError, which names the nearest, if there is none."""
    text = str(name_or_path)
    if file := _files().get(text):
        return file
    path = Path(name_or_path)
    if path.is_file():
        return path
    is_path = path.suffix in SUFFIXES or len(path.parts) > 1
    names = list_blueprints() if not is_path else [str(file) for file in path.parent.glob("*") if file.suffix in SUFFIXES]
    raise BlueprintError(
        f"there is no blueprint {text}" if is_path else f"there is no benchmark {text}",
        where=str(path) if is_path else "BENCHMARK",
        expected=f"one of {', '.join(list_blueprints())}, or the path of a YAML file",
        got=text,
        next_step=suggest(text, names, "check the spelling or the path", most=3),
    )


def profiled_blueprint(benchmark: str, profile: Profile, prompts: str | Path | None = None) -> Blueprint:
    """Return a blueprint, by its name or path, with the methods of a profile and the texts of a plan's folder.

    UsageError: there is no such profile; it raises what load_blueprint and with_texts do, too.
    """
    if profile not in (CORRECTED, *PROFILES):
        raise unknown_name("profile", profile, (CORRECTED, *PROFILES), "--profile", "moodflow options describes each")
    blueprint = load_blueprint(benchmark)
    scored = blueprint if profile == CORRECTED else PROFILES[profile].blueprint(blueprint)
    return with_texts(scored, Path(prompts)) if prompts else scored
