# make run   serve the demo board (ARGS=--check: talk to itself and exit)      make test   every test, as CI runs them
# make check format, lint, types, import contracts, tests                     make lock   pin the requirements anew
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
ARGS ?=

.PHONY: run test check quick lint types contracts format lock clean

run: $(VENV)/.run examples/demo/.node
	@$(BIN)/pegboard serve --http 127.0.0.1:8321 --config examples/demo/pegboard.toml $(ARGS)

test: $(VENV)/.dev examples/demo/.node
	$(BIN)/python -m pytest tests $(ARGS)

check: format lint types contracts test

# What a change must pass before it lands: no server is started, under two minutes.
quick: lint types contracts
	$(BIN)/python -m pytest tests/unit tests/house -m "not slow" $(ARGS)

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/pyright

contracts: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

$(VENV)/bin/python:
ifneq ($(UV),)
	uv venv --quiet --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

ifneq ($(UV),)
INSTALL = uv pip install --quiet --python $(BIN)/python
else
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

$(VENV)/.run: requirements/run.txt pyproject.toml | $(VENV)/bin/python
	@test -e $(VENV)/.dev || $(INSTALL) --require-hashes -r requirements/run.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(VENV)/bin/python
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# The demo's npm servers come only where Node is; without it the board serves the Python ones.
examples/demo/.node: $(wildcard examples/demo/package-lock.json)
	@if command -v npm >/dev/null 2>&1 && [ -e examples/demo/package-lock.json ]; then \
	  npm ci --prefix examples/demo --no-audit --no-fund --loglevel=error >/dev/null; fi
	@mkdir -p examples/demo && touch $@

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate requirements/run.in -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate requirements/dev.in -o requirements/dev.txt

clean:
	rm -rf $(VENV) examples/demo/node_modules examples/demo/.node
