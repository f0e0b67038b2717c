# Each target makes .venv and installs what it needs; python3 (3.11 or newer) with venv is enough.
PYTHON  ?= python3
BIN     := .venv/bin
PIP     := $(BIN)/python -m pip install -q --disable-pip-version-check
VECTORS ?= fixtures/conformance
KILLS   ?= 200
MESSAGES ?= 20000
# The tests start more than a thousand processes: what is imported is compiled once, as users have it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check lint types contracts unit package docs bench conformance fuzz prove soak e2e clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Two stamps: running needs a dozen packages, developing a few dozen more.
.venv/run.stamp: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev.stamp: requirements-dev.lock .venv/run.stamp
	$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

.venv/e2e.stamp: requirements-e2e.lock .venv/dev.stamp
	$(PIP) --require-hashes -r requirements-e2e.lock
	@touch $@

run: .venv/run.stamp ## Run the daemon on your own sessions, or on bundled ones where you have none.
	@$(BIN)/python -m fixtures.run

test: check unit package ## Lint, types, import contracts, tests, and the built package.

check: lint types contracts ## Lint, types and import contracts.

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev.stamp
	$(BIN)/mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

contracts: .venv/dev.stamp
	@$(BIN)/lint-imports

# Two workers more than cores, six at most: many tests wait for a process.
unit: .venv/dev.stamp
	@$(BIN)/python -m compileall -q -j 0 core daemon ipc store src
	$(BIN)/python -m pytest -q --dist loadfile \
	  -n $$($(BIN)/python -c 'import os; print(min(6, (os.cpu_count() or 1) + 2))')

package: .venv/dev.stamp
	$(BIN)/python tests/package_check.py

docs: .venv/dev.stamp ## Write the manual page, the configuration schema and the picture anew.
	$(BIN)/python -m fixtures.manual
	$(BIN)/python -m fabricd config schema > docs/config.schema.json
	$(BIN)/python -m fixtures.picture

bench: .venv/dev.stamp ## Measure the budgets of docs/performance.md.
	$(BIN)/python -m benchmarks

conformance: .venv/dev.stamp ## Run conformance vectors: make conformance VECTORS=DIR.
	@$(BIN)/python -m tests.conformance $(VECTORS)

fuzz: .venv/dev.stamp ## Send messages of every kind through the gateway: make fuzz MESSAGES=20000.
	$(BIN)/python -m tests.fuzz_gateway $(MESSAGES)

prove: .venv/dev.stamp ## Context: 1,000 edits under queries, 10,000 budgets, the guard's rates.
	$(BIN)/python -m tests.daemon.context.editing 1000
	$(BIN)/python -m benchmarks.context overruns 10000
	$(BIN)/python -m benchmarks.context.guarding

soak: .venv/dev.stamp ## Kill and restart a daemon under load: make soak KILLS=200, or MINUTES=10 for a long day.
ifdef MINUTES
	$(BIN)/python -m tests.soak --minutes $(MINUTES)
else
	$(BIN)/python -m tests.soak $(KILLS)
	$(BIN)/python -m tests.kill_saves $(KILLS)
endif

e2e: .venv/e2e.stamp ## Call real MCP servers through the gateway with a real client (needs node and npm).
	@$(BIN)/python -m pytest -q -p no:randomly tests/e2e

clean: ## Remove the environment and everything built.
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
