# Two commands are all that a new checkout needs: `make run` and `make test`. Both make the environment first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

PROJECT ?= fixtures/onboarding
ARGS ?=
SOURCES := runtime workers_shim wrangler_compat tests bench fixtures

.PHONY: run test check lint types docs mutants crash golden simulate bench lock clean help

run: $(READY)  ## start a project: make run PROJECT=fixtures/orders ARGS="--port 9000"
	$(BIN)/celld-py dev $(PROJECT) $(ARGS)

test: $(READY)  ## run the tests: make test ARGS="-k replay"
	-@$(BIN)/python -m runtime.javascript  # tests that need workerd are skipped where it cannot be had
	$(BIN)/python -m pytest -n auto $(ARGS)

check: lint types test  ## everything that has to hold before a change is done

lint: $(READY)  ## style and formatting
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(READY)  ## strict type checking
	$(BIN)/mypy

docs: $(READY)  ## write the generated pages of docs/ anew
	$(BIN)/python -m tests.conformance
	$(BIN)/python -m tests.targets
	$(BIN)/python -m tests.wrangler_compat.lints
	$(BIN)/python -m tests.golden --page

mutants: $(READY)  ## break each invariant in the code, and see its test fail
	$(BIN)/python -m tests.mutants $(ARGS)

crash: $(READY)  ## kill -9 the running command many times: make crash ARGS="--kills 500"
	$(BIN)/python -m tests.crash $(ARGS)

golden: $(READY)  ## compare with recorded traces of the official local engine: make golden ARGS="do-forms"
	$(BIN)/python -m tests.golden $(ARGS)

simulate: $(READY)  ## random lives of hosts, with crashes: make simulate ARGS="--operations 1000000"
	$(BIN)/python -m tests.simulation $(ARGS)

bench: $(READY)  ## measure; see docs/performance.md
	$(BIN)/python -m bench $(ARGS)

# The environment is made again when the lock changes, and installed with hashes only.
$(READY): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "celld-py needs Python 3.11 or newer; name one with: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Only this needs uv: one lock for all Pythons and systems that we support.
LOCK := uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock:  ## pin the newest versions of everything
	$(LOCK) --output-file requirements.lock
	$(LOCK) --group dev --output-file requirements-dev.lock

clean:  ## remove the environment, caches and the fixtures' state
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
	rm -rf fixtures/*/.celld
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## show this
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10
