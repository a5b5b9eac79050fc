"""Check what a command's process rests on, and end it."""

import gc
import os
import re
import ssl
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from errno import EMFILE, ENAMETOOLONG, ENOSPC
from io import StringIO
from pathlib import Path
from typing import NoReturn

from flows.runtime.local_server import API_URL
from schemas.errors import EndpointError, UsageError, summarize


def require_certificates() -> None:
    """Refuse certificates that cannot be read, which libraries tell by a traceback while they are imported."""
    if not (bundle := os.environ.get("SSL_CERT_FILE")):
        return
    try:
        ssl.create_default_context(cafile=bundle)
    except OSError as error:
        raise EndpointError(
            "the file of trusted certificates cannot be read",
            where=f"SSL_CERT_FILE={bundle}",
            expected="a file of certificates in PEM",
            got=error.strerror or str(error),
            next_step="correct the variable, or unset it",
        ) from error


def require_prefect_settings() -> None:
    """Refuse damaged settings of Prefect, which it reads and tells by a traceback while it is imported."""
    told = StringIO()  # what Prefect itself prints before it raises
    try:
        with redirect_stderr(told):
            from httpx import URL  # noqa: PLC0415  with Prefect, which takes its time
            from prefect.settings import get_current_settings, load_profiles  # noqa: PLC0415

            settings, profiles = get_current_settings(), load_profiles()
            URL(settings.api.url or "")
        profile = os.environ.get("PREFECT_PROFILE") or profiles.active_name
        names = ", ".join(sorted(profiles.names))
        got = "" if profile in {None, *profiles.names} else f"the profile {profile}, none of {names}"
        if settings.home.exists() and not settings.home.is_dir():
            got = f"PREFECT_HOME, which is no folder: {settings.home}"
    except Exception as error:  # noqa: BLE001  whatever its parsers raise
        got = summarize(error) or type(error).__name__
    if got:
        raise UsageError(
            "the settings of Prefect cannot be used",
            where=os.environ.get("PREFECT_PROFILES_PATH")
            or f"{os.environ.get('PREFECT_HOME') or '~/.prefect'}/profiles.toml, "
            "prefect.toml, pyproject.toml and .env of this folder, variables PREFECT_...",
            expected="settings that Prefect can read, and a profile that exists",
            got=got,
            next_step="correct the file or the variable, or move the file away and unset the variable",
        )
    sys.stderr.write(told.getvalue())


def may_name_server() -> bool:
    """Return whether the environment or a file of Prefect's settings may name a server; which it is, only Prefect can read."""
    return API_URL in os.environ or any(_may_name_server(path) for path in _settings_files())


def _settings_files() -> Iterator[Path]:
    home = Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    yield Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml").expanduser()
    yield from map(Path, ("prefect.toml", "pyproject.toml", ".env"))


def _may_name_server(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False
    except OSError:  # Prefect says what is wrong with it
        return True
    of_prefect = path.name in {"profiles.toml", "prefect.toml"} or re.search("prefect", text, re.IGNORECASE)
    return bool(of_prefect and re.search(r"^[^#]*api", text, re.IGNORECASE | re.MULTILINE))


STEPS = {
    EMFILE: "raise the limit of open files, as with ulimit -n 4096, and run the same command again",
    ENAMETOOLONG: "choose a shorter name",
    ENOSPC: "free space and run the same command again",
}


def refused_by_system(error: OSError) -> UsageError:
    """Return what the operating system refused as one message; what cannot be foreseen of a file ends here."""
    return UsageError(
        "the operating system refused",
        where=str(error.filename)[:200] if error.filename else None,
        got=error.strerror or str(error) or type(error).__name__,
        next_step=STEPS.get(error.errno or 0, "check that path and permissions are right"),
    )


def leave(status: int) -> NoReturn:
    """End the process with this exit status; whoever read the output, such as `head`, may have gone."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more
    gc.freeze()  # else Python looks through every object once more, half a second
    sys.exit(status)
