# Two commands do everything: `make run` starts the site, `make test` runs all of its tests.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help run test test-fast check bench nightly real clients agents loss mcp exam-bfcl clean lock reference screenshots

VENV ?= .venv
HOST ?= 127.0.0.1
PORT ?= 8000
ARGS ?=
PARTS ?= all
MODEL ?=
SAMPLE ?= 20
# Without a cache, hundreds of processes of a test run would each compile the same modules.
unexport PYTHONDONTWRITEBYTECODE

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c "$(NEW_ENOUGH)" 2>/dev/null && { echo "$$p"; break; }; done || true)
CHROMIUM ?= $(shell for p in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable \
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" "/Applications/Chromium.app/Contents/MacOS/Chromium"; \
	do command -v "$$p" 2>/dev/null && break; done || true)
UV := $(shell command -v uv 2>/dev/null)

PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: $(STAMP) ## Start the site at http://127.0.0.1:8000 (make run HOST=… PORT=…)
	@exec $(PY) manage.py serve --host "$(HOST)" --port "$(PORT)"

# Without ARGS the tests in a browser run beside the others (tests/stages.py): tests wait for half of their time.
test: $(STAMP) ## Run every test, browser tests included (make test ARGS='-k name')
ifneq ($(ARGS),)
	@CHROMIUM="$(CHROMIUM)" $(PY) -m pytest $(ARGS)
else ifneq ($(CHROMIUM),)
	@CHROMIUM="$(CHROMIUM)" $(PY) -m tests.stages $(PARTS)
else ifeq ($(CI),true)
	@echo "Chromium is missing, and no test may be left out here." >&2; exit 1
else
	@echo "Chromium is missing, so browser tests are left out. Install it with:"
	@echo "    sudo apt-get install chromium-headless-shell     or     brew install --cask chromium"
	@CHROMIUM= $(PY) -m tests.stages
endif

test-fast: $(STAMP) ## Run the tests without a site, and one file with a site for each feature (about 4 minutes on two cores)
	@$(PY) -m tests.stages fast

check: $(STAMP) ## Check format, lint, types, imports and migrations
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports --no-cache | sed -n '/^Analyzed/,$$p'
	@! grep -nE 'https?:|file:|--(extra-)?index|--find-links' requirements.lock tests/*/requirements.txt
	@data=$$(mktemp -d); trap 'rm -rf "$$data"' EXIT; export TOOLSUPPORT_DATA_DIR="$$data"; \
	$(VENV)/bin/mypy && \
	$(PY) manage.py check && \
	TOOLSUPPORT_ORIGINS=https://example.org $(PY) manage.py check --deploy --fail-level WARNING && \
	$(PY) manage.py makemigrations --check --dry-run

bench: $(STAMP) ## Measure the figures of docs/performance.md (make bench ARGS=--quick)
	@$(PY) -m tests.bench $(ARGS)

nightly: $(STAMP) .venv-described/.installed .venv-mlx/.installed ## Run the long tests, once before a release
	@CHROMIUM="$(CHROMIUM)" $(PY) -m pytest -m nightly $(ARGS) || [ $$? -eq 5 ]
	@$(PY) -m pytest --hypothesis-profile=nightly tests/toolsupport/core tests/toolsupport/providers \
		tests/toolsupport/simulator tests/toolsupport/registry tests/chat/tools/test_escapes.py tests/chat/turns/test_loop.py \
		tests/chat/test_model_questions.py $(ARGS) || [ $$? -eq 5 ]
	@$(PY) -m pytest -m real_server --hypothesis-profile=nightly tests/real/test_constrained.py $(ARGS) || [ $$? -eq 5 ]
	@$(PY) -m pytest -m real_server tests/real/test_models.py -k 'llama_server or ollama' $(ARGS) || [ $$? -eq 5 ]
	@$(MAKE) clients agents

real: $(STAMP) .venv-mlx/.installed ## Run the tests with a real model server (installs it)
	@$(PY) -m pytest -m real_server tests/real $(ARGS)

clients: $(STAMP) .venv-clients/.installed ## Run openai, llm, LangChain, the AI SDK and others against the gateway
	@$(PY) -m pytest -m clients tests/clients $(ARGS)

agents: $(STAMP) .venv-agents/.installed .venv-clients/.installed ## Run a task with other agents and programs, and write docs/agents.md
	@$(PY) -m pytest -m agents tests/agents $(ARGS)

loss: $(STAMP) ## Measure how many calls get lost between a model and a program (8 minutes), and write docs/loss.md
	@$(PY) -m tests.loss $(ARGS)

mcp: $(STAMP) .venv-mcp/.installed ## Run the tests with MCP servers of other projects (time, git, fetch, files, memory, everything)
	@$(PY) -m pytest -m real_server tests/mcp $(ARGS)

exam-bfcl: $(STAMP) .venv-bfcl/.installed ## Run cases of the Berkeley leaderboard on a model (MODEL=ollama/qwen3:8b SAMPLE=20)
	@test -n "$(MODEL)" || { echo "Name a model: make exam-bfcl MODEL=server/name" >&2; exit 2; }
	@$(PY) -m tests.bfcl --data .venv-bfcl --model "$(MODEL)" --sample "$(SAMPLE)" $(ARGS)

reference: $(STAMP) ## Write docs/reference from the code
	@$(PY) -m tests.reference

screenshots: $(STAMP) ## Take the pictures of docs/screenshots from a running site
	@CHROMIUM="$(CHROMIUM)" DJANGO_SETTINGS_MODULE=toolsupport.config.settings $(PY) -m tests.screenshots

clean: ## Remove everything that make has made, except data/
	rm -rf "$(VENV)" .venv-lock .venv-mlx .venv-clients .venv-agents .venv-described .venv-mcp .venv-bfcl .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock: ## Lock the newest versions that fit pyproject.toml, with their hashes
ifeq ($(UV),)
	@test -x .venv-lock/bin/uv || { $(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv; }
endif
	@PATH=".venv-lock/bin:$$PATH" uv pip compile --quiet --upgrade --universal --python-version 3.11 --group dev \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --output-file requirements.lock pyproject.toml
	@for room in real clients nightly mcp; do \
		PATH=".venv-lock/bin:$$PATH" uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
			--no-header --no-annotate --no-emit-index-url --output-file tests/$$room/requirements.txt tests/$$room/requirements.in; \
	done
	@PATH=".venv-lock/bin:$$PATH" uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-deps \
		--no-header --no-annotate --no-emit-index-url --output-file tests/bfcl/requirements.txt tests/bfcl/requirements.in

# The server of `make real` has its own environment: 350 MB that nothing else needs.
.venv-mlx/.installed: tests/real/requirements.txt
	@echo "Preparing .venv-mlx (about a minute, once)"
	@"$(PYTHON)" -m venv --clear .venv-mlx
	@.venv-mlx/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/real/requirements.txt
	@touch "$@"

# Schemathesis (`make nightly`) needs other versions of packages that the tests use.
.venv-described/.installed: tests/nightly/requirements.txt
	@echo "Preparing .venv-described (about half a minute, once)"
	@"$(PYTHON)" -m venv --clear .venv-described
	@.venv-described/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/nightly/requirements.txt
	@touch "$@"

# The programs of `make clients` have their own environment too, in Python and in Node.
.venv-clients/.installed: tests/clients/requirements.txt tests/clients/package-lock.json $(wildcard tests/clients/programs/*.mjs)
	@command -v npm >/dev/null || { echo "Node is missing: 'sudo apt-get install nodejs npm'" >&2; exit 1; }
	@echo "Preparing .venv-clients (about a minute, once)"
	@"$(PYTHON)" -m venv --clear .venv-clients
	@.venv-clients/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/clients/requirements.txt
	@mkdir -p .venv-clients/node
	@cp tests/clients/package.json tests/clients/package-lock.json tests/clients/programs/*.mjs .venv-clients/node
	@cd .venv-clients/node && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch "$@"

# Only the data of this package is used, and nothing of it is run: its 40 dependencies are left out.
.venv-bfcl/.installed: tests/bfcl/requirements.txt
	@echo "Preparing .venv-bfcl (a few seconds, once)"
	@"$(PYTHON)" -m venv --clear .venv-bfcl
	@.venv-bfcl/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r tests/bfcl/requirements.txt
	@touch "$@"

# The agents bring programs for one kind of machine, which their own scripts choose: npm's lock does not list all of them.
.venv-agents/.installed: tests/agents/package-lock.json
	@command -v npm >/dev/null || { echo "Node is missing: 'sudo apt-get install nodejs npm'" >&2; exit 1; }
	@echo "Preparing .venv-agents (about half a minute, once)"
	@mkdir -p .venv-agents
	@cp tests/agents/package.json tests/agents/package-lock.json .venv-agents
	@cd .venv-agents && npm install --silent --no-audit --no-fund
	@touch "$@"

# The same for the servers of `make mcp`: their packages must never be among those of toolsupport.
.venv-mcp/.installed: tests/mcp/requirements.txt tests/mcp/package-lock.json
	@command -v npm >/dev/null || { echo "Node is missing: 'sudo apt-get install nodejs npm'" >&2; exit 1; }
	@echo "Preparing .venv-mcp (about half a minute, once)"
	@"$(PYTHON)" -m venv --clear .venv-mcp
	@.venv-mcp/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/mcp/requirements.txt
	@mkdir -p .venv-mcp/node
	@cp tests/mcp/package.json tests/mcp/package-lock.json .venv-mcp/node
	@cd .venv-mcp/node && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch "$@"

# The environment is rebuilt only when the lock has changed; the stamp comes last, so a broken installation is repeated.
$(STAMP): requirements.lock
	@"$(or $(PYTHON),false)" -c "$(NEW_ENOUGH)" || { \
		echo "Python 3.11 or newer is needed, and none was found: 'sudo apt-get install python3 python3-venv'" >&2; \
		echo "(macOS: 'brew install python'), or name one: make run PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Preparing $(VENV) (about 20 seconds, once)"
ifneq ($(UV),)
	@$(PY) -c "" 2>/dev/null || uv venv --quiet --clear --python "$(PYTHON)" "$(VENV)"
	@uv pip sync --quiet --compile-bytecode --require-hashes --python "$(PY)" requirements.lock
else
	@"$(PYTHON)" -c "import ensurepip, venv" 2>/dev/null || { \
		echo "Python's venv module is missing: 'sudo apt-get install python3-venv'" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear "$(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
endif
	@touch "$@"
