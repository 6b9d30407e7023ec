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

var variables = strings.NewReplacer("${PWD}", ".", "$(pwd)", ".", "$PWD", ".", "${TMPDIR}", "/tmp", "$TMPDIR", "/tmp")

var temporaryName = lazy(`^(/(var/|private/)?tmp|/dev/shm)(/|$)`)

// place returns where the file with a name is. A name that only the shell knows counts as elsewhere if it may begin with a folder.
func (j *judge) place(name string) place {
	clean := path.Clean(filepath.ToSlash(variables.Replace(strings.Trim(name, `"`))))
	if !path.IsAbs(clean) {
		clean = path.Join(filepath.ToSlash(j.dir), clean)
	}
	folder := strings.TrimSuffix(path.Clean(filepath.ToSlash(j.folder)), "/") + "/"
	switch {
	case elsewhereName.MatchString(strings.Trim(name, `"`)):
		return elsewhere
	case strings.HasPrefix(clean+"/", folder), !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../"):
		return inside
	case temporaryName.MatchString(clean):
		return temporary
	}
	return elsewhere
}

var (
	// runLater are files of a project that other programs run, or whose contents they run, without a question.
	runLater = lazy(`(?i)(^|/)(\.(ba|z|k|c|tc)?sh(rc|env)|\.(bash_)?(profile|login|logout|aliases)|\.z(profile|login|logout|shenv)|\.bash_\w+|config\.fish|\.xinitrc|\.xsession(rc)?|\.inputrc|\.vimrc|\.exrc|\.nvimrc|\.emacs|\.dir-locals\.el|\.tmux\.conf|\.screenrc|\.gitconfig|\.gitmodules|\.gitattributes|\.envrc|\.npmrc|\.yarnrc(\.yml)?|\.pypirc|pip\.conf|\.netrc|\.pnpmfile\.cjs|sitecustomize\.py|usercustomize\.py|\.gdbinit|\.lldbinit|authorized_keys2?|microsoft\.\w+profile\.ps1|\.mcp\.json|\.pre-commit-config\.ya?ml|\.?lefthook\.ya?ml|\.gitlab-ci\.ya?ml|jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.(travis|appveyor|drone|woodpecker|cirrus)\.ya?ml|appveyor\.ya?ml|cloudbuild\.ya?ml|\.?devcontainer\.json|[^/]+\.code-workspace)$` +
		`|(^|/)(\.git|\.hg|\.jj|\.githooks|\.husky|\.github/(workflows|actions)|\.circleci|\.buildkite|\.(forgejo|gitea)/workflows|\.woodpecker|\.vscode|\.idea|\.fleet|\.zed|\.devcontainer|\.claude|\.codex|\.cursor|\.gemini|\.grok|\.qwen|\.cline|\.opencode|\.kilo|\.kilocode|\.kimi-code|\.roo|\.agents|\.openclaw|\.pi|\.continue|\.windsurf|\.copilot|\.kiro|\.direnv|\.ssh|\.gnupg)(/|$)`)

	// startFiles are files of the user and the system that are run without a question.
	startFiles = lazy(`(?i)(^|/)(init\.(vim|el)|crontab|sudoers|profile\.ps1|hosts|ld\.so\.preload|rc\.local|environment|[^/]+\.(desktop|service|timer|plist))$|(^|/)(cron\.\w+|cron|init\.d|profile\.d|sudoers\.d|autostart|systemd|launchagents|launchdaemons|startup|conf\.d|hooks)(/|$)|/etc/(passwd|shadow|group)$`)

	// secretFiles have secrets in them.
	secretFiles = lazy(`(?i)(\.ssh/(id_|[^/]*key|config$|\*)|(^|[/~])\.ssh/?$|id_(rsa|dsa|ecdsa|ed25519)\b|\.aws/?($|credentials|config|sso)|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json|\.kube/?($|config)|\.gnupg|/etc/(shadow|gshadow|sudoers)|\.config/(gh|gcloud|op|rclone|hub|sops|age)\b|\.azure\b|\.password-store|login\.keychain|library/keychains|cookies(\.sqlite|\.binarycookies)?$|login data|logins\.json|key[34]\.db|\.vault-token|\.pgpass|\.my\.cnf|\.terraform\.d/credentials|\.cargo/credentials|\.gem/credentials|\.boto|wallet\.dat|\.claude/\.credentials|\.codex/auth|/proc/(self|\d+|\*)/environ|\.(bash|zsh|psql|mysql|python)_history|\.(pem|p12|pfx|kdbx|jks|keystore)$|service-?account\S*\.json|/run/secrets/|\.local/share/keyrings)`)
	publicFiles = lazy(`(?i)\.pub$|known_hosts|(^|/)[\w.-]*(cert|chain)[\w.-]*\.pem$|/certs?/|ca-cert`)
)

// streams are targets that keep nothing.
var streams = lazy(`^(|-|/dev/(std.*|null|tty|fd/.*)|>\(.*)$`)

// writes checks a file that is written or removed.
func (j *judge) writes(name string) {
	name = filepath.ToSlash(strings.Trim(name, `"`))
	if streams.MatchString(name) {
		return
	}
	where := j.place(name)
	switch {
	case sockets.MatchString(name):
		j.mark(remoteShell)
	case strings.HasPrefix(name, "/dev/") && where != temporary:
		j.mark(disk)
	default:
		j.markIf(runLater.MatchString(name) || where == elsewhere && startFiles.MatchString(name), later)
		j.markIf(where == elsewhere, outside)
	}
}

var (
	sockets = lazy(`/dev/(tcp|udp)/`)
	// hiddenIndex is the index of an array with a command in it, which bash runs wherever it evaluates numbers.
	hiddenIndex = lazy("^[A-Za-z_][A-Za-z0-9_]*\\[[^]]*(\\$\\(|`)")
)

// reads checks a word of a command, which may name a file with secrets.
func (j *judge) reads(text string) {
	j.markIf(secretFiles.MatchString(text) && !publicFiles.MatchString(text) && !strings.ContainsAny(text, " \n"), secrets)
	j.markIf(hiddenIndex.MatchString(text), fed)
}

// made are folders that builds and tests make again, and temporary files.
var made = lazy(`^/?([\w.@*-]+/)*(node_modules|dist|build|out|target|bin|obj|tmp|temp|coverage|\.coverage|htmlcov|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.nox|\.venv|venv|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.gradle|\.eggs|[\w.-]*\.egg-info|_build|DerivedData|\.svelte-kit|storybook-static|test-results|playwright-report|\.nyc_output|logs|generated|cmake-build-\w+|_site|public/build|\.output|\.vite|\.terraform)(/.*)?$|^(/(var/|private/)?tmp|/dev/shm|\$TMPDIR|\$\{TMPDIR\})/+[^*/]`)

// removers are the programs that remove the files that they name.
var removers = strings.Fields("rm rmdir unlink del erase rd ri remove-item trash gio")

// recursively is an option that asks to remove folders: -rf, --recursive, -Recurse, /s.
var recursively = lazy(`(?i)(^| )(-[a-z]{0,3}r[a-z]{0,2}( |$)|--?rec|/s( |$))`)

// removes checks which files are removed.
func (j *judge) removes(files []word, line string) {
	recursive := recursively.MatchString(line)
	for _, f := range files {
		bare := strings.Trim(path.Base(f.text), "*.?") == "" && f.globs
		switch {
		case j.place(f.text) != elsewhere && made.MatchString(path.Clean(filepath.ToSlash(f.text))):
		case recursive:
			j.mark(deletes)
		case !f.literal, bare, f.text == "{}":
			j.mark(deletesMany)
		}
		j.writes(f.text)
	}
	j.markIf(len(files) == 0, deletesMany) // it reads their names
}

// filesIn returns the words that may name files.
func filesIn(args []word) (files []word) {
	for i, a := range args {
		isOption := strings.HasPrefix(a.text, "-") || len(a.text) == 2 && a.text[0] == '/'
		if !isOption || slices.ContainsFunc(args[:i], func(w word) bool { return w.text == "--" }) {
			files = append(files, a)
		}
	}
	return files
}

// Which of the files that a program names it writes.
const (
	everyFile = "every"
	lastFile  = "last"
	restFiles = "rest" // the last one, where an option says so; the others may be scripts
)

// writers are the programs that write the files that they name, and which of these.
var writers = map[string]string{
	"tee": everyFile, "touch": everyFile, "mkdir": everyFile, "sponge": everyFile, "set-content": everyFile, "add-content": everyFile,
	"out-file": everyFile, "new-item": everyFile, "mv": everyFile, "move": everyFile, "move-item": everyFile, "truncate": everyFile,
	"chmod": everyFile, "chown": everyFile, "chgrp": everyFile,
	"cp": lastFile, "ln": lastFile, "install": lastFile, "copy-item": lastFile, "copy": lastFile, "xcopy": lastFile, "robocopy": lastFile,
	"scp": lastFile, "rsync": lastFile,
	"sed": restFiles, "perl": restFiles,
}

var (
	target  = lazy(`--target-directory|-t `)
	edits   = lazy(`(^| )(-[a-zA-Z]{0,3}i\S*|--in-place\S*)( |$)`)
	outputs = map[string]expression{
		"curl": lazy(`(?:^| )(?:-o|--output)[ =]?(\S+)`), "wget": lazy(`(?:^| )(?:-O|-P|--output-document)[ =]?(\S+)`), "find": lazy(`(?:^| )-f(?:printf?0?|ls) (\S+)`), "git": lazy(`(?:^| )--output=(\S+)`), "dd": lazy(`(?:^| )of=(\S+)`),
		"tar": lazy(`(?:^| )(?:-C|--directory)[ =](\S+)`), "unzip": lazy(`(?:^| )-d (\S+)`), "patch": lazy(`(?:^| )-[do] (\S+)`), "7z": lazy(`(?:^| )-o(\S+)`), "cp": lazy(`(?:^| )(?:-t |--target-directory=)(\S+)`),
		"iwr": lazy(`(?i)-outfile (\S+)`), "invoke-webrequest": lazy(`(?i)-outfile (\S+)`),
	}
)

// files checks the files that a command reads, writes and removes, and follows a change of the folder.
func (j *judge) files(name string, args []word, line string) {
	for _, a := range args {
		j.reads(a.text)
	}
	if o := outputs[name]; o != nil {
		for _, m := range o().FindAllStringSubmatch(line, -1) {
			j.writes(m[1])
		}
	}
	files := filesIn(args)
	last := files[max(0, len(files)-1):]
	var written []word
	switch which := writers[name]; {
	case slices.Contains(removers, name):
		j.removes(files, line)
	case name == "cd" || name == "pushd":
		j.changeFolder(args)
	case which == everyFile:
		written = files
	case which == lastFile && len(files) > 1 && !target.MatchString(line) && !strings.Contains(last[0].text, ":"),
		which == restFiles && edits.MatchString(line) && !strings.ContainsAny(join(last), "^$ "):
		written = last
	}
	for _, f := range written {
		j.writes(f.text)
	}
}

// changeFolder follows a change of the folder.
func (j *judge) changeFolder(args []word) {
	to := "/" // of a name that is not known
	if len(args) > 0 && args[0].literal && args[0].text != "-" && !elsewhereName.MatchString(args[0].text) {
		to = filepath.ToSlash(args[0].text)
	}
	if !path.IsAbs(to) {
		to = path.Join(j.dir, to)
	}
	j.dir = to
}
