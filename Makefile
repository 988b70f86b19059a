# The two commands: `make run` and `make test`. Both set up everything on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
# Own folders: never a user's daemon, settings or tokens.
OWN := DRAGOMAN_HOME="$(CURDIR)/.home"
# Each worker would compile and rewrite every test again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test page wheel vsix lint fmt unit whole test-openclaw test-programs soak bench clean

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

UNIT := tests/wire tests/domain tests/fuzz tests/test_requirements.py tests/test_phrases.py \
	tests/test_chinese_terms.py
# Of the domains: what kills processes, syncs disks, runs debuggers and shells, and computes for long.
SLOW := tests/domain/journal/test_faults.py tests/domain/journal/test_kill.py tests/domain/tools/test_with_debugpy.py \
	tests/domain/debug/test_starting.py tests/domain/debug/test_with_debugpy.py \
	tests/domain/debug/launch/test_task_processes.py \
	tests/domain/transport/test_supervised.py tests/domain/transport/test_supervisor_deaths.py \
	tests/domain/terminal/test_record_lasting.py tests/domain/terminal/test_record_resuming.py \
	tests/domain/terminal/test_completion.py tests/domain/terminal/test_search_commands.py \
	tests/domain/terminal/test_screen.py tests/domain/terminal/test_agent_terminals.py \
	tests/domain/shell/test_overlay_any_order.py tests/domain/shell/test_strip.py \
	$(addprefix tests/domain/evidence/test_, compare.py crash.py crash_languages.py debug_test.py debug_test_faults.py \
	last_failure.py stop_history.py with_debugpy.py with_lldb.py)
# In the order of tests/longest.py.
WHOLE := tests/e2e tests/conformance $(SLOW) tests/page tests/faces tests/lua

test: setup-test lint unit whole editor

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

fmt:
	$(BIN)/ruff check --fix --quiet src tests bench
	$(BIN)/ruff format --quiet src tests bench

unit:
	@rm -f .failed
	$(BIN)/python -m pytest -n 3 --failed-to .failed $(UNIT) $(SLOW:%=--ignore %) || $(BIN)/python -m tests.again .failed

# Debuggers and daemons beside each other on two cores take longer; what is measured in `bench` is not measured here.
# In part they wait, for processes and disks: four at a time, each file by itself, in the order given; six took as long, and disturbed each other.
whole: export TEST_PATIENCE ?= 2
whole:
	@rm -f .failed
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --failed-to .failed $(WHOLE) || $(BIN)/python -m tests.again .failed

# One editor and one browser for all its tests, so one after another, in the order of their names: what a first window does comes before the rest.
editor: export TEST_PATIENCE ?= 2
editor:
	@rm -f .failed
	$(BIN)/python -m pytest --failed-to .failed tests/vscode || $(BIN)/python -m tests.again .failed

bench:
	@$(PYTHON) tools/bootstrap.py test
	$(BIN)/python -m bench.run --json bench/results.json

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

# The long versions of what `make test` does briefly; the last result stands in docs/soak.md.
soak:
	@$(PYTHON) tools/bootstrap.py test
	$(BIN)/python -m tests.soak

clean:
	rm -rf .failed .venv .home .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
