package risk

import (
	"regexp"
	"slices"
	"strings"
)

// knownOptions are the options that are known to do no harm, of builds and tests: letters that may stand together after one dash, and options as they are
// written. An option of them may have a value after "=". Every other option, a shortened one too, needs a second look: with new versions and plugins come
// options that load code, read another configuration or write a file.
var knownOptions = map[string]string{
	"pytest py.test": "vxqslkmrnAE --tb --maxfail --lf --last-failed --ff --failed-first --nf --sw --stepwise --durations --co --collect-only --cov --cov-report=term --cov-report=term-missing --no-cov --cov-fail-under --no-header --no-summary --exitfirst --verbose --quiet --capture --showlocals --disable-warnings --strict-markers --markers --fixtures --version --timeout --runxfail --ignore --deselect --color",
	"unittest":       "vqfbk", "compileall": "qf", "json.tool": "--sort-keys --indent --compact --no-ensure-ascii --json-lines",
	"mypy":   "pm --strict --ignore-missing-imports --no-error-summary --pretty --show-error-codes --no-incremental --no-color-output --version",
	"pylint": "Ejrny --disable --enable --errors-only --score --reports --version", "pyright": "--stats --verbose --outputjson --warnings --version",
	"ruff":   "q --fix --no-fix --select --ignore --extend-select --diff --check --statistics --quiet --show-fixes --unsafe-fixes --no-cache --preview --line-length --exclude --version",
	"black":  "qvlStC --check --diff --quiet --verbose --line-length --target-version --fast --safe --color --exclude --version",
	"flake8": "qv --max-line-length --max-complexity --select --ignore --extend-ignore --count --statistics --show-source --exclude --version",
	"isort":  "qvc --check --check-only --diff --profile --quiet --verbose --version", "tox nox": "eqrsvl --list --version",
	"eslint":    "--fix --fix-dry-run --ext --max-warnings --quiet --cache --no-cache --color --no-color --report-unused-disable-directives --version -v",
	"prettier":  "wclu --write --check --list-different --log-level --loglevel --no-color --ignore-unknown --version",
	"stylelint": "--fix --quiet --cache --max-warnings --version", "biome": "--write --fix --apply --unsafe --max-diagnostics --changed --staged --version",
	"tsc":    "pbwv --noEmit --project --build --watch --pretty --strict --skipLibCheck --incremental --listFiles --showConfig --noEmitOnError --version --force --dry",
	"jest":   "iutowb --coverage --no-coverage --watch --watchAll --no-watch --runInBand --verbose --ci --bail --silent --testNamePattern --testPathPattern --testPathPatterns --updateSnapshot --findRelatedTests --passWithNoTests --maxWorkers --detectOpenHandles --forceExit --onlyChanged --listTests --json --no-cache --version",
	"vitest": "utw --run --coverage --watch --testNamePattern --update --bail --passWithNoTests --silent --no-color --changed --typecheck --version",
	"mocha":  "gbtw --grep --bail --timeout --recursive --exit --watch --parallel --forbid-only --dry-run --version",
	"rspec":  "et --example --fail-fast --tag --order --seed --color --no-color --profile --dry-run --version", "rubocop": "aAlx --autocorrect --autocorrect-all --auto-correct --lint --only --except --parallel --version",
	"phpunit": "v --filter --testsuite --group --exclude-group --stop-on-failure --testdox --colors --verbose --version", "phpstan": "lv --level --no-progress --memory-limit --version",
	"ctest":         "VNRELjCQ --test-dir --output-on-failure --verbose --rerun-failed --parallel --version",
	"golangci-lint": "vEDj --fix --timeout --verbose --enable --disable --fast --new-from-rev --build-tags --tests --concurrency --enable-all --disable-all --enable-only --show-stats --no-config",
	"gofmt":         "wldse", "goimports gofumpt": "wlde -local -extra", "rustfmt": "lv --check --edition", "staticcheck": "-checks -tests", "govulncheck": "-test -json -show",
	"clang-format": "in -Werror --dry-run --verbose", "clang-tidy": "-checks --checks -quiet --quiet", "shellcheck": "sSefao --severity --shell --exclude --format", "shfmt": "dliwsp -ci -bn -sr",
	"yamllint": "s --strict", "markdownlint": "f --fix", "hadolint": "--no-fail",
	"go":    "amnopuvxef -race -run -skip -count -short -timeout -bench -benchmem -benchtime -cover -coverprofile -coverpkg -covermode -tags -json -failfast -parallel -cpu -list -shuffle -trimpath -vet -fuzz -fuzztime -deps -test -all -src",
	"cargo": "rpFqvjieDWA --release --all --workspace --package --all-targets --all-features --features --no-default-features --lib --bins --bin --tests --test --example --examples --benches --bench --doc --no-run --no-fail-fast --locked --frozen --offline --quiet --verbose --nocapture --test-threads --exact --ignored --include-ignored --show-output --skip --no-deps --message-format --jobs --check --depth --invert --format-version --list --version --exclude",
	"npm":   "swv --fix --check --write --watch --watchAll --silent --if-present --workspaces --workspace --depth --all --json --long --coverage --ci --runInBand --run --bail --verbose --quiet --version --max-warnings --grep",
	"yarn":  "v --fix --check --write --watch --watchAll --silent --coverage --ci --runInBand --run --bail --verbose --quiet --version --max-warnings --grep",
	"pnpm":  "rswv --fix --check --write --watch --watchAll --silent --if-present --filter --recursive --depth --json --long --coverage --ci --runInBand --run --bail --verbose --quiet --version --max-warnings --grep",
	"bun":   "tv --watch --coverage --bail --timeout --only --todo --update-snapshots --version --fix",
	"node":  "v --version --check --test --test-only --test-name-pattern --test-concurrency --test-timeout --watch", "python python3 py": "V --version",
	"make gmake ninja just task rake": "jks", "cmake": "j --build --config --parallel --verbose --clean-first --version", "meson": "vj --verbose --print-errorlogs --suite --list",
	"gradle gradlew": "qis --quiet --info --stacktrace --no-daemon --parallel --rerun-tasks --continue --offline --tests --console --version", "mvn mvnw": "qBoUeX -ntp -DskipTests -Dmaven.test.skip -Dtest --quiet --batch-mode --offline --version",
	"dotnet":                 "cvf --no-build --no-restore --configuration --verbosity --filter --nologo --verify-no-changes --framework --version --info",
	"swift":                  "cvq --filter --skip --configuration --parallel --verbose --quiet --version",
	"mix":                    "--cover --trace --only --exclude --include --seed --failed --stale --warnings-as-errors --check-formatted --version",
	"stack cabal dune bazel": "vj --fast --verbose --release --jobs --version --test_output", "flutter dart": "nv --release --debug --name --plain-name --coverage --no-pub --version", "zig shards crystal": "--release --summary --version",
	"deno": "q --check --quiet --filter --fail-fast --fix --json --coverage", "composer": "qvn --quiet --verbose --strict --no-interaction",
}

func init() { //nolint:gochecknoinits // the same options for many names
	for names, options := range knownOptions {
		var alternatives []string
		for _, o := range strings.Fields(options) {
			if strings.HasPrefix(o, "-") {
				alternatives = append(alternatives, regexp.QuoteMeta(o)+"(=.*)?")
			} else {
				alternatives = append(alternatives, "-["+o+"]+[0-9]*(=.*)?")
			}
		}
		known := lazy("(?s)^(" + strings.Join(alternatives, "|") + ")$")
		for _, name := range strings.Fields(names) {
			onlyOptions[name] = known
		}
	}
}

// hasKnownOptions reports whether all options of a command are known. Those of programs that only read need not be: noOptions has the others.
func hasKnownOptions(name string, args []word) bool {
	if len(args) > 1 && args[0].is("-m") && strings.HasPrefix(name, "py") { // the module's options
		return hasKnownOptions(args[1].text, args[2:])
	}
	known := onlyOptions[name]
	if len(args) > 0 && onlyOptions[name+" "+args[0].text] != nil {
		known = onlyOptions[name+" "+args[0].text]
	}
	if known == nil && slices.Contains(readers, name) {
		return true
	}
	return !slices.ContainsFunc(args, func(a word) bool {
		switch {
		case a.text == "--":
			return false
		case strings.HasPrefix(a.text, "-"):
			return known == nil || !known.MatchString(a.text)
		}
		return strings.HasPrefix(a.text, "@") && name != "git" // a file with more options
	})
}
