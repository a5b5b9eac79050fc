"""The extras of MoodFlow's install: what needs one says so in one message if it is missing."""

from importlib.util import find_spec
from typing import Literal

from schemas.errors import UsageError

Extra = Literal["dask", "embeddings", "s3", "xlsx"]

PACKAGES: dict[Extra, str] = {
    "dask": "prefect-dask",
    "embeddings": "sentence-transformers",
    "s3": "s3fs",
    "xlsx": "xlsxwriter",
}
"""The package that each extra is installed for."""


def require_extra(extra: Extra, what: str, where: str, otherwise: str = "") -> None:
    """Raise UsageError unless the package of an extra is installed.

    Args:
        extra: its name in pyproject.toml.
        what: what needs it, as the beginning of a sentence in the singular.
        where: the option or setting that asks for it.
        otherwise: what a user can do without it.
    """
    package, install = PACKAGES[extra], f"moodflow[{extra}]"
    if find_spec(package.replace("-", "_")) is None:
        raise UsageError(
            f"{what} needs the package {package}, which is not installed",
            where=where,
            expected=f"the extra {extra} of MoodFlow",
            got=f"no package {package}",
            next_step=f'pip install "{install}"{otherwise and ", or " + otherwise}',
        )
