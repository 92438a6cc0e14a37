# `make run` and `make test` do everything on a fresh machine with Python 3.11 or newer; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := edge host admin cli sim

.PHONY: help run test test-again check bench conformance hosts bench-hosts fastly clean docs messages

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Name another with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --only-binary :all: --no-binary stanchion -e . --group dev
	@touch $@

# Anybody may name a country here: it is for trying things out with curl.
run: $(STAMP) ## everything on loopback: edge 8080, admin 8081, Redis over REST 8082, demo shop 8083
	@STANCHION_COUNTRY_HEADER=$${STANCHION_COUNTRY_HEADER-x-country} \
	  STANCHION_COUNTRY_TRUST_ALL=$${STANCHION_COUNTRY_TRUST_ALL-1} $(BIN)/stanchion run

test: $(STAMP) ## the whole suite; programs that are missing skip their tests and say what to install. JOBS=2: files at a time
	$(BIN)/python -m pytest -n $(or $(JOBS),2) --dist loadfile

test-again: $(STAMP) ## what failed last time, one by one
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none

conformance: $(STAMP) ## the contract and the laws against a host: HOST=local (default), and those of docs/hosts.md
	STANCHION_CONFORMANCE_HOST=$(or $(HOST),local) $(BIN)/python -m pytest tests/conformance

fastly: $(STAMP) ## the package for Fastly Compute, pkg/stanchion.tar.gz (docs/fastly.md)
	$(BIN)/python -m host.fastly

# The versions that the suite was run with. Only the parts of wasmtime-cli that serve a component: half the time to build.
VICEROY := 0.22.0
WASMTIME := 48.0.8
WASMTIME_PARTS := run,serve,wasi-keyvalue,wasi-config,cranelift,cache,parallel-compilation,pooling-allocator,component-model-async,threads,logging,backtrace,addr2line

hosts: ## install Viceroy and wasmtime with cargo (15-25 minutes each on two cores)
	@command -v cargo >/dev/null || { echo "cargo is needed: https://rustup.rs"; exit 1; }
	cargo install --locked viceroy --version $(VICEROY)
	cargo install --locked wasmtime-cli --version $(WASMTIME) --no-default-features --features $(WASMTIME_PARTS)

bench-hosts: $(STAMP) ## the same requests on every host that is installed
	$(BIN)/python -m bench.hosts

check: $(STAMP) build/bindings ## ruff, the type checker, import rules
	$(BIN)/ruff check .
	MYPYPATH=build/bindings $(BIN)/mypy $(SOURCES)
	$(BIN)/python -m pytest -q tests/architecture

build/bindings: $(STAMP) wit/gatekeeper.wit
	rm -rf $@
	$(BIN)/componentize-py -d wit -w gatekeeper bindings $@
	@touch $@

bench: $(STAMP) ## the yardsticks, as ratios; exit code 1 when one is missed
	$(BIN)/python -m bench

messages: $(STAMP) ## bring the translations up to the messages of pages and console
	$(BIN)/python -m admin.publish.messages
	$(BIN)/python -m admin.console.messages

docs: $(STAMP) ## write the generated reference pages
	$(BIN)/python -m cli.reference

clean: ## remove what was built; keeps .stanchion
	rm -rf $(VENV) .cache build bin/main.wasm pkg/stanchion.tar.gz
