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
	"pytest py.test": "vxqslkmrnAEW --tb --maxfail --lf --last-failed --ff --failed-first --nf --sw --stepwise --durations --co --collect-only --cov --cov-report=term --cov-report=term-missing --no-cov --cov-fail-under --no-header --no-summary --exitfirst --verbose --quiet --capture --showlocals --disable-warnings --strict-markers --markers --fixtures --version --timeout --runxfail --ignore --deselect --color",
	"unittest":       "vqfbkspt", "compileall": "qf", "json.tool": "--sort-keys --indent --compact --no-ensure-ascii --json-lines",
	"mypy":   "pm --strict --ignore-missing-imports --no-error-summary --pretty --show-error-codes --no-incremental --no-color-output --version",
	"pylint": "Ejrny --disable --enable --errors-only --score --reports --version", "pyright": "--stats --verbose --outputjson --warnings --version",
	"ruff":   "q --fix --no-fix --select --ignore --extend-select --output-format --diff --check --statistics --quiet --show-fixes --unsafe-fixes --no-cache --preview --line-length --exclude --version",
	"black":  "qvlStC --check --diff --quiet --verbose --line-length --target-version --fast --safe --color --exclude --version",
	"flake8": "qv --max-line-length --max-complexity --select --ignore --extend-ignore --count --statistics --show-source --exclude --version",
	"isort":  "qvc --check --check-only --diff --profile --quiet --verbose --version", "tox nox": "eqrsvl --list --version",
	"eslint":    "--fix --fix-dry-run --ext --max-warnings --quiet --cache --no-cache --color --no-color --report-unused-disable-directives --version -v",
	"prettier":  "wclu --write --check --list-different --log-level --loglevel --no-color --ignore-unknown --version",
	"stylelint": "--fix --quiet --cache --max-warnings --version", "biome": "--write --fix --apply --unsafe --max-diagnostics --changed --staged --version",
	"tsc":    "pbwv --noEmit --project --build --watch --pretty --strict --skipLibCheck --incremental --listFiles --showConfig --noEmitOnError --version --force --dry",
	"jest":   "iutowb --coverage --no-coverage --watch --watchAll --no-watch --runInBand --verbose --ci --bail --silent --testNamePattern --testPathPattern --testPathPatterns --updateSnapshot --findRelatedTests --passWithNoTests --maxWorkers --detectOpenHandles --forceExit --onlyChanged --listTests --json --no-cache --version",
	"vitest": "utw --reporter=verbose --reporter=default --reporter=dot --reporter=basic --run --coverage --watch --testNamePattern --update --bail --passWithNoTests --silent --no-color --changed --typecheck --version",
	"mocha":  "gbtw --grep --bail --timeout --recursive --exit --watch --parallel --forbid-only --dry-run --version",
	"rspec":  "etf --format --example --fail-fast --tag --order --seed --color --no-color --profile --dry-run --version", "rubocop": "aAlx --autocorrect --autocorrect-all --auto-correct --lint --only --except --parallel --version",
	"phpunit": "v --filter --testsuite --group --exclude-group --stop-on-failure --testdox --colors --verbose --version", "phpstan": "lv --level --no-progress --memory-limit --version",
	"ctest":         "VNRELjCQ --test-dir --output-on-failure --verbose --rerun-failed --parallel --version",
	"golangci-lint": "vEDj --fix --timeout --verbose --enable --disable --fast --new-from-rev --build-tags --tests --concurrency --enable-all --disable-all --enable-only --show-stats --no-config",
	"gofmt":         "wldse", "goimports gofumpt": "wlde -local -extra", "rustfmt": "lv --check --edition", "staticcheck": "-checks -tests", "govulncheck": "-test -json -show",
	"clang-format": "in -Werror --dry-run --verbose", "clang-tidy": "-checks --checks -quiet --quiet", "shellcheck": "sSefaox --severity --shell --exclude --format", "shfmt": "dliwsp -ci -bn -sr",
	"yamllint": "s --strict", "markdownlint": "f --fix", "hadolint": "--no-fail",
	"go":            "amnopuvxef -race -run -skip -count -short -timeout -bench -benchmem -benchtime -cover -coverprofile -coverpkg -covermode -tags -json -failfast -parallel -cpu -list -shuffle -trimpath -vet -fuzz -fuzztime -deps -test -all -src",
	"cargo":         "rpFqvjieDWA --release --all --workspace --package --all-targets --all-features --features --no-default-features --lib --bins --bin --tests --test --example --examples --benches --bench --doc --no-run --no-fail-fast --locked --frozen --offline --quiet --verbose --nocapture --test-threads --exact --ignored --include-ignored --show-output --skip --no-deps --message-format --jobs --check --depth --invert --format-version --list --version --exclude",
	"npm yarn pnpm": "v --fix --check --write --watch --watchAll --silent --coverage --ci --runInBand --run --bail --verbose --quiet --version --max-warnings --grep",
	"npm pnpm":      "sw --if-present --depth --json --long", "npm": "tg --workspaces --workspace --all", "pnpm": "r --filter --recursive",
	"bun":  "tv --watch --coverage --bail --timeout --only --todo --update-snapshots --version --fix",
	"node": "v --version --check --test --test-only --test-name-pattern --test-concurrency --test-timeout --test-reporter=spec --test-reporter=tap --test-reporter=dot --watch", "python python3 py": "V --version",
	"make gmake ninja just task rake": "jks", "cmake": "jt --build --target --config --parallel --verbose --clean-first --version", "meson": "vj --verbose --print-errorlogs --suite --list",
	"gradle gradlew": "qisx --quiet --info --stacktrace --no-daemon --parallel --rerun-tasks --continue --offline --tests --console --version", "mvn mvnw": "qBoUeX -ntp -DskipTests -Dmaven.test.skip -Dtest --quiet --batch-mode --offline --version",
	"dotnet":                 "cvf --no-build --no-restore --configuration --verbosity --filter --nologo --verify-no-changes --framework --version --info",
	"swift":                  "cvq --filter --skip --configuration --parallel --verbose --quiet --version",
	"mix":                    "--cover --trace --only --exclude --include --seed --failed --stale --warnings-as-errors --check-formatted --version",
	"stack cabal dune bazel": "vj --fast --verbose --release --jobs --version --test_output", "flutter dart": "nv --release --debug --name --plain-name --coverage --no-pub --version", "zig shards crystal": "--release --summary --version",
	"ls":                          "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --color --classify --directory --full-time --group-directories-first --human-readable --recursive --reverse --size --sort --time --time-style --width",
	"cat nl tac rev head tail wc": "AbeEnstTuvqcfFzahlmwLpr --number --number-nonblank --show-all --lines --bytes --quiet --follow --body-numbering --words --chars",
	"stat":                        "cfLtxnr --format --printf --terse", "du": "ahskmcdxtbS0l --all --human-readable --summarize --max-depth --apparent-size --total --exclude", "df": "haTtilkPmx --human-readable --output --total --type",
	"which type basename dirname realpath readlink whoami id uname pwd nproc free uptime sleep seq true false :": "atpfPenmsqzrvioghbwLukG --all --relative-to --canonicalize --human --version",
	"cut tr paste column comm join fold fmt expand uniq":                                                         "dfcbsnzuituwDjgsaeCo --delimiter --fields --characters --complement --output-delimiter --only-delimited --delete --squeeze-repeats --separator --table --width",
	"cmp diff": "ubBwiEsyqNpntacdU --unified --brief --side-by-side --color --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --new-file --stat --width --suppress-common-lines --bytes --silent --quiet",
	"md5sum sha1sum sha256sum sha512sum cksum": "abtz --tag --binary --text --zero", "od hexdump strings": "AtxcjNvbdoCnsae",
	"base64": "diwD --decode --wrap --ignore-garbage", "sort": "bdfghiMnrRsuVkctzm --numeric-sort --reverse --unique --key --field-separator --human-numeric-sort --version-sort --stable --ignore-case",
	"grep egrep fgrep": "EFGPivwxclLmnoqshHbabABCTUZzrIef --color --colour --include --exclude --exclude-dir --recursive --line-number --ignore-case --invert-match --word-regexp --files-with-matches --files-without-match --count --only-matching --extended-regexp --fixed-strings --perl-regexp --no-messages --no-filename --with-filename --max-count --after-context --before-context --context --quiet --regexp --text --binary-files --null --line-buffered",
	"rg":               "ABCEFHIMNPSTUcegijlmnopqrstuvwxy0 --no-ignore-vcs --files --type --type-not --glob --iglob --hidden --no-ignore --no-heading --heading --line-number --no-line-number --with-filename --no-filename --files-with-matches --files-without-match --count --count-matches --ignore-case --smart-case --case-sensitive --word-regexp --fixed-strings --multiline --multiline-dotall --only-matching --max-count --max-depth --max-columns --context --after-context --before-context --color --colors --column --json --sort --sortr --stats --pcre2 --regexp --invert-match --replace --passthru --trim --vimgrep --text --null --quiet --type-list --no-messages --version",
	"ag ack":           "ABCGQRSciHhlLmnosvwtaru --nocolor --color --nogroup --hidden --ignore --ignore-dir --literal --smart-case --count --files-with-matches --type",
	"find":             "-name -iname -path -ipath -regex -iregex -regextype -type -size -empty -mtime -mmin -ctime -cmin -atime -amin -newer -newermt -maxdepth -mindepth -depth -prune -print -print0 -printf -ls -o -a -not -and -or -perm -user -group -links -inum -quit -wholename -readable -writable -executable -true -false -xdev -mount -P",
	"fd fdfind":        "HIaspFgetdE0l1qf --type --extension --hidden --no-ignore --exclude --max-depth --min-depth --glob --absolute-path --full-path --case-sensitive --ignore-case --color --max-results --print0 --size --changed-within --changed-before --list-details",
	"file":             "biLhkNrs0p", "tree": "aACdDfFhiIJLpPrstugnX -N --dirsfirst --gitignore --noreport --prune --filelimit --du --charset", "date": "uIR -Iseconds -Is -Iminutes -Idate --utc --iso-8601 --rfc-3339 --rfc-email --universal -d --date -r",
	"jq":  "rcnsSeajMCR --raw-output --compact-output --null-input --slurp --sort-keys --exit-status --arg --argjson --tab --indent --join-output --monochrome-output --color-output --raw-input --stream",
	"scc": "swafMx --by-file --no-complexity --no-cocomo --include-ext --exclude-dir --sort --format", "tokei": "fsCteo --files --sort --type --exclude --output", "test [": "bcdefghkLnprsStuwxzGNOo -eq -ne -lt -le -gt -ge -nt -ot -ef -a", "ps": "AadefFlLjopuwxCtHTNG --sort --forest --no-headers --pid --ppid --user",
	"mkdir touch tee": "pvmacdhirt --parents --mode --verbose --append --no-create --date", "cp mv": "afinprRuvbPx --archive --recursive --force --no-clobber --update --verbose --preserve --interactive --parents --backup",
	"set": "euxoEfv", "cd": "LP", "get-childitem get-content get-location select-string": "-path -recurse -force -file -directory -filter -include -exclude -pattern -name -tail -head -totalcount -raw -context -casesensitive -depth -literalpath -encoding -hidden",
	"gh":             "LslaASR --limit --state --label --assignee --author --search --repo --json --log --log-failed --exit-status --comments --name-only --patch --workflow --branch --status --event --job --verbose",
	"docker podman":  "aqnt --all --quiet --last --no-trunc --size --filter --format --tail --since --until --timestamps --follow --type",
	"kubectl":        "nAowlLpc --namespace --all-namespaces --output --watch --selector --show-labels --sort-by --follow --tail --since --container --previous --no-headers --field-selector --all-containers --timestamps",
	"terraform tofu": "-json -no-color -check -diff -recursive",
	"deno":           "q --check --quiet --filter --fail-fast --fix --json --coverage", "composer": "qvn --quiet --verbose --strict --no-interaction",
}

func init() { //nolint:gochecknoinits // the same options for many names
	known := map[string][]string{}
	for names, options := range knownOptions {
		alternatives := []string{`-\d+`}
		for _, o := range strings.Fields(options) {
			if strings.HasPrefix(o, "-") {
				alternatives = append(alternatives, regexp.QuoteMeta(o)+"(=.*)?")
			} else {
				alternatives = append(alternatives, "-["+o+"]["+o+"0-9.,:;|+*! ]*(-[0-9]*)?(=.*)?")
			}
		}
		for _, name := range strings.Fields(names) {
			known[name] = append(known[name], alternatives...)
		}
	}
	for name, alternatives := range known {
		onlyOptions[name] = lazy("(?s)^(" + strings.Join(alternatives, "|") + ")$")
	}
}

// hasKnownOptions reports whether all options of a command are known.
func hasKnownOptions(name string, args []word) bool {
	if len(args) > 1 && args[0].is("-m") && strings.HasPrefix(name, "py") { // the module's options
		return hasKnownOptions(args[1].text, args[2:])
	}
	if name == "find" || name == "fd" || name == "fdfind" {
		args = ownWords(args)
	}
	known := onlyOptions[name]
	if len(args) > 0 && onlyOptions[name+" "+args[0].text] != nil {
		known = onlyOptions[name+" "+args[0].text]
	}
	return !slices.ContainsFunc(args, func(a word) bool {
		switch {
		case a.text == "--":
			return false
		case strings.HasPrefix(a.text, "-"):
			return known == nil || !known.MatchString(a.text) && (!strings.Contains(name, "-") || !known.MatchString(strings.ToLower(a.text)))
		}
		return strings.HasPrefix(a.text, "@") && tools[name] != nil && name != "git" // a file with more options
	})
}

// ownWords leaves out the command that find or fd runs, which is judged by itself. Where its end is not clear, it is taken to be early.
func ownWords(args []word) (own []word) {
	command := false
	for _, a := range args {
		switch {
		case command:
			command = a.text != ";" && a.text != "+"
		case slices.Contains([]string{"-exec", "-execdir", "-x", "-X", "--exec", "--exec-batch"}, a.text):
			command = true
		default:
			own = append(own, a)
		}
	}
	return own
}
