"""The commands of the peers, and how they are installed."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

PEERS = Path(__file__).resolve().parent
INSTALLED = PEERS.with_name(".peers")
NAMES = ("lm-eval", "inspect")
CONNECTIONS, MAX_TOKENS = 256, 512


class Contestant(NamedTuple):
    """A command to measure.

    `command` makes it from the stub's base URL; `accuracy` reads the share of right answers from what it left in its folder.
    """

    name: str
    command: Callable[[str], Sequence[str]]
    accuracy: Callable[[Path], float]
    probes: int = 0
    served: bool = False


def peer(name: str, programs: Path) -> Contestant:
    """A peer whose programs are in a folder."""

    def lm_eval(base_url: str) -> Sequence[str]:
        server = f"model=stub,base_url={base_url}/chat/completions,num_concurrent={CONNECTIONS}"
        tasks = ["--tasks", "letters", "--include_path", str(PEERS / "lm_eval_tasks"), "--apply_chat_template"]
        stored = ["--output_path", "results", "--log_samples"]
        return [str(programs / "lm_eval"), "run", "--model", "local-chat-completions", "--model_args", server, *tasks, *stored]

    def inspect(base_url: str) -> Sequence[str]:
        # It takes a task file by a path relative to where it runs only.
        task = [str(programs / "inspect"), "eval", "inspect_task.py", "--display", "none", "--log-dir", "results"]
        model = ["--model", "openai-api/stub/stub", "--model-base-url", base_url, "--max-connections", str(CONNECTIONS)]
        return [*task, *model, "--temperature", "0", "--max-tokens", str(MAX_TOKENS)]

    def logged_accuracy(folder: Path) -> float:
        log = next((folder / "results").glob("*.eval"))
        dump = [str(programs / "inspect"), "log", "dump", "--header-only", str(log)]
        header = json.loads(subprocess.run(dump, check=True, stdout=subprocess.PIPE).stdout)
        return float(header["results"]["scores"][0]["metrics"]["accuracy"]["value"])

    return Contestant(name, lm_eval, results_accuracy) if name == "lm-eval" else Contestant(name, inspect, logged_accuracy)


def install_peer(name: str) -> Path:
    """Folder with a peer's programs; installs it in an environment of its own unless the pinned versions are there."""
    folder, wanted = INSTALLED / name, PEERS / f"{name}.txt"
    done = folder / "installed.txt"
    if not done.is_file() or done.read_text() != wanted.read_text():
        print(f"installing {', '.join(wanted.read_text().split())} into {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        python = str(folder / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", str(wanted)], check=True)
        # First imports compile to byte code; nobody's measurement should hold that.
        subprocess.run([python, "-m", "compileall", "-q", "-j", "0", str(folder / "lib")], check=False, stdout=subprocess.DEVNULL)
        shutil.copy(wanted, done)
    return folder / "bin"


def results_accuracy(folder: Path) -> float:
    """Share of exact matches in the results of lm-evaluation-harness."""
    (file,) = (folder / "results").rglob("results_*.json")
    return float(json.loads(file.read_text())["results"]["letters"]["exact_match,none"])
