# The two commands: `make run` and `make test`. Both set up everything on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
# Own folders: never a user's daemon, settings or tokens.
OWN := DRAGOMAN_HOME="$(CURDIR)/.home"
# Each worker would compile and rewrite every test again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test page wheel vsix lint fmt unit test-web whole editor durations test-openclaw test-programs test-reach soak bench bench-value clean

run:
	@$(PYTHON) tools/bootstrap.py run
	@exec env $(OWN) $(BIN)/dragoman up --foreground --workspace examples

# The page, into the package; `run`, `test` and `wheel` do this too.
page:
	@$(PYTHON) tools/build_page.py

# The package with the page in it: dist/dragoman-VERSION-py3-none-any.whl.
wheel:
	@$(PYTHON) tools/build_wheel.py

# The extension of the editor, as a file that every VS Code installs: dist/dragoman-VERSION.vsix. And what it manages, as
# a wheel beside it, which the extension can install.
vsix:
	@$(PYTHON) tools/build_vsix.py
	@$(PYTHON) tools/build_wheel.py

# One part after another; tests/runner.py says what is in them. STRICT=1 tolerates no second attempt and no test that did not run.
RUN_TESTS = $(BIN)/python -m tests.runner $(if $(filter-out 0,$(STRICT)),--strict)

test: setup-test lint test-web
	@$(RUN_TESTS) unit whole editor

.PHONY: setup-test
# Where Python may not keep what it compiles, each of hundreds of daemons would compile all of its source again.
setup-test:
	@$(PYTHON) tools/bootstrap.py test
	@$(BIN)/python -m compileall -q src

lint:
	$(BIN)/ruff check --output-format concise src tests bench tools hatch_build.py
	$(BIN)/ruff format --check --quiet src tests bench
	@# Two cores: beside mypy every test is compiled, which each worker would else do for itself.
	@$(BIN)/python -m pytest --collect-only tests > /dev/null 2>&1 & $(BIN)/mypy; status=$$?; wait; exit $$status
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	$(BIN)/python tools/check_typescript.py lint

fmt:
	$(BIN)/ruff check --fix --quiet src tests bench
	$(BIN)/ruff format --quiet src tests bench
	$(BIN)/python tools/check_typescript.py fmt

# The page's stores and parsers, and the plain modules of the extension, with vitest.
test-web:
	@$(BIN)/python tools/check_typescript.py test

unit: test-web
unit whole editor:
	@$(RUN_TESTS) $@

# How long each test file took in the last run, into tests/durations.json, which decides in which order files begin.
durations:
	@$(BIN)/python -m tests.durations

# With every adapter that it measures.
bench:
	@FULL=1 $(PYTHON) tools/bootstrap.py test
	$(BIN)/python -m bench.run --json bench/results.json

# What one answer about each bug is worth: docs/performance.md has the table that this prints.
bench-value:
	@FULL=1 $(PYTHON) tools/bootstrap.py test
	$(BIN)/python -m bench.value --json bench/value/results.json

# Our client on real OpenClaw gateways (npm, about 1.3 GB); the last result stands in docs/protocols/gateway.md.
test-openclaw:
	@$(PYTHON) tools/bootstrap.py test
	@$(PYTHON) tools/openclaw.py
	TEST_OPENCLAW=1 $(BIN)/python -m pytest -v --durations=0 tests/openclaw

# Real programs under the debugger, as an agent calls it: web servers, task queues, test runners, sanitizers. The last
# result stands in docs/programs.md, written by the run itself.
test-programs: export TEST_PATIENCE ?= 3
test-programs: setup-test
	@FULL=1 $(PYTHON) tools/bootstrap.py test
	@$(PYTHON) tools/programs.py
	TEST_PROGRAMS=1 $(BIN)/python -m pytest -v tests/programs

# `--on` as a whole: another user of this machine behind a real sshd, containers where podman starts them, every fault in
# the middle of every call, hostile machines. The last result stands in docs/reach.md, written by the run itself.
test-reach: export TEST_PATIENCE ?= 3
test-reach: setup-test
	@FULL=1 $(PYTHON) tools/bootstrap.py test
	TEST_REACH=1 $(BIN)/python -m pytest -v tests/reach tests/cli/remote/test_hostile_daemon.py

# The long versions of what `make test` does briefly; the last result stands in docs/soak.md.
soak:
	@$(PYTHON) tools/bootstrap.py test
	$(BIN)/python -m tests.soak

clean:
	rm -rf .runs .venv .home .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
