# make run           serve the demo board (ARGS=--check: talk to itself and exit; HTTP=127.0.0.1:9000: elsewhere)
# make test          every test, as CI runs them            make quick   what a change passes before it lands
# make check         format, lint, types, contracts, tests  make docs    write docs/reference anew
# make requirements  the clauses that no test shows yet     make lock    pin the requirements anew
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
ARGS ?=
HTTP ?= 127.0.0.1:$(if $(findstring --check,$(ARGS)),0,8321)
# What an install compiles.
KERNEL := hatch_build.py $(wildcard src/pegboard/index/native/*)
# What is installed already is enough to run, if it has everything.
READY := $(if $(wildcard $(VENV)/.dev),$(VENV)/.dev,$(VENV)/.run)

.PHONY: run test check quick lint types contracts format docs requirements node lock clean

run: $(READY) node
	@$(BIN)/pegboard serve --http $(HTTP) --config examples/demo/pegboard.toml --refresh $(ARGS)

# Tests that start servers run one after the other; the rest on all cores.
APART := tests/journeys tests/faults
test: $(VENV)/.dev node
	$(BIN)/python -m pytest tests $(APART:%=--ignore=%) -n auto $(ARGS) || [ $$? = 5 ]
	$(BIN)/python -m pytest $(APART) $(ARGS) || [ $$? = 5 ]

check: format lint types contracts test

# No server is started here; under two minutes.
quick: lint types contracts
	$(BIN)/python -m pytest tests/unit tests/house tests/docs -m "not slow" $(ARGS)

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/pyright

contracts: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py

requirements: $(VENV)/.dev
	@$(BIN)/python tests/house/clauses.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }
ifneq ($(UV),)
	@uv venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
endif

ifneq ($(UV),)
INSTALL = uv pip install --quiet --python $(BIN)/python
else
# An environment that uv has made has no pip; venv adds it.
INSTALL = { $(BIN)/python -c 'import pip' 2>/dev/null || $(PYTHON) -m venv $(VENV); } && \
  $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check
endif

$(VENV)/.run: requirements/run.txt pyproject.toml $(KERNEL) | $(VENV)/bin/python
	@echo "Installing what the board needs ..."
	@$(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml $(KERNEL) | $(VENV)/bin/python
	@echo "Installing what the tests need ..."
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation -e . -e ./encoder
	@touch $@

# The demo's npm servers come only where Node is; without them the board serves the others and says so.
NPM := $(shell command -v npm 2>/dev/null)
node: $(if $(NPM),examples/demo/node_modules/.installed)

examples/demo/node_modules/.installed: examples/demo/package-lock.json
	@echo "Installing the demo's npm servers ..."
	@npm ci --prefix examples/demo --no-audit --no-fund --loglevel=error >/dev/null && touch $@ || \
	  echo "npm could not install them: the demo goes on with the Python servers."

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate requirements/run.in -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate requirements/dev.in -o requirements/dev.txt

clean:
	rm -rf $(VENV) examples/demo/node_modules examples/demo/.pegboard
