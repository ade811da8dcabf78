PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
# Twice quiet: pip says nothing but its errors.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Stamps: what is installed in the venv. The dev set contains the run set.
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed

# The rooms by themselves.
UNIT := $(addprefix tests/,model stores search audit test_config.py test_import_hygiene.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test lint types imports unit all bench eval corpus screenshots format clean

help:
	@echo "make run [ARGS=...]   start tau-browse from this checkout"
	@echo "make test             lint, types, import rules and all tests"
	@echo "make unit             the quick tests: no screen, no server, nothing killed"
	@echo "make bench            measure, and print the numbers (ARGS=--search=1000000: of the search,"
	@echo "                      ARGS=--recalls=1000000: of the recall audit, ARGS=--jmfts=100: of a server)"
	@echo "make eval             print how well searches find what they should (ARGS=--rerank: the extra too)"
	@echo "make corpus CORPUS=DIR   hold real sessions against an index of them"
	@echo "make screenshots      draw the pictures in the documentation again"
	@echo "make format           format the code and sort its imports"
	@echo "make clean            remove the virtual environment and all caches"

run: $(RUN)
	@$(BIN)/tau-browse $(ARGS)

test: lint types imports all

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

imports: $(DEV)
	$(BIN)/lint-imports

unit: $(DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal $(UNIT)

all: $(DEV)
	$(BIN)/python -m pytest -n auto --dist loadgroup

bench: $(DEV)
	$(BIN)/python -m tests.benchmarks $(ARGS)

# One thread for the processor's library of linear algebra: more only get in each other's way.
eval: $(DEV)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.eval $(ARGS)

corpus: $(DEV)
	@$(BIN)/python -m tests.corpus $(CORPUS)

screenshots: $(DEV)
	$(BIN)/python scripts/screenshots.py

format: $(DEV)
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache snapshot_report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A venv without a working pip (an interrupted first try) is made anew.
define make_venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "tau-browse needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
endef

$(RUN): pyproject.toml
	@echo "Installing tau-browse into $(VENV) ..."
	$(make_venv)
	@$(PIP) install -e .
	@touch $@

$(DEV): pyproject.toml constraints.txt
	@echo "Installing tau-browse and its development tools into $(VENV) ..."
	$(make_venv)
	@$(PIP) install -e '.[dev]' -c constraints.txt
	@touch $(RUN) $@
