# The front door. CMake does the work (CMakeLists.txt, CMakePresets.json); `make help`.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := build
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Warnings stop the tests; with a compiler that is newer than this code: make test WERROR=OFF
WERROR ?= ON
FORMATTED = $(shell find include src tests examples bench -name '*.[ch]' 2>/dev/null)

# $(call compile,PRESET,FOLDER,CONFIGURE OPTIONS,BUILD OPTIONS)
compile = cmake --preset $(1) $(3) >/dev/null && cmake --build $(2) --parallel $(JOBS) $(4)

# ctest on folder $(1), with its summary line, "N% tests passed, ...", as the last line.
run_tests = $(2) ctest --test-dir $(1) --parallel $(JOBS) --output-on-failure \
	--no-tests=error --no-label-summary 2>&1 | awk ' \
	/tests passed, [0-9]+ tests? failed out of/ { summary = $$0; next } \
	{ print; fflush() } END { if (summary) print summary }'

# Where `make install` puts things; DESTDIR comes before, for packages.
PREFIX ?= /usr/local
# The harnesses of tests/fuzz, each for SECONDS.
SECONDS ?= 60

.PHONY: build report fuzz test test-clang test-tsan test-avx512 test-arm64 demo picture bench arm64 format check-format clean help \
	install uninstall deb

build: ## configure and build: build/lengthen, build/liblengthen.a, build/examples/
	@scripts/need build
	@$(call compile,release,build)

# One ctest run over both builds, so that one summary counts everything.
test: ## install what is missing, build, run all tests, unit tests under ASan and UBSan too
	@scripts/need build test plot
	@scripts/need --optional mpi pages
	@$(call compile,release,build,-DLG_TESTS=ON -DLG_WERROR=$(WERROR))
	@$(call compile,asan,build-asan,-DLG_TESTS=ON -DLG_WERROR=$(WERROR))
	@mkdir -p build/all
	@printf 'subdirs("%s" "%s")\n' "$(CURDIR)/build" "$(CURDIR)/build-asan" \
		>build/all/CTestTestfile.cmake
	@$(call run_tests,build/all)

test-clang: ## the tests, built with clang
	@scripts/need build test clang
	@$(call compile,clang,build-clang,-DLG_TESTS=ON -DLG_WERROR=$(WERROR))
	@$(call run_tests,build-clang)

# ThreadSanitizer of gcc 12 cannot run under the widest address space randomisation of newer
# kernels; setarch -R turns it off for the tests where that is allowed.
test-tsan: ## the unit tests under ThreadSanitizer
	@scripts/need build test
	@$(call compile,tsan,build-tsan,-DLG_TESTS=ON -DLG_WERROR=$(WERROR))
	@fixed="setarch $$(uname -m) -R"; $$fixed true 2>/dev/null || fixed=; \
		$(call run_tests,build-tsan,$$fixed)

test-avx512: ## tests of the AVX-512 kernels on an emulated CPU, for machines that have none
	@scripts/need build test
	@$(call compile,release,build,-DLG_TESTS=ON -DLG_WERROR=$(WERROR))
	@scripts/avx512

install: ## program, library, headers, pkg-config, man page, completion; PREFIX=/usr/local, DESTDIR=
	@scripts/need build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build build --parallel $(JOBS) --target lengthen liblengthen liblengthen_shared
	@DESTDIR=$(DESTDIR) cmake --install build >/dev/null
	@[[ "$(DESTDIR)" || $$(id -u) -ne 0 ]] || ldconfig
	@echo "Installed under $(DESTDIR)$(PREFIX)"

uninstall: ## remove what the last `make install` has installed (the same PREFIX and DESTDIR)
	@[[ -e build/install_manifest.txt ]] || { echo "nothing was installed from here"; exit 1; }
	@while read -r f || [[ "$$f" ]]; do rm -f "$(DESTDIR)$$f"; done <build/install_manifest.txt
	@rm -rf "$(DESTDIR)$(PREFIX)/share/lengthen"
	@echo "Removed from $(DESTDIR)$(PREFIX)"

deb: ## Debian packages into build-deb/: program, library, dev, python; scripts/deb-check tries them in a clean root
	@scripts/need build deb
	@scripts/deb $(JOBS)

demo: ## install what is missing, build, run the main job; the figure goes to build/demo.svg
	@scripts/need build
	@scripts/need --optional plot
	@$(call compile,release,build,,--target lengthen)
	@build/lengthen demo $$(command -v gnuplot >/dev/null && echo --plot build/demo.svg)

picture: ## make the README's picture again: docs/demo.svg, from the demo's own numbers
	@scripts/need build plot
	@$(call compile,release,build,,--target lengthen)
	@build/lengthen demo --plot docs/demo.svg

report: ## all committed results as one HTML file: build/report.html
	@scripts/need build
	@$(call compile,release,build,,--target lengthen)
	@build/lengthen report -o build/report.html

fuzz: ## fuzz what reads requests (clang's libFuzzer), SECONDS=60 for each harness
	@scripts/need build clang
	@mkdir -p build/fuzz
	@for f in tests/fuzz/fuzz_*.c; do name=$$(basename $$f .c); \
		clang -std=c11 -g -O1 -D_GNU_SOURCE=1 -fsanitize=fuzzer,address,undefined \
			-fno-sanitize-recover=all -Iinclude -Isrc -Itests $$f $$(sed -n 's|^// uses: ||p' $$f) \
			-o build/fuzz/$$name && \
		(cd build/fuzz && ./$$name -max_total_time=$(SECONDS) -max_len=4096 -verbosity=0 \
			-print_final_stats=1); done

bench: ## build and measure; installs the BLAS libraries that give this machine's peak
	@scripts/need build
	@scripts/need --optional peak
	@$(call compile,release,build,,--target lengthen)
	@build/lengthen bench

arm64: ## cross-build for arm64
	@scripts/need build arm64
	@$(call compile,arm64,build-arm64,,--target lengthen liblengthen_shared)

test-arm64: ## tests of the NEON kernels and a training run, under qemu-user
	@scripts/need build arm64 qemu
	@$(call compile,arm64,build-arm64)
	@scripts/arm64

format: ## format all C files
	@scripts/need format
	@clang-format -i $(FORMATTED)

check-format: ## fail if a C file is not formatted
	@scripts/need format
	@clang-format --dry-run --Werror $(FORMATTED)

clean: ## remove all build folders
	@rm -rf build build-clang build-asan build-tsan build-arm64 build-deb

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
