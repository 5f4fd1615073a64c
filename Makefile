# Everything a developer does here, by name. `make` alone prints this list.
SHELL := /bin/sh
PYTHON ?= python3
# uv is used as it is found; where it is missing, it is installed by name into a folder of its own.
TOOLS := .tools
UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)
UV_BY_NAME := --quiet --disable-pip-version-check 'uv>=0.8,<1'
RUN := $(UV) run --frozen
# Tests wait more than they compute, so there are more workers than a small machine has cores.
WORKERS ?= 3

.PHONY: help run entries show new test format lint types check-format tests bench soak manifests build clean
.DEFAULT_GOAL := help

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(TOOLS)/bin/uv:
	@$(PYTHON) -m venv $(TOOLS) >/dev/null && $(TOOLS)/bin/python -m pip install $(UV_BY_NAME) \
	|| $(PYTHON) -m pip install --prefix $(TOOLS) $(UV_BY_NAME)

.venv/.ready: $(UV) pyproject.toml uv.lock shared/pyproject.toml $(wildcard servers/*/pyproject.toml)
	@echo "Installing what is needed into .venv, once." >&2
	@$(UV) sync --frozen --quiet --python $(PYTHON)
	@touch $@

run: .venv/.ready ## Serve all five over HTTP, for this machine only
	@$(RUN) python examples/serve.py

entries: .venv/.ready ## Print what to paste into a host: HOST=cursor
	@$(RUN) python examples/serve.py --entries $(HOST)

show: .venv/.ready ## Show what goes over the wire: one server, driven in both eras
	@$(RUN) python examples/show.py

new: .venv/.ready ## Begin a server: NAME=weather
	@UV=$(UV) $(RUN) python scripts/new_server.py "$(NAME)"
	@$(MAKE) --no-print-directory .venv/.ready

test: check-format lint types tests ## Run every check: format, lint, types, tests

check-format: .venv/.ready
	@$(RUN) ruff format --check --quiet . && echo "format: ok"

lint: .venv/.ready ## Look for mistakes
	@$(RUN) ruff check --quiet . && echo "lint: ok"

types: .venv/.ready ## Check types, strictly
	@$(RUN) basedpyright --level error && echo "types: ok"

tests: .venv/.ready ## Run the tests alone, or some of them: TESTS=servers/memory
	@$(RUN) pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

format: .venv/.ready ## Format the code
	@$(RUN) ruff check --fix --quiet . ; $(RUN) ruff format .

bench: .venv/.ready ## Measure ours against what people use today: SUITE=memory QUICK=1
	@$(RUN) python -m benchmarks $(if $(QUICK),--quick) $(if $(SUITE),--suite $(SUITE))

soak: .venv/.ready ## Ten minutes of clients that vanish, stall and come back: MINUTES=1
	@$(RUN) python -m benchmarks.soak $(if $(MINUTES),--minutes $(MINUTES))

manifests: .venv/.ready ## Write what is published about each server from its manifest.toml
	@$(RUN) python scripts/manifests.py

build: .venv/.ready ## Build a wheel and an sdist of each package into dist/
	@$(UV) build --all-packages --out-dir dist

clean: ## Remove what the other targets made
	@rm -rf .venv $(TOOLS) dist .pytest_cache .ruff_cache .hypothesis
