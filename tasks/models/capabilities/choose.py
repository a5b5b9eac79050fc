"""What a model wants otherwise than the usual OpenAI chat API: from what is said, found and known of it, to one dialect."""

from schemas.api_capabilities import USUAL_DIALECT, ApiCapabilities
from schemas.provider import UNSENT, ModelProbe, Quirks, TokenLimit, Unsent


def choose_capabilities(stated: ApiCapabilities | None, quirks: Quirks | None, found: ModelProbe | None) -> ApiCapabilities:
    """The dialect of a model's calls; every field of it is set.

    Args:
        stated: what the user's entry says. Fields it sets win, and only those: to ask for much reasoning says nothing about
            the name of a limit.
        quirks: what the provider's entry says of the model.
        found: what a probe of the model found.

    Returns:
        By field, the first that knows: what is stated, what was found, the quirks, the usual.
    """
    said = stated.model_dump(include=stated.model_fields_set) if stated else {}
    chosen = {
        "token_limit": _token_limit(quirks, found),
        "unsent": tuple(name for name in UNSENT if _is_refused(name, quirks, found)),
        "reasoning_effort": None,
        "effort_path": (quirks and quirks.reasoning_effort) or USUAL_DIALECT.effort_path,
        "extra": None,
    }
    return ApiCapabilities.model_validate(chosen | said)


def needs_probe(stated: ApiCapabilities | None) -> bool:
    """Whether a probe could say anything that the user's entry does not."""
    return stated is None or not {"token_limit", "unsent"} <= stated.model_fields_set


def describe_capabilities(dialect: ApiCapabilities) -> str:
    """A dialect in words, for a terminal."""
    parts = [f"limit {dialect.token_limit}"]
    if dialect.unsent:
        parts.append(f"without {', '.join(dialect.unsent)}")
    if dialect.reasoning_effort is not None:
        parts.append(f"{dialect.effort_path} {dialect.reasoning_effort}")
    if dialect.extra is not None:
        parts.append(f"with {dialect.extra}")
    return ", ".join(parts)


def _token_limit(quirks: Quirks | None, found: ModelProbe | None) -> TokenLimit:
    if found and found.token_limit:
        return found.token_limit
    return quirks.token_limit if quirks else USUAL_DIALECT.token_limit


def _is_refused(name: Unsent, quirks: Quirks | None, found: ModelProbe | None) -> bool:
    verdict = found.findings[name].verdict if found else "unknown"
    if verdict == "unknown" and quirks:
        return bool(getattr(quirks, name) == "no")
    return verdict == "no"
