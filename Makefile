# Rollcall. `make help` lists what there is; `make run` and `make test` need nothing but Go, git and make.

SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# X11 (also under XWayland) with OpenGL ES: a third of the default's compile time, the same program.
DESKTOP  := x11,gles
LDFLAGS  := -s -w -X main.version=$(VERSION)
# Left out of every build that a user gets: net/http's HTTP/2, 0.6 MB. Rollcall's own servers and the programs that it asks speak
# HTTP/1.1, and every other server accepts it.
OMIT     := nethttpomithttp2
# Every build that a user gets: no path of the machine that built it, position independent, relocations read-only from the start.
HARDENED := -trimpath -buildmode=pie
RELRO    := -Wl,-z,relro,-z,now
# Go's own build ID depends on the path of a cross compiler's libraries, so a program that gcc links has an ID of its contents.
BUILDID  := -buildid= -B none
CONTENTID := -Wl,--build-id=sha1
# A position-independent binary that needs no loader takes the C library's start code, so the static build links with gcc;
# netgo and osusergo keep C out of everything else. Without a C compiler: CGO_ENABLED=0 go build -tags headless .
STATIC   := headless,netgo,osusergo,$(OMIT)
BUILD    := build
FUZZTIME ?= 60s
HARNESS  ?= 4m
AGENTS   ?= stand-in
REST     ?= 5m
STRESS   ?= 100
FULLDISK ?= 1h
BENCH_N  ?= 100,1000,10000
BENCH_ROWS ?=
BENCH_NOTE ?=
# The tray's rows need root, Xvfb and the desktop build: BENCH_DESKTOP=build measures them too.
BENCH_DESKTOP ?=
SEED     ?= 1
# Programs with the race detector wait 1 s before they exit. The tests start hundreds of them.
export GORACE ?= atexit_sleep_ms=100
GOLANGCI := $(BUILD)/tools/golangci-lint
GOVULNCHECK := $(BUILD)/tools/govulncheck
GOTESTSUM := $(BUILD)/tools/gotestsum
NFPM     := $(BUILD)/tools/nfpm
ACTIONLINT := $(BUILD)/tools/actionlint
# The architectures of the Linux packages.
ARCHITECTURES ?= amd64 arm64
# What needs no cgo, and so can be checked for every system on one.
PORTABLE := . ./adapters/... ./proc/... ./app ./app/cli/... ./app/control/... ./app/machine/... ./app/owned/... ./app/present/... ./app/program ./app/self/... ./app/settings/... ./app/store/... ./app/usage ./bounded ./textmatch
# Packages whose tests take less than about two seconds of processor time each. The others (the adapters' suites, launches, the command line, tray,
# window, notifications, the core's, git's and processes') start many processes or build the program: make test.
FAST     := ./internal/doctest ./adapters ./adapters/internal/agentproc ./adapters/internal/agentfile \
	./app/owned/cleanup/... ./app/owned/fuse ./app/store/lock ./app/present ./app/store/quiet ./app/owned/script ./app/settings ./app/store ./app/owned/webhook ./tray/model

# The packages whose tests take longest, which start first.
SLOW := ./app/owned/keep ./app/ui ./tray ./app/cli ./adapters/codex ./app/window ./adapters/claudecode ./adapters/opencode ./adapters/openclaw ./app/machine ./notify ./app/control/focus ./internal/harness ./app/owned/launch . ./app
# Comparisons over large stores: without the race detector, which watches the same code in the tests of its own packages, they take a fifth of
# the time. How much memory a gigabyte of nothing takes can be judged only without it.
SEQUENTIAL := ./internal/corpus
# What is built without the race detector: systray, whose GetLayout reads a number that its refresh writes at the same time, and what only computes
# (SQLite, fonts, pictures): its own goroutines share nothing, and watching it takes half of the time of the tests of stores and of the window. No
# package that uses sync.Map or atomic.Pointer may be among them: the linker could take its copy of them, which tells the detector nothing, for the
# whole program.
UNWATCHED := fyne.io/systray modernc.org/sqlite/lib golang.org/x/image/... github.com/go-text/typesetting/... github.com/fyne-io/oksvg \
	github.com/srwiley/rasterx image image/color image/draw
RACE     := -race $(patsubst %,-gcflags=%=-race=false,$(UNWATCHED))
# So many packages are tested at once: two more than there are processors, since many tests wait.
AT_ONCE ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))

.PHONY: help setup setup-run check test-fast build headless man windows run test test-go test-crash test-agents test-agents-all harness one-answer one-key numbers vet lint fmt fuzz audit licences bench bench-check bench-peers benchmarks icons screenshots install clean rest shots stress full-disk packages setup-packages windows-cli windows-installer test-windows test-wine setup-wine mac-check windows-check darwin-cli app dmg typecheck-macos test-packages test-desktops lint-release release-dry-run

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  \033[1m%-13s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the system packages that the rest needs (Debian)
	@packaging/setup build-packages.txt display-packages.txt debian-packages.txt

setup-run: ## install the system packages that building needs, and without a display a virtual one with a panel (Debian)
	@packaging/setup build-packages.txt $(if $(DISPLAY)$(WAYLAND_DISPLAY),,display-packages.txt)

build: ## build the desktop application: build/rollcall
	go build $(HARDENED) -tags $(DESKTOP),$(OMIT) -ldflags '$(LDFLAGS) $(BUILDID) -bindnow -linkmode=external -extldflags "$(RELRO) $(CONTENTID)"' -o $(or $(OUT),$(BUILD)/rollcall) .

headless: ## build the static command-line binary: build/rollcall-headless
	CGO_ENABLED=1 go build $(HARDENED) -tags $(STATIC) -ldflags '$(LDFLAGS) $(BUILDID) -linkmode=external -extldflags "-static-pie $(RELRO),-z,pack-relative-relocs $(CONTENTID)"' \
		-o $(or $(OUT),$(BUILD)/rollcall-headless) .

man: ## write the manual pages of all commands: build/man
	@rm -rf $(BUILD)/man
	go run -tags headless ./internal/manpages $(BUILD)/man

windows: ## cross-build the desktop application for Windows: build/rollcall.exe
	@packaging/windows/resources
	CC=x86_64-w64-mingw32-gcc GOOS=windows GOARCH=amd64 CGO_ENABLED=1 \
		go build $(HARDENED) -tags $(OMIT) -ldflags '$(LDFLAGS) -H windowsgui' -o $(BUILD)/rollcall.exe .

windows-cli: ## cross-build the command-line program for Windows: build/rollcall.com
	@packaging/windows/resources
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build $(HARDENED) -tags headless,$(OMIT) -ldflags '$(LDFLAGS)' -o $(BUILD)/rollcall.com .

windows-installer: setup-packages windows windows-cli ## build the installer for Windows and the archive without one: build/dist
	@packaging/windows/build

test-windows: windows-installer ## run the installer and the program's portable tests under Wine
	@packaging/windows/test

test-wine: setup-wine ## run the tests of the portable packages under Wine (WINE=short: those that CI runs), and compare what fails with a list
	@packaging/windows/test-wine $(WINE)

setup-wine: ## install Wine, and what the tests under it need (Debian)
	@packaging/setup wine-packages.txt

darwin-cli: ## cross-build the command-line program for macOS, arm64 and amd64: build/dist
	@packaging/macos/cli

app: ## on a Mac: build build/Rollcall.app
	@packaging/macos/app

dmg: app ## on a Mac: build the disk image of the application: build/dist
	@packaging/macos/dmg

mac-check: ## on a Mac: print what an issue about it needs; it only reads, and says first what it prints
	@packaging/macos/check-mac $(ROLLCALL)

windows-check: ## on Windows: print what an issue about it needs, by the program itself (ROLLCALL: rollcall.com)
	@$(or $(ROLLCALL),$(BUILD)/rollcall.com) doctor --report

test-packages: packages ## as root: install, start, upgrade and remove the packages in fresh trees of DISTRIBUTIONS (bookworm trixie)
	@packaging/test-packages $(DISTRIBUTIONS)
	@packaging/test-other-packages

test-desktops: setup-packages build ## as root: run the program on Plasma, GNOME, Cinnamon and MATE (DESKTOPS) under a virtual display, in a tree of its own (800 MB)
	@packaging/test-desktops $(DESKTOPS)

typecheck-macos: ## check the types of the Objective-C code below tray and window, without a Mac
	@packaging/macos/typecheck

lint-release: $(ACTIONLINT) typecheck-macos ## check the workflows, and test what makes releases
	$(ACTIONLINT) .github/workflows/*.yml
	cd tools/release && go vet ./... && go test ./...
	go test ./packaging/...

release-dry-run: lint-release packages darwin-cli windows-installer ## do everything of a release that this machine can, and list what is left
	@packaging/release --dry-run

run: setup-run build ## set up, build and start Rollcall; without a display, under a virtual one
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then exec $(BUILD)/rollcall; \
	else go run ./internal/desktoptest/show -binary $(BUILD)/rollcall -out $(BUILD)/shots; fi

test: setup vet lint build headless windows licences test-go test-crash ## set up and run every check and test, on a real desktop under Xvfb too
	@packaging/check
	@echo "make test: all passed; screenshots in $(BUILD)/shots"

check: vet lint test-fast ## before each commit: format, vet, linters, fast tests

test-fast: ## the tests of packages that need little: no agents' stores, no builds, no desktop
	go test -short -tags headless $(FAST)

test-go: $(GOTESTSUM) ## all Go tests, with the race detector but for SEQUENTIAL: real desktops where their programs are installed
	@mkdir -p $(BUILD)
	$(GOTESTSUM) --format pkgname --hide-summary skipped --jsonfile=$(BUILD)/tests.jsonl -- $(RACE) -count=1 -p $(AT_ONCE) -tags $(DESKTOP),desktop \
		-timeout 15m -exec "'$(CURDIR)/packaging/in-memory'" $(SLOW) $$(go list -tags $(DESKTOP),desktop ./... | grep -vxF '$(SEQUENTIAL:./%=rollcall/%)')
	go test -count=1 -timeout 15m -exec "'$(CURDIR)/packaging/in-memory'" $(SEQUENTIAL)
	go test -count=1 -run 'TestConformance/huge$$' ./adapters/claudecode ./adapters/cline ./adapters/codex ./adapters/copilot ./adapters/gemini ./adapters/grok ./adapters/kimi ./adapters/omp ./adapters/pi ./adapters/qwen

test-crash: ## kill launches at every step of theirs and look at what is left
	go test $(RACE) -count=1 -tags faults -timeout 5m -run Crash ./app/owned/launch

stress: ## run STRESS percent (100) of the stress tests: a thousand launches in a row, hundreds at once, pids given again, 500 changes of each agent's files
	ROLLCALL_STRESS=$(STRESS) go test $(RACE) -count=1 -tags faults -timeout 30m -run Stress -v ./app/owned/launch
	ROLLCALL_CACHE_STEPS=$$(($(STRESS) * 5)) go test $(RACE) -count=1 -timeout 30m -run CacheChangesNothing -v ./internal/corpus

full-disk: ## leave the disk with the keeper's state full for FULLDISK (1h), and see everything that was due done once afterwards
	ROLLCALL_FULL_DISK=$(FULLDISK) go test -count=1 -timeout 0 -run '^TestFullDisk$$' -v ./app/owned/keep

rest: build ## measure for 5 minutes what the tray uses at rest, with 10,000 sessions and 300 processes
	ROLLCALL_REST=$(REST) go test -count=1 -timeout 60m -run TestRest -v ./internal/rest

harness: $(if $(filter real,$(AGENTS)),setup) ## do random things to agents (AGENTS: stand-in, real), Rollcall and the desktop for HARNESS (4m) by SEED (1), and compare all with the truth; PICTURES: a folder for the real agents' screens instead; STATES=1: the real agents' rare states instead
	go build -tags $(DESKTOP),faults -o $(BUILD)/rollcall-harness .
	ROLLCALL_HARNESS=$(HARNESS) ROLLCALL_HARNESS_STEPS=$(STEPS) ROLLCALL_HARNESS_SEED=$(SEED) ROLLCALL_HARNESS_AGENTS=$(AGENTS) \
		ROLLCALL_HARNESS_PICTURES=$(abspath $(PICTURES)) ROLLCALL_HARNESS_STATES=$(STATES) ROLLCALL_HARNESS_BINARY=../../$(BUILD)/rollcall-harness \
		go test -tags agents -count=1 -timeout 0 -run '$(if $(PICTURES),^TestTakePictures$$,$(if $(STATES),^TestStates$$,^TestHarness$$))' -v ./internal/harness

numbers: setup ## have each real agent (AGENT: one of them) do STEPS (30) things by SEED (1), and compare what usage counts with what the model server answered
	SEED=$(or $(SEED),1) ROLLCALL_NUMBERS=$(or $(STEPS),30) ROLLCALL_NUMBERS_AGENT=$(AGENT) go test -tags agents -count=1 -timeout 0 -run '^TestNumbers' -v ./internal/agents

one-answer: ## after each of STEPS (10000) random steps by SEED (1), compare a core that runs on with one that begins and with a process, all fields
	ROLLCALL_ONE_ANSWER=$(or $(STEPS),10000) ROLLCALL_HARNESS_SEED=$(SEED) go test -count=1 -timeout 0 -run '^TestOneAnswer$$' -v ./internal/harness

one-key: setup ## run what one key allows of COMMANDS (100000) random commands by SEED (1), for at most LIMIT, in five shells under a tracer: it only reads
	ROLLCALL_ONE_KEY=$(or $(COMMANDS),100000) ROLLCALL_ONE_KEY_LIMIT=$(LIMIT) ROLLCALL_ONE_KEY_JUDGE=$(JUDGE) ROLLCALL_HARNESS_SEED=$(SEED) \
		go test -count=1 -timeout 0 -run '^TestOneKey$$' -v ./internal/onekey

# Real programs on a busy machine are not deterministic: a scenario that fails is run again, alone, and what failed is printed at the end. A wrong
# status that was seen once is a fault to find.
TEST_AGENTS = rm -f $(BUILD)/reruns.txt; $(GOTESTSUM) --format testname --hide-summary skipped --jsonfile=$(BUILD)/agents.jsonl \
	--rerun-fails=2 --rerun-fails-max-failures=6 --rerun-fails-report=$(BUILD)/reruns.txt --packages=./internal/agents/... -- -tags agents -count=1

test-agents: setup $(GOTESTSUM) ## install the newest version of each real agent (npm, 2 GB, into a cache folder) and run the scenarios of each state
	@mkdir -p $(BUILD)
	$(TEST_AGENTS) -timeout 35m
	@[ ! -s $(BUILD)/reruns.txt ] || { echo "run more than once:"; cat $(BUILD)/reruns.txt; }

test-agents-all: setup $(GOTESTSUM) ## the same with the oldest versions whose status is determined too, with races between answers and with rare cases
	@mkdir -p $(BUILD)
	ROLLCALL_AGENTS=all $(TEST_AGENTS) -timeout 90m

# On Linux, go vet is one of lint's.
vet: ## gofmt, and go vet for macOS and Windows
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed:"; echo "$$bad"; exit 1; }
	GOOS=darwin  CGO_ENABLED=0 go vet -tags headless $(PORTABLE) ./notify/...
	GOOS=windows CGO_ENABLED=0 go vet -tags headless $(PORTABLE) ./notify/...

$(GOLANGCI): tools/go.mod tools/go.sum
	cd tools && go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(GOVULNCHECK): tools/go.mod tools/go.sum
	cd tools && go build -o ../$@ golang.org/x/vuln/cmd/govulncheck

$(GOTESTSUM): tools/go.mod tools/go.sum
	cd tools && go build -o ../$@ gotest.tools/gotestsum

# What makes packages and releases has a module of its own, so that its dependencies never change the linters'.
$(NFPM): tools/release/go.mod tools/release/go.sum
	cd tools/release && go build -o ../../$@ github.com/goreleaser/nfpm/v2/cmd/nfpm

$(ACTIONLINT): tools/release/go.mod tools/release/go.sum
	cd tools/release && go build -o ../../$@ github.com/rhysd/actionlint/cmd/actionlint

packages: setup-packages $(NFPM) ## build the Linux packages for ARCHITECTURES (amd64 arm64): build/dist
	@packaging/packages $(ARCHITECTURES)
	@packaging/check-packages

setup-packages: ## install the system packages that packages and releases need (Debian)
	@packaging/setup release-packages.txt wine-packages.txt

print-%:
	@echo '$($*)'

lint: $(GOLANGCI) ## run the linters (pinned in tools/go.mod)
	$(GOLANGCI) run --build-tags $(DESKTOP),desktop,desktops,agents,faults ./...
	shellcheck $$(grep -lE '^#!/(usr/bin/env bash|bin/sh)' -r packaging) packaging/version packaging/windows/prefix .ci/run

fmt: $(GOLANGCI) ## format the source
	$(GOLANGCI) fmt ./...

fuzz: ## run each fuzz target for FUZZTIME (60s), one per processor at once
	@packaging/fuzz $(FUZZTIME)

audit: $(GOVULNCHECK) ## check the modules' hashes and look for known vulnerabilities; fails, and names what was not checked, where the database can't be reached
	@packaging/audit $(GOVULNCHECK) $(DESKTOP)

licences: ## gather the licences of all modules in the program: build/third-party-licences.txt
	@packaging/licences $(DESKTOP) >$(BUILD)/third-party-licences.txt

benchmarks: ## run the benchmarks of the packages
	go test -run '^$$' -bench . -benchmem ./...

# The temporary folder (TMPDIR) needs 1.1 MB for each session, 15 GB for 10,000, and is given back.
BENCHMARK = go build -o $(BUILD)/bench ./internal/bench && $(BUILD)/bench -version '$(VERSION)' -n '$(BENCH_N)' -rows '$(BENCH_ROWS)' -desktop '$(BENCH_DESKTOP)' -note '$(BENCH_NOTE)'

bench: headless $(BENCH_DESKTOP) ## measure the program on corpora of BENCH_N (100,1000,10000) sessions, beside a floor and other programs: docs/benchmarks.md
	$(BENCHMARK)

bench-check: headless $(BENCH_DESKTOP) ## measure again, and say what got worse than docs/benchmarks.md by more than a quarter
	$(BENCHMARK) -check -no-peers

bench-peers: ## install the other programs that bench measures, as far as npm has them: build/peers
	npm install --prefix $(BUILD)/peers --no-audit --no-fund ccusage@18

icons: ## draw the icons again from their SVG sources
	go generate ./assets

shots: ## paint every page and state of the window, light and dark, every page also at four sizes and two scales: build/shots/ui-*.png
	ROLLCALL_SHOTS=1 go test -count=1 -tags headless -timeout 30m -run 'Shot|Page|Introduction|Queue|Locks|Markdown|Defect' ./app/ui/...

screenshots: ## paint the window that the README shows, and keep the tests' screenshot of the menu (after make test)
	go test -count=1 -tags headless -run TestShotFrontPage ./app/ui
	convert $(BUILD)/shots/tray-xfce4-panel-light-menu.png -crop 620x372+0+0 +repage docs/menu.png
	cp $(BUILD)/shots/ui-front-page-light.png docs/window.png

install: build ## install for this user: ~/.local/bin and the application menu
	install -Dm755 $(BUILD)/rollcall $(HOME)/.local/bin/rollcall
	install -Dm644 packaging/io.github.rollcall.Rollcall.desktop $(HOME)/.local/share/applications/io.github.rollcall.Rollcall.desktop
	install -Dm644 assets/svg/rollcall.svg $(HOME)/.local/share/icons/hicolor/scalable/apps/io.github.rollcall.Rollcall.svg

clean: ## remove what was built
	rm -rf $(BUILD)
