package risk

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

var elsewhereName = lazy(`^(~|\$\{?HOME\b|\$env:|%\w+%|[A-Za-z]:|\\\\|HK[A-Z]+\\)`)

// place is where a file is, as seen from the session's folder.
type place int

const (
	inside    place = iota
	temporary       // below the folder for temporary files
	elsewhere
)

// place returns where the file with a name is. A name that only the shell knows counts as elsewhere if it may begin with a folder.
func (j *judge) place(name string) place {
	name = strings.Trim(name, `"`)
	if elsewhereName.MatchString(name) {
		return elsewhere
	}
	if rest, ok := strings.CutPrefix(strings.NewReplacer("${PWD}", "$PWD", "$(pwd)", "$PWD").Replace(name), "$PWD"); ok {
		name = "." + rest
	}
	if strings.HasPrefix(name, "$TMPDIR/") || strings.HasPrefix(name, "${TMPDIR}/") {
		return temporary
	}
	clean := path.Clean(filepath.ToSlash(name))
	relative := !path.IsAbs(clean)
	if relative && j.dir != "" {
		clean = path.Join(filepath.ToSlash(j.dir), clean)
	}
	if !path.IsAbs(clean) {
		if clean == ".." || strings.HasPrefix(clean, "../") {
			return elsewhere
		}
		return inside
	}
	if j.folder != "" && within(path.Clean(filepath.ToSlash(j.folder)), clean) {
		return inside
	}
	for _, tmp := range []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(clean+"/", tmp) && (!relative || j.moved) {
			return temporary
		}
	}
	return elsewhere
}

func within(folder, name string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

var (
	// runLater are files of a project that other programs run, or whose contents they run, without a question.
	runLater = lazy(`(?i)(^|/)(\.(ba|z|k|c|tc)?sh(rc|env)|\.(bash_)?(profile|login|logout|aliases)|\.z(profile|login|logout|shenv)|\.bash_\w+|config\.fish|\.xinitrc|\.xsession(rc)?|\.inputrc|\.vimrc|\.exrc|\.nvimrc|\.emacs|\.dir-locals\.el|\.tmux\.conf|\.screenrc|\.gitconfig|\.gitmodules|\.gitattributes|\.envrc|\.npmrc|\.yarnrc(\.yml)?|\.pypirc|pip\.conf|\.netrc|\.pnpmfile\.cjs|sitecustomize\.py|usercustomize\.py|\.gdbinit|\.lldbinit|authorized_keys2?|microsoft\.\w+profile\.ps1|\.mcp\.json|\.pre-commit-config\.ya?ml|\.?lefthook\.ya?ml|\.gitlab-ci\.ya?ml|jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.(travis|appveyor|drone|woodpecker|cirrus)\.ya?ml|appveyor\.ya?ml|cloudbuild\.ya?ml|\.?devcontainer\.json|[^/]+\.code-workspace)$` +
		`|(^|/)(\.git|\.hg|\.jj|\.githooks|\.husky|\.github/(workflows|actions)|\.circleci|\.buildkite|\.(forgejo|gitea)/workflows|\.woodpecker|\.vscode|\.idea|\.fleet|\.zed|\.devcontainer|\.claude|\.codex|\.cursor|\.gemini|\.qwen|\.cline|\.opencode|\.kilo|\.kilocode|\.roo|\.agents|\.openclaw|\.pi|\.continue|\.windsurf|\.copilot|\.kiro|\.direnv|\.ssh|\.gnupg)(/|$)`)

	// startFiles are files of the user and the system that are run without a question.
	startFiles = lazy(`(?i)(^|/)(init\.(vim|el)|crontab|sudoers|profile\.ps1|hosts|ld\.so\.preload|rc\.local|environment|[^/]+\.(desktop|service|timer|plist))$|(^|/)(cron\.\w+|cron|init\.d|profile\.d|sudoers\.d|autostart|systemd|launchagents|launchdaemons|startup|conf\.d|hooks)(/|$)|/etc/(passwd|shadow|group)$`)

	// secretFiles have secrets in them.
	secretFiles = lazy(`(?i)(\.ssh/(id_|[^/]*key|config$|\*)|(^|[/~])\.ssh/?$|id_(rsa|dsa|ecdsa|ed25519)\b|\.aws/?($|credentials|config|sso)|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json|\.kube/?($|config)|\.gnupg|/etc/(shadow|gshadow|sudoers)|\.config/(gh|gcloud|op|rclone|hub|sops|age)\b|\.azure\b|\.password-store|login\.keychain|library/keychains|cookies(\.sqlite|\.binarycookies)?$|login data|logins\.json|key[34]\.db|\.vault-token|\.pgpass|\.my\.cnf|\.terraform\.d/credentials|\.cargo/credentials|\.gem/credentials|\.boto|wallet\.dat|\.claude/\.credentials|\.codex/auth|/proc/(self|\d+|\*)/environ|\.(bash|zsh|psql|mysql|python)_history|\.(pem|p12|pfx|kdbx|jks|keystore)$|service-?account\S*\.json|/run/secrets/|\.local/share/keyrings)`)
	publicFiles = lazy(`(?i)\.pub$|known_hosts|(^|/)[\w.-]*(cert|chain)[\w.-]*\.pem$|/certs?/|ca-cert`)
)

// isStream reports whether a target keeps nothing: a stream of the command, or the input of another one.
func isStream(name string) bool {
	return name == "" || name == "-" || strings.HasPrefix(name, "/dev/std") || name == "/dev/null" || name == "/dev/tty" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, ">(")
}

// writes checks a file that is written or removed.
func (j *judge) writes(w word) {
	name := strings.Trim(w.text, `"`)
	switch {
	case isStream(name):
		return
	case strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/"):
		j.mark(disk)
		return
	}
	slashed, where := filepath.ToSlash(name), j.place(name)
	j.markIf(runLater.MatchString(slashed) || where == elsewhere && startFiles.MatchString(slashed), later)
	j.markIf(where == elsewhere, outside)
}

// reads checks a word of a command that may name a file with secrets.
func (j *judge) reads(w word) {
	if secretFiles.MatchString(w.text) && !publicFiles.MatchString(w.text) && !strings.ContainsAny(w.text, " \n") {
		j.mark(secrets)
	}
}

// made are folders that builds and tests make again.
var made = lazy(`^(\./)*([\w.@*-]+/)*(node_modules|dist|build|out|target|bin|obj|tmp|temp|coverage|\.coverage|htmlcov|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.nox|\.venv|venv|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.gradle|\.eggs|[\w.-]*\.egg-info|_build|DerivedData|\.svelte-kit|storybook-static|test-results|playwright-report|\.nyc_output|logs|generated|cmake-build-\w+|_site|public/build|\.output|\.vite|\.terraform)(/.*)?$`)

// removes checks which files are removed.
func (j *judge) removes(args []word) {
	line := strings.ToLower(join(args))
	recursive := recursively.MatchString(line)
	for _, f := range filesIn(args) {
		bare := strings.Trim(path.Base(f.text), "*.?") == "" && f.globs
		switch {
		case j.isMadeAgain(f):
		case recursive:
			j.mark(deletes)
		case !f.literal, bare, f.text == "{}":
			j.mark(deletesMany)
		}
		j.writes(f)
	}
}

// removers are the programs that remove the files that they name.
var removers = strings.Fields("rm rmdir unlink del erase rd ri remove-item trash gio")

// recursively is an option in lower case that asks to remove folders: -rf, --recursive, -Recurse, /s.
var recursively = lazy(`(^| )(-[a-z]{0,3}r[a-z]{0,2}( |$)|--?rec|/s( |$))`)

// isMadeAgain reports whether builds make a file again, or it is a temporary one.
func (j *judge) isMadeAgain(f word) bool {
	name := strings.TrimPrefix(path.Clean(filepath.ToSlash(f.text)), strings.TrimSuffix(filepath.ToSlash(j.folder), "/")+"/")
	switch j.place(f.text) {
	case inside:
		return made.MatchString(name) && !strings.Contains(name, "..")
	case temporary:
		return strings.Trim(path.Base(f.text), "*") != "" && !strings.HasSuffix(name, "tmp") && !strings.HasSuffix(name, "/shm")
	}
	return false
}

// filesIn returns the words that may name files.
func filesIn(args []word) (files []word) {
	for i, a := range args {
		dos := len(a.text) == 2 && a.text[0] == '/'
		if !strings.HasPrefix(a.text, "-") && !dos || slices.ContainsFunc(args[:i], func(w word) bool { return w.is("--") }) {
			files = append(files, a)
		}
	}
	return files
}

// How a program names the files that it writes.
const (
	everyFile = "every"
	lastFile  = "last"
	restFiles = "rest" // the last one, where an option says so; the others may be scripts
)

// writers are the programs that write the files that they name, and which of these.
var writers = map[string]string{}

func init() { //nolint:gochecknoinits // the same for many names
	for names, which := range map[string]string{
		"tee touch mkdir sponge set-content add-content out-file new-item mv move move-item truncate chmod chown chgrp": everyFile,
		"cp ln install copy-item copy xcopy robocopy scp rsync":                                                         lastFile,
		"sed perl": restFiles,
	} {
		for _, name := range strings.Fields(names) {
			writers[name] = which
		}
	}
}

var (
	edits   = lazy(`(^| )(-[a-zA-Z]{0,3}i\S*|--in-place\S*)( |$)`)
	outputs = map[string]*expression{
		"curl": lazy(`(?:^| )(?:-o|--output)[ =]?(\S+)`), "wget": lazy(`(?:^| )(?:-O|-P|--output-document)[ =]?(\S+)`), "find": lazy(`(?:^| )-f(?:printf?0?|ls) (\S+)`), "git": lazy(`(?:^| )--output=(\S+)`), "dd": lazy(`(?:^| )of=(\S+)`),
		"tar": lazy(`(?:^| )(?:-C|--directory)[ =](\S+)`), "unzip": lazy(`(?:^| )-d (\S+)`), "patch": lazy(`(?:^| )-[do] (\S+)`), "7z": lazy(`(?:^| )-o(\S+)`), "cp": lazy(`(?:^| )(?:-t |--target-directory=)(\S+)`),
		"iwr": lazy(`(?i)-outfile (\S+)`), "invoke-webrequest": lazy(`(?i)-outfile (\S+)`),
	}
)

// files checks the files that a command reads, writes and removes, and follows a change of the folder.
func (j *judge) files(name string, args []word, line string) {
	for _, a := range args {
		j.reads(a)
	}
	if o := outputs[name]; o != nil {
		for _, m := range o.compiled().FindAllStringSubmatch(line, -1) {
			j.writes(word{text: m[1], literal: true})
		}
	}
	files := filesIn(args)
	switch which := writers[name]; {
	case slices.Contains(removers, name):
		j.removes(args)
	case name == "cd" || name == "pushd":
		j.changeFolder(args)
	case len(files) == 0:
	case which == lastFile && len(files) > 1 && !strings.Contains(line, "--target-directory") && !strings.Contains(line, "-t "):
		if last := files[len(files)-1]; !strings.Contains(last.text, ":") {
			j.writes(last)
		}
	case which == everyFile:
		for _, f := range files {
			j.writes(f)
		}
	case which == restFiles && edits.MatchString(line):
		if f := files[len(files)-1]; !strings.ContainsAny(f.text, "^$ ") {
			j.writes(f)
		}
	}
}

// changeFolder follows a change of the folder.
func (j *judge) changeFolder(args []word) {
	if len(args) == 0 || !args[0].literal {
		j.dir = "/"
		return
	}
	to := filepath.ToSlash(args[0].text)
	switch {
	case strings.HasPrefix(to, "~") || to == "-":
		j.dir = "/"
	case path.IsAbs(to) || j.dir == "":
		j.dir = to
	default:
		j.dir = path.Join(j.dir, to)
	}
	j.moved = true
}
