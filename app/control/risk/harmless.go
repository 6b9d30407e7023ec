package risk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	awkNotPlain    = lazy(`system|getline|[|>@]|ENVIRON|ARG[CV]|SYMTAB|^-[^F]`)
	fromFileOption = lazy(`^-[a-zA-Z]*[ef]$|^--(file|from-file|regexp)`)
	knownPlaces    = lazy(`^(/usr/bin/|/bin/|/usr/local/(go/)?bin/|(\./)?(node_modules/\.bin|\.?venv/bin|vendor/bin)/|\./(gradlew|mvnw)$)`)
)

// readers are programs that only read and print, or change the files that they name.
var readers = strings.Fields("ls cat head tail wc nl tac rev stat du df pwd whoami id uname which type basename dirname realpath readlink cut tr paste column comm join fold fmt expand cmp diff md5sum sha1sum sha256sum sha512sum cksum od hexdump strings echo printf true false : test [ sleep ps nproc free uptime seq base64 grep egrep fgrep rg ag find fd fdfind file tree date sort jq ack cloc tokei scc exit set cd mkdir touch cp mv tee get-childitem get-content get-location select-string gofmt")

// noWords are words, not only options, with which a reader does more than to read below its folder, and a task more than to build and test.
var noWords = map[string]*expression{"jq": lazy(`env|ENV|import|include`), "ps": lazy(`^[a-zA-Z]*e|^-[a-zA-Z]+e`)}

const taskRunners = "npm pnpm yarn bun make gmake ninja just task rake"

// onlyOptions are the options that are known of each program, with those of knownOptions: with any other one, a command needs a second look.
// Those of a command of such a program come before those of the program.
var onlyOptions = map[string]*expression{
	"git":  lazy(`^(-[abcdhiklmnopqrstuvwzACEFGILMPSUW0-9]+$|-[LSG]\S+$|--(abbrev|abbrev-commit|abbrev-ref|all|always|author|before|branch|branches|cached|check|cherry-pick|color|contains|count|date|date-order|decorate|deleted|diff-filter|dirty|error-unmatch|exact-match|exclude-standard|exit-code|first-parent|follow|format|full-index|get|get-all|git-common-dir|git-dir|graph|grep|heading|histogram|ignore-all-space|ignore-blank-lines|ignore-case|ignore-space-change|ignored|is-ancestor|is-inside-work-tree|left-right|line-number|list|long|match|max-count|merged|merges|minimal|modified|name-only|name-status|no-color|no-commit-id|no-merged|no-merges|no-patch|no-renames|numbered|numstat|oneline|others|patch|patience|points-at|porcelain|pretty|quiet|raw|recursive|relative|remotes|reverse|short|shortstat|show-current|show-prefix|show-toplevel|since|skip|sort|staged|stat|summary|tags|topo-order|unified|until|untracked-files|verify|word-diff)(=|$))`),
	"echo": lazy(`^-`), "printf": lazy(`^-($|[^v])`),
	"git add":      lazy(`^(-[AuvnN]+|--(all|update|verbose|dry-run|intent-to-add))$`),
	"git commit":   lazy(`^(-[aqsv]*m?|--(all|quiet|signoff|verbose|allow-empty|no-edit)|--message(=.*)?)$`),
	"git checkout": lazy(`^-b$`), "git switch": lazy(`^-c$`),
}

// tools are builds and tests: the words that may follow the name of each, as a pattern; an empty pattern admits all.
var tools = map[string]*expression{}

// tasks are the names of the tasks that build and test a project.
const tasks = `(test|tests|build|lint|typecheck|type-check|types|check|format|fmt|vet|compile|unit|coverage|cover|race|bench|tsc|eslint|prettier|jest|vitest)([:-][\w:.-]+)?`

func init() { //nolint:gochecknoinits // the same pattern for many names
	beyond := lazy(`(?i)deploy|publish|upload`)
	for _, name := range strings.Fields(taskRunners) {
		noWords[name] = beyond
	}
	for pattern, names := range map[string]string{
		"":                                    "pytest py.test mypy black flake8 isort pylint pyright tsc eslint prettier jest vitest mocha stylelint rspec rubocop phpunit ctest staticcheck gofmt goimports gofumpt rustfmt clang-format clang-tidy shellcheck shfmt hadolint yamllint markdownlint govulncheck",
		`^(run|version)\b`:                    "golangci-lint",
		`^(check|format|lint|ci|--version)\b`: "ruff biome",
		`^analy[sz]e\b`:                       "phpstan",
		`^(-[eqrsvl]+( [\w.,-]+)? ?)*$`:       "tox nox",
		`^(build|test|vet|list|version|doc|fmt|mod (verify|graph|why|tidy))\b`:                                                  "go",
		`^(build|test|check|clippy|fmt|doc|bench|tree|metadata|nextest run|version)\b`:                                          "cargo",
		`^((run|run-script) )?` + tasks + `( |$)|^(t|ls|list|outdated|why|--version|-v)( |$)`:                                   "npm pnpm yarn bun",
		`^(exec )?(tsc|eslint|prettier|jest|vitest|mocha|biome|stylelint|ava|tsd|knip)( |$)|^(playwright|cypress) (test|run)\b`: "npx pnpx bunx",
		`^-m (pytest|unittest|mypy|ruff|black|flake8|isort|pylint|compileall|json\.tool|tabnanny)\b|^(--version|-V)$`:           "python python3 py",
		`^(--version|-v|--check|--test)\b`:             "node",
		`^$|^(-[jks0-9]+ ?)*((all|` + tasks + `) ?)*$`: "make gmake ninja just task rake",
		`^--build \S+( (--config \w+|(--target|-t) (all|` + tasks + `)|(--parallel|-j)( ?\d+)?|--verbose|--clean-first|-v))*$|^--version$`: "cmake",
		`^(compile|test)\b`: "meson",
		`^(compile|test)$`:  "sbt",
		`^((-\S+|--tests \S+|:?([\w-]+:)*(build|test|check|assemble|compile\w*|lint|ktlintCheck|classes|testClasses|verify|package))( |$))+$`: "gradle gradlew mvn mvnw",
		`^(build|test|format --verify-no-changes|--version|--info)\b`:                                                                         "dotnet swift stack cabal dune zig bazel flutter dart mix lein crystal shards xcodebuild",
		`^(test|check|lint|fmt)\b`:  "deno",
		`^(test|validate)\b`:        "composer",
		`^(validate|fmt|version)\b`: "terraform tofu",
		`^(pr|issue|run|release|repo|workflow) (list|view|status|diff|checks)\b`:                  "gh",
		`^((compose )?(ps|logs|images|top)|inspect|version|info|image ls|volume ls|network ls)\b`: "docker podman",
		`^((-n|--namespace) \S+ )?(get (pods?|po|deploy\w*|svc|services?|nodes?|ns|namespaces?|ingress\w*|events|jobs?|cronjobs?|rs|sts|all|hpa|pvc?)( |$)|(describe (pods?|deploy\w*|svc|service|nodes?)|logs|top|version)( |$))`: "kubectl",
		`^(status|diff|log|show|blame|ls-files|ls-tree|rev-parse|rev-list|merge-base|describe|shortlog|grep|cat-file|name-rev|show-ref|for-each-ref|count-objects|version|check-ignore|whatchanged|diff-tree|var)\b` +
			`|^(branch( (-a|-r|-v|-vv|--list|--show-current|--all|--merged|--no-merged))*|tag( (-l|--list|-n))?|remote( -v| show \S+| get-url \S+)?|stash (list|show)|worktree list|reflog( show)?|config (--get|--list|-l|--get-all|get|list)( \S+)?|config [\w.-]+|submodule status)$` +
			`|^add\b|^commit (-a |-q |-s |--quiet |--signoff )*(-a?m|--message) |^(checkout -b|switch -c) [\w./-]+$`: "git",
	} {
		words := lazy(pattern)
		for _, name := range strings.Fields(names) {
			tools[name] = words
		}
	}
}

// patterned are programs whose first word is a pattern or a script, not a file.
var patterned = strings.Fields("grep egrep fgrep rg ag ack awk gawk sed jq echo printf test [ tr seq sleep date exit set git")

// isHarmless reports whether a command is known to do no harm: it reads, builds or tests, or changes files inside the session's folder.
func (j *judge) isHarmless(first word, name string, args []word) bool {
	if in, ok := interpreterOf(name); ok && in.shell && len(args) == 2 && args[1].literal {
		return slices.Contains([]string{"-c", "-lc"}, args[0].text) && isKnownPlace(first.text)
	}
	if !first.literal || first.globs && name != "[" || !isKnownPlace(first.text) || j.isForeign(name, args) {
		return false
	}
	switch name {
	case "sed":
		return j.isPlainSed(args)
	case "awk", "gawk":
		return len(args) > 0 && !slices.ContainsFunc(args, func(a word) bool { return awkNotPlain.MatchString(a.text) }) && j.staysInside(args, 1)
	case "uniq":
		return len(positional(args)) < 2 && j.staysInside(args, 0)
	case "cd":
		return len(args) == 1 // changeFolder has checked it
	case "echo", "printf", "test", "[":
		return isKnownUse(name, args)
	}
	return isKnownUse(name, args) && j.staysInside(args, patterns(name, args)) && !changesHidden(name, args) && !j.mayWriteHidden(name, args)
}

// Commands of PowerShell, and other names that it has for them.
var (
	cmdlets       = strings.Fields("get-childitem get-content get-location select-string")
	cmdletAliases = strings.Fields("cat cd cp ls mv set type")
)

// isForeign reports whether PowerShell reads the words of a command in its own way: it separates folders by what is an escape here, and has variables and
// the registry in drives.
func (j *judge) isForeign(name string, args []word) bool {
	own := slices.Contains(cmdlets, name)
	return (own || j.windows) && j.escapes ||
		(own || j.windows && slices.Contains(cmdletAliases, name)) && slices.ContainsFunc(args, func(a word) bool { return strings.Contains(a.text, ":") })
}

// isKnownUse reports whether a program only reads, builds or tests, and its options ask for nothing else.
func isKnownUse(name string, args []word) bool {
	isReader := slices.Contains(readers, name)
	if !isReader {
		tool, ok := tools[name]
		if !ok || !tool.MatchString(join(args)) {
			return false
		}
	}
	if no := noWords[name]; no != nil && slices.ContainsFunc(args, func(a word) bool { return no.MatchString(a.text) }) {
		return false
	}
	return hasKnownOptions(name, args) && (!slices.Contains(settable, name) || !slices.ContainsFunc(args, func(a word) bool { return !a.literal || a.globs && name == "make" }))
}

// settable are builds whose words may set what they run.
var settable = []string{"make", "gmake", "ninja", "just", "task", "rake", "mvn", "mvnw", "cargo", "go"}

// patterns returns how many of the words of a command that are no options are a pattern or a script.
func patterns(name string, args []word) int {
	fromFile := slices.ContainsFunc(args, func(a word) bool { return fromFileOption.MatchString(a.text) })
	if slices.Contains(patterned, name) && (!fromFile || name == "git") {
		return 1
	}
	return 0
}

// changesHidden reports whether a command may change files that are run later, or files that it does not name.
func changesHidden(name string, args []word) bool {
	return slices.Contains([]string{"mkdir", "touch", "cp", "mv", "tee"}, name) &&
		slices.ContainsFunc(args, func(a word) bool { return a.globs || runLater.MatchString(a.text) })
}

// mayWriteHidden reports whether a build or test has to do with a file that is run later, or that agents take instructions from. Which of its words name
// what it writes is not known.
func (j *judge) mayWriteHidden(name string, args []word) bool {
	if tools[name] == nil || name == "git" {
		return false
	}
	return slices.ContainsFunc(append(slices.Clip(args), word{text: "."}), func(a word) bool {
		file := a.text[strings.LastIndexAny(a.text, "=:")+1:]
		found, _ := j.real(filepath.FromSlash(file))
		return runLater.MatchString(file) || runLater.MatchString(found) || instructions.MatchString(file) || instructions.MatchString(found)
	})
}

// isKnownPlace reports whether a program is found by its name, or where systems and projects have their tools.
func isKnownPlace(program string) bool {
	return !strings.Contains(program, "/") && isASCII(program) || knownPlaces.MatchString(program)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e }) < 0
}

// staysInside reports whether every word of a command is known, and none names a file outside the session's folder. The first skip words that are no
// options are no files.
func (j *judge) staysInside(args []word, skip int) bool {
	for _, a := range args {
		if isOption := strings.HasPrefix(a.text, "-") && len(a.text) > 1; !isOption && skip > 0 {
			if skip--; a.globs || !a.literal {
				return false
			}
			continue
		}
		name := a.text
		if strings.HasPrefix(name, "-") {
			if _, value, ok := strings.Cut(name, "="); ok {
				name = value
			} else if strings.ContainsAny(name, "/~") {
				return false
			} else {
				name = ""
			}
		}
		if a.text == "{}" || a.is(".") && j.resolved(j.dir) || name == "" && a.literal {
			continue
		}
		_, part, _ := strings.Cut(name, "=") // "-o form-file=/x"
		if !a.literal || j.place(name) != inside && name != "/dev/null" || !j.resolvedAll(a, name) || part != "" && j.place(part) != inside {
			return false
		}
	}
	return true
}

// maxFiles bounds the files that a pattern of a command, and each beginning of it, stands for.
const maxFiles = 300

// resolvedAll reports whether a file, or each file that a pattern stands for, is inside the session's folder.
func (j *judge) resolvedAll(w word, name string) bool {
	if !w.globs {
		return name == "/dev/null" || j.resolved(name)
	}
	if strings.ContainsAny(name, "{}!") || strings.Contains(name, "**") || strings.Contains(name, "..") { // ".." after a link leads elsewhere
		return false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(j.dir, name)
	}
	list, ok := j.glob(filepath.Clean(name)) // a separator at its end would stand for no file
	return ok && !slices.ContainsFunc(list, func(f string) bool {
		return !j.resolved(f) || strings.HasPrefix(filepath.Base(f), "-") || envFiles.MatchString(f) || secretFiles.MatchString(f)
	})
}

// glob returns the files that a pattern stands for. ok is false if they, or the folders on the way to them, are too many: links that lead back to
// their own folder would multiply them without an end.
func (j *judge) glob(pattern string) (list []string, ok bool) {
	for i := 1; i <= len(pattern); i++ {
		if i < len(pattern) && !os.IsPathSeparator(pattern[i]) {
			continue
		}
		var err error
		if list, err = filepath.Glob(pattern[:i]); err != nil || len(list) > maxFiles || j.late() {
			return nil, false
		}
		if len(list) == 0 {
			break
		}
	}
	return list, true
}

// plainScript is a script of sed that prints, deletes or replaces lines and does nothing else.
var plainScript = lazy(`^(\d+|\$|/[^/]*/)?(,(\d+|\$|/[^/]*/|\+\d+))?([pdq=]|s/([^/\\\n]|\\.)*/([^/\\\n]|\\.)*/[gpIi0-9]*|s\|[^|\\\n]*\|[^|\\\n]*\|[gpIi0-9]*)$`)

// isPlainSed reports whether sed prints or changes lines of files inside the session's folder.
func (j *judge) isPlainSed(args []word) bool {
	script := false
	var files []word
	for _, a := range args {
		switch {
		case !a.literal || a.globs:
			return false
		case strings.HasPrefix(a.text, "-"):
			if !slices.Contains([]string{"-n", "-e", "-E", "-r", "-i", "-ne", "-nE", "-En", "-z"}, a.text) {
				return false
			}
		case !script:
			if script = plainScript.MatchString(a.text); !script {
				return false
			}
		case plainScript.MatchString(a.text) && slices.ContainsFunc(args, func(o word) bool { return o.text == "-e" }):
		default:
			files = append(files, a)
		}
	}
	return j.staysInside(files, 0)
}
