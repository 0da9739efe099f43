# Two commands: `make demo` and `make test`. Needs make, a POSIX shell and CPython 3.11, 3.12 or 3.13; all else is installed.

CHECKS = lint types imports schemas docs

check-lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
check-types: install
	$(BIN)/mypy
check-imports: install
	$(BIN)/lint-imports
check-schemas: install
	$(BIN)/python -m schemas.check
check-docs: install
	$(BIN)/python -m services.cli.docs_check
	$(BIN)/python -m bench.performance

# ---------------------------------------------------------------------------------------------------------------------

VENV = .venv
BIN = $(VENV)/bin
# `make PYTHON=/some/python3.12 demo` takes that one.
PYTHON =
# How often `make fencing` stops a writer between begin and first produce, and as often between last produce and commit.
ROUNDS = 50
STAMP = $(VENV)/.installed
PIP = $(BIN)/python -m pip --disable-pip-version-check --no-input

.DEFAULT_GOAL = help
.PHONY: help install demo test deploy-tools fencing outages scenarios check bench bench-quick bench-peers simulate simulate-coverage mutation chaos lock clean $(CHECKS:%=check-%)

help:
	@echo 'make demo    install, start the local stack and show it at work'
	@echo 'make test    install and run every test'
	@echo 'make deploy-tools    bring helm and the schemas that the tests of deploy need, into .tools'
	@echo 'make fencing stop writers inside their transactions, 100 times, while others take over'
	@echo 'make outages a broker that stands still for 30 s, and everything down for many leases'
	@echo 'make scenarios   those that CI runs shorter as long as they are: 1,000 blocks and 300 s in ClickHouse'
	@echo 'make check   lint, types, dependency law, schemas, docs'
	@echo 'make simulate SEEDS=1000 FROM=0    the whole system under seeded faults; SEED=17 runs one again, with its trace'
	@echo 'make chaos SEED=1 MINUTES=3    a real cluster of three brokers with traffic, killed and frozen at random; prints JSON'
	@echo 'make bench   measure, and write bench/results/latest.json'
	@echo 'make bench-quick    is a piece of the path of a job dearer than its committed ratio? WRITE=1 commits new ones'
	@echo 'make bench-peers    measure beside other job systems (installs them into a cache), and write docs/performance.md'
	@echo 'make lock    resolve the dependencies again into requirements.lock'
	@echo 'make clean   stop the stack and remove what was installed; the stack'"'"'s data in .jobledger stays'

demo: install
	$(BIN)/jobledger demo

TEST_PROCESSES = 2
test: install  # each process has a stack of its own
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadgroup

# What checks the files of deploy; without it these tests are skipped, and say so.
deploy-tools: install
	$(PIP) install --quiet --upgrade --target .tools --no-deps --no-compile --require-hashes --only-binary :all: -r deploy/tools.lock
	$(BIN)/python -m tests.unit.deploy.tools

outages: install
	JOBLEDGER_TEST_OUTAGES=1 $(BIN)/python -m pytest tests/scenarios/test_outages_on_the_broker.py

fencing: install
	JOBLEDGER_TEST_FENCING_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest -s tests/scenarios/test_fencing.py

# 69 and 71 of ClickHouse: a thousand inserts before a process thaws, and 300 orgs for 300 s.
scenarios: install
	JOBLEDGER_TEST_BLOCKS=1000 JOBLEDGER_TEST_SECONDS=300 $(BIN)/python -m pytest --durations=0 tests/scenarios/test_clickhouse.py

check: $(CHECKS:%=check-%)

bench: install
	$(BIN)/python -m bench

bench-quick: install
	$(BIN)/python -m bench.quick $(if $(WRITE),--write)

bench-peers: install
	$(BIN)/python -m bench.peers
	$(BIN)/python -m bench.performance --write

SEEDS = 1000
FROM = 0
SEED =
PROCESSES = 2
simulate: install
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(SEEDS) --from $(FROM) --processes $(PROCESSES))

mutation: install
	$(BIN)/python -m tests.mutation --markdown

simulate-coverage: install
	$(BIN)/coverage run --rcfile=tests/simulation/coverage.ini --data-file=.coverage -m tests.simulation --seeds 100
	$(BIN)/coverage report --rcfile=tests/simulation/coverage.ini --data-file=.coverage

MINUTES = 3
chaos: install
	$(BIN)/python -m tests.chaos --seed $(or $(SEED),1) --minutes $(MINUTES)

install: $(STAMP)

# Nothing is installed again until the lock file or the project file changes.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes --only-binary :all: -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

lock: install
	$(PIP) install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra local --extra demo --extra spiders --extra dev --generate-hashes \
		--no-annotate --no-header --no-emit-index-url --upgrade --output-file requirements.lock pyproject.toml
	$(IMAGE_LOCK) --extra snowflake --extra spiders --extra tracing --output-file deploy/docker/requirements.lock pyproject.toml
	echo hatchling | $(IMAGE_LOCK) --output-file deploy/docker/build.lock -
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-deps --generate-hashes --no-annotate --no-header \
		--no-emit-index-url --upgrade --output-file deploy/tools.lock deploy/tools.in

# What the image installs, in the versions that the tests run with: what a process needs, and what builds the wheel.
IMAGE_LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --constraint requirements.lock \
	--no-annotate --no-header --no-emit-index-url

clean:
	@if [ -x $(BIN)/jobledger ]; then $(BIN)/jobledger down; fi
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

# The virtual environment. A Debian Python may come without ensurepip: then by virtualenv, or with the missing package.
$(BIN)/python:
	@python=''; found=''; \
	for each in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 $(wildcard $(HOME)/.pyenv/versions/3.1[123].*/bin/python)); do \
		if "$$each" -c 'import sys; sys.exit(sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; \
			then python="$$each"; break; fi; \
		version=$$("$$each" -c 'import platform; print(platform.python_implementation(), platform.python_version())' 2>/dev/null) \
			&& found="$${found:+$$found, }$$version"; \
	done; \
	if [ -z "$$python" ]; then \
		echo "jobledger needs CPython 3.11, 3.12 or 3.13; found: $${found:-none}" >&2; \
		echo "Install one of them, or name it: make PYTHON=/path/to/python3.12 demo" >&2; exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv $(VENV) 2>/dev/null && exit 0; \
	rm -rf $(VENV); "$$python" -m virtualenv --quiet $(VENV) 2>/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "this Python has no ensurepip: installing python$$version-venv"; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "python$$version-venv" >/dev/null \
			&& rm -rf $(VENV) && "$$python" -m venv $(VENV) && exit 0; \
	fi; \
	rm -rf $(VENV); \
	echo "$$python cannot make a virtual environment: install python3-venv or virtualenv, then run make again" >&2; exit 1
