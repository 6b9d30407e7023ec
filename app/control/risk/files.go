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
	secretNames = lazy(`(?i)(secret|token|passw|api_?key|access_?key|private_?key|credential)`)
)

func isSecretName(name string) bool { return secretNames.MatchString(name) }

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
func (j *judge) removes(name string, args []word) {
	files, recursive := removed(name, args)
	for _, f := range files {
		switch bare := strings.Trim(path.Base(j.below(f)), "*.?") == "" && f.globs; {
		case j.isMadeAgain(f):
		case recursive:
			j.mark(deletes)
		case !f.literal, bare, f.text == "{}":
			j.mark(deletesMany)
		}
		j.writes(f)
	}
}

// removed returns the files that a command removes, and whether it removes folders with all they contain.
func removed(name string, args []word) (files []word, recursive bool) {
	recursive = name == "trash" || name == "gio"
	dos := slices.Contains([]string{"del", "rd", "rmdir", "erase"}, name)
	options := true
	for _, a := range args {
		switch {
		case a.is("--"):
			options = false
		case options && strings.HasPrefix(a.text, "-"), dos && len(a.text) == 2 && a.text[0] == '/':
			recursive = recursive || isRecursive(strings.ToLower(a.text))
		default:
			files = append(files, a)
		}
	}
	return files, recursive
}

// isRecursive reports whether an option in lower case asks to remove folders: -rf, --recursive, -Recurse, /s.
func isRecursive(option string) bool {
	short := option[0] == '-' && len(option) > 1 && option[1] != '-' && len(option) < 5
	return short && strings.Contains(option, "r") || strings.HasPrefix(option, "--r") || strings.HasPrefix(option, "-rec") || option == "/s"
}

// below returns the name of a file as seen from the session's folder.
func (j *judge) below(f word) string {
	return strings.TrimPrefix(path.Clean(filepath.ToSlash(f.text)), strings.TrimSuffix(filepath.ToSlash(j.folder), "/")+"/")
}

// isMadeAgain reports whether builds make a file again, or it is a temporary one.
func (j *judge) isMadeAgain(f word) bool {
	name := j.below(f)
	switch j.place(f.text) {
	case inside:
		return made.MatchString(name) && !strings.Contains(name, "..")
	case temporary:
		return strings.Trim(path.Base(f.text), "*") != "" && !strings.HasSuffix(name, "tmp") && !strings.HasSuffix(name, "/shm")
	}
	return false
}

// worldWritable are modes that give rights to everyone, or the rights of the owner to who runs the file.
var worldWritable = lazy(`^([0-7]?[0-7][0-7][2367]|[2467][0-7]{3}|([ugoa]*[+=][rwxst]*,)*([ugo]*[+=][rwx]*s[rwxt]*|[ugo]*[ao][ugoa]*[+=]r?w.*|[+=]r?wx?))$`)

// changesRights checks chmod, chown and chgrp.
func (j *judge) changesRights(name string, args []word) {
	files := args
	for i, a := range args {
		if strings.HasPrefix(a.text, "-") && len(a.text) > 1 && !strings.ContainsAny(a.text, "wxst=") {
			j.markIf(strings.Contains(a.text, "R") || a.text == "--recursive", rights)
			continue
		}
		j.markIf(name == "chmod" && worldWritable.MatchString(a.text), rights)
		j.markIf(name == "chown" && (strings.HasPrefix(a.text, "root") || strings.HasPrefix(a.text, "0:")), rights)
		files = args[i+1:]
		break
	}
	for _, f := range files {
		j.markIf(f.text == "{}", rights)
		if f.text != "{}" && !strings.HasPrefix(f.text, "-") {
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
