# Two words for newcomers: `make demo` and `make test`. Everything lands in .venv and build.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BUILD := build

# What the installed package is made of. The list is kept in a file that changes only if the list
# does, so that a deleted file reinstalls the package just as an edited one.
SOURCES := $(shell find src cpp bindings -type f \
	\( -name '*.py' -o -name '*.pyi' -o -name 'py.typed' -o -name '*.cpp' -o -name '*.hpp' \
	-o -name 'CMakeLists.txt' -o -name '*.cmake' \
	-o -name '*.html' -o -name '*.css' -o -name '*.js' \) 2>/dev/null | LC_ALL=C sort) \
	$(wildcard CMakeLists.txt README.md LICENSE) pyproject.toml
SOURCE_LIST := $(VENV)/.sources

CXX_HELP := spinney needs a C++20 compiler: install g++ >= 12 or clang >= 14 (Debian, Ubuntu: \
	apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install) or set CXX.
PYTHON_HELP := spinney needs Python 3.11 or newer with venv: install it (Debian, Ubuntu: \
	apt install python3 python3-venv) or name it: make PYTHON=python3.11

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow venv install lint types cpp-test cpp-sanitize cpp-tsan cpp-tidy py-test py-test-slow docs docs-check fuzz fuzz-asan kill-test portability clean FORCE

help:
	@echo "make demo          install, train on bundled data, print a table, write demo.png"
	@echo "make test          the fast part of all tests, a few minutes: $(FAST)"
	@echo "make test-slow     the rest: $(SLOW)"
	@echo "make lint          ruff, the layers of the imports, oxlint on the explorer, the layout of the C++"
	@echo "make types         mypy --strict"
	@echo "make cpp-test      the C++ core by itself"
	@echo "make py-test       pytest without the tests marked slow, in $(PYTEST_JOBS) processes"
	@echo "make docs-check    the pages without running the examples: no warning, no broken link"
	@echo "make cpp-tidy      clang-tidy on the core"
	@echo "make cpp-sanitize  the same under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make cpp-tsan      the tests that start threads under ThreadSanitizer"
	@echo "make py-test-slow  pytest, the tests marked slow alone"
	@echo "make docs          not part of test: the whole site in build/docs, examples run"
	@echo "make fuzz          mutants of model files: MUTANTS=100000 SEED=0, goes on where it was stopped"
	@echo "make fuzz-asan     the same against a core with sanitizers"
	@echo "make portability   not part of test: core and C++ tests compiled for ARM Linux, ARM macOS and Windows, minutes each"
	@echo "make kill-test     kill fits at random moments, resume them, compare every bit"
	@echo "make clean         remove build and .venv's stamps"

demo: $(VENV)/.installed-plot,cli
	$(BIN)/spinney demo --picture demo.png

# Fast and slow steps together are all that must pass.
FAST := lint types cpp-test py-test docs-check
SLOW := cpp-tidy cpp-sanitize cpp-tsan py-test-slow

# $(call run-steps,steps): one after the other, cheap checks first, whatever -j says.
define run-steps
	+@for step in $(1); do \
		echo "== make $$step"; $(MAKE) --no-print-directory $$step || exit 1; done
endef

test: $(VENV)/.installed-test
	$(call run-steps,$(FAST))
	@echo "All fast tests passed. Left out, and run by \`make test-slow\`: $(SLOW) ($$(cat .pytest_cache/v/spinney/n_slow_left_out) tests marked slow)."

test-slow: $(VENV)/.installed-test
	$(call run-steps,$(SLOW))

venv: $(BIN)/python
install: $(VENV)/.installed-test

# The explorer's parts are one program and are looked at together: a name that one of them makes and
# none of them uses is then found, and one that is nowhere.
lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@mkdir -p $(BUILD)/lint && cat src/spinney/inspection/report/assets/*.js > $(BUILD)/lint/explorer.js
	$(BIN)/oxlint --deny-warnings --config .oxlintrc.json $(BUILD)/lint/explorer.js
	find cpp bindings -name '*.?pp' -print0 | xargs -0 $(BIN)/clang-format --dry-run -Werror

types: $(VENV)/.installed-test
	$(BIN)/mypy --strict

cpp-test: $(VENV)/.installed-test
	$(call run-cpp-tests,cpp-test,-DCMAKE_BUILD_TYPE=Release)

# In a variable, for a comma would end the argument of a call.
ADDRESS := address,undefined

cpp-sanitize: $(VENV)/.installed-test
	$(call run-cpp-tests,cpp-sanitize,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSPINNEY_SANITIZE=$(ADDRESS))

# The compilation of cpp-test says how; it is configured here, not built.
cpp-tidy: $(VENV)/.installed-test
	$(call configure-cpp-tests,cpp-test,-DCMAKE_BUILD_TYPE=Release)
	find cpp/src -name '*.cpp' -print0 | xargs -0 -n 4 -P 2 $(BIN)/clang-tidy -p $(BUILD)/cpp-test --quiet

# Only the tests that start threads.
cpp-tsan: $(VENV)/.installed-test
	$(call build-cpp-tests,cpp-tsan,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSPINNEY_SANITIZE=thread)
	$(BUILD)/cpp-tsan/spinney_tests thread task interrupt exception

# Each process takes a half of the tests as they stand and then what the other has left, so that
# models which a module shares are fitted once.
PYTEST_JOBS ?= 2
py-test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m "not slow" -n $(PYTEST_JOBS) --dist worksteal

py-test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow -n $(PYTEST_JOBS) --dist worksteal

docs: $(VENV)/.installed-docs
	$(BIN)/python docs/site

docs-check: $(VENV)/.installed-docs
	$(BIN)/python docs/site --check

MUTANTS ?= 100000
SEED ?= 0

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz --mutants $(MUTANTS) --seed $(SEED)

# The sources with a core of their own beside them. Python itself is not built with the sanitizer, so
# its library is loaded first. Address space cannot be limited under it, and Python's leaks are not ours.
ASAN := $(BUILD)/fuzz-asan
fuzz-asan: $(VENV)/.installed-test
	$(BIN)/cmake -S . -B $(ASAN) -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN)/ninja)" \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSPINNEY_SANITIZE=$(ADDRESS) -DPython_EXECUTABLE="$(abspath $(BIN)/python)" \
		-Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"
	$(BIN)/cmake --build $(ASAN) --target _core
	rm -rf $(ASAN)/site && mkdir -p $(ASAN)/site && cp -r src/spinney $(ASAN)/site/
	rm -f $(ASAN)/site/spinney/_core*.so && cp $(ASAN)/_core*.so $(ASAN)/site/spinney/
	PYTHONPATH=$(ASAN)/site LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 $(BIN)/python -m tests.fuzz --mutants $(MUTANTS) --seed $(SEED) \
		--memory 0 --timeout 120 --state $(ASAN)/state.json --keep $(ASAN)/failures

# Other systems, as zig calls them. No step of test-slow: zig first compiles its libraries for each.
SYSTEMS := aarch64-linux-gnu aarch64-macos x86_64-windows-gnu
portability: $(SYSTEMS:%=portability-%)

# Compiled and linked; ctest says whether the tests ran as well, or were left out for want of an emulator.
portability-%: export ZIG_GLOBAL_CACHE_DIR = $(abspath $(BUILD)/portability/zig)
portability-%: export ZIG_LOCAL_CACHE_DIR = $(ZIG_GLOBAL_CACHE_DIR)
portability-%: $(VENV)/.installed-test FORCE
	@echo "== $*"
	$(call run-cpp-tests,portability/$*,--toolchain cpp/zig.cmake -DSPINNEY_TARGET=$* \
		-DSPINNEY_PYTHON=$(abspath $(BIN)/python) -DCMAKE_BUILD_TYPE=Release)

# Not part of `test`, which runs a few kills of its own.
kill-test: $(VENV)/.installed-test
	$(BIN)/python benchmarks/kill_test.py

clean:
	rm -rf $(BUILD) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo.png
	rm -f $(VENV)/.installed-* $(VENV)/.build-tools $(SOURCE_LIST)

# $(call configure-cpp-tests,folder,options) and so on: configure, build and run the tests of the core.
define configure-cpp-tests
	$(BIN)/cmake -S . -B $(BUILD)/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN)/ninja)" \
		-DSPINNEY_BUILD_TESTS=ON -DSPINNEY_BUILD_PYTHON=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON $(2)
endef

define build-cpp-tests
	$(call configure-cpp-tests,$(1),$(2))
	$(BIN)/cmake --build $(BUILD)/$(1)
endef

define run-cpp-tests
	$(call build-cpp-tests,$(1),$(2))
	$(BIN)/ctest --test-dir $(BUILD)/$(1) --output-on-failure
endef

# Ends with one line of help unless the compiler that CMake would take knows C++20.
define check-compiler
	@works() { printf '#include <concepts>\n#include <ranges>\nstatic_assert(std::ranges::range<int[1]>);\n' | "$$@" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }; \
	if [ -n "$$CXX" ]; then works $$CXX; else works c++ || works g++ || works clang++; fi \
		|| { echo "$(CXX_HELP)" >&2; exit 1; }
endef

# Not isolated: the build folder is then used again, and a small edit compiles in seconds.
$(VENV)/.installed-%: $(SOURCES) $(SOURCE_LIST) $(VENV)/.build-tools
	$(check-compiler)
	$(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation '.[$*]'
	@touch $@

$(VENV)/.build-tools: pyproject.toml | $(BIN)/python
	$(check-compiler)
	$(BIN)/python -c "import tomllib; \
	print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" > $@.txt
	$(BIN)/python -m pip install --disable-pip-version-check -r $@.txt cmake ninja
	@mv $@.txt $@

$(SOURCE_LIST): FORCE | $(BIN)/python
	@printf '%s\n' $(SOURCES) | cmp -s - $@ || printf '%s\n' $(SOURCES) > $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "$(PYTHON_HELP)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
