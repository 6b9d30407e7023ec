package risk

import (
	"regexp"
	"slices"
	"strings"
)

// gitKeys are the keys of git's settings that name a program, a server or a folder with programs.
var gitKeys = regexp.MustCompile(`(?i)^(core\.(hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass|worktree|attributesfile|excludesfile)|alias\.\S+=?\s*!|credential\.|url\..*insteadof|diff\.(external|.*\.(command|textconv))|filter\.|merge\..*\.driver|mergetool\.|difftool\.|sequence\.editor|gpg\.(program|.*\.program)|pager\.|include(if)?\.|http\.(proxy|sslverify|.*\.proxy)|remote\..*\.(url|pushurl|uploadpack|receivepack|vcs)|protocol\.|init\.templatedir|browser\.|man\.|uploadpack\.|receive\.|submodule\..*\.update|safe\.directory|trailer\..*\.command|web\.browser|instaweb\.|sendemail\.|ssh\.variant|interactive\.difffilter)`)

// git checks for commands of git that lose work, and for settings that run programs.
func (j *judge) git(args []word) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") { // -C folder, -c key=value
		option := args[0].text
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"}, option)
		if takes && len(args) > 1 {
			j.gitSetting(option, args[1].text)
			args = args[1:]
		} else if name, value, ok := strings.Cut(option, "="); ok {
			j.gitSetting(name, value)
		}
		j.unsure = j.unsure || !slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks"}, option)
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	rest, verb := args[1:], args[0].text
	for i, a := range rest {
		if a.text == "ext::" || strings.HasPrefix(a.text, "ext::") || strings.HasPrefix(a.text, "--upload-pack") || strings.HasPrefix(a.text, "--receive-pack") || strings.HasPrefix(a.text, "--extcmd") || strings.HasPrefix(a.text, "--open-files-in-pager=") || (verb == "difftool" && a.text == "-x") {
			j.mark(starts)
		}
		if (a.text == "-c" || a.text == "--config") && verb == "clone" && i+1 < len(rest) {
			j.gitSetting("-c", rest[i+1].text)
		}
		if name, ok := strings.CutPrefix(a.text, "--output="); ok {
			j.writes(word{text: name, literal: a.literal})
		}
	}
	j.gitRuns(verb, rest)
	j.gitLoses(verb, rest)
}

func (j *judge) gitSetting(option, value string) {
	switch option {
	case "-c", "--config-env":
		key, v, _ := strings.Cut(value, "=")
		if gitKeys.MatchString(value) && !slices.Contains([]string{"core.pager", "core.editor", "pager.diff", "pager.log", "sequence.editor"}, key) || gitKeys.MatchString(value) && !plainProgram.MatchString(v) {
			j.mark(loads)
		}
	case "--exec-path":
		j.mark(loads)
	}
}

// gitRuns checks for commands of git that run other commands.
func (j *judge) gitRuns(verb string, args []word) {
	words := positional(args)
	switch verb {
	case "config":
		if len(words) > 0 && slices.Contains([]string{"set", "unset", "get", "list"}, words[0]) {
			words = words[1:]
		}
		sets := len(words) > 1 && (gitKeys.MatchString(words[0]) || gitKeys.MatchString(words[0]+" "+words[1])) && (words[0] != "core.editor" && words[0] != "core.pager" || !plainProgram.MatchString(words[1]))
		j.markIf(sets, loads)
	case "remote":
		j.markIf(len(words) > 1 && words[0] == "set-url", "changes where git pushes to")
	case "submodule":
		if len(words) > 1 && words[0] == "foreach" {
			j.inner(strings.Join(words[1:], " "))
		}
	case "bisect":
		if len(words) > 1 && words[0] == "run" {
			j.call(args[1:])
		}
	case "rebase":
		for i, a := range args {
			if (a.text == "-x" || a.text == "--exec") && i+1 < len(args) {
				j.inner(args[i+1].text)
			} else if script, ok := strings.CutPrefix(a.text, "--exec="); ok {
				j.inner(script)
			}
		}
	case "filter-branch", "filter-repo", "daemon", "instaweb", "send-email", "cvsserver", "replace":
		j.mark(loses)
	}
}

// gitLoses checks for commands of git that lose changes or commits.
func (j *judge) gitLoses(verb string, args []word) {
	words := positional(args)
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	force := has(args, 'f', "--force")
	dashes := slices.IndexFunc(args, func(a word) bool { return a.text == "--" })
	switch verb {
	case "push":
		gone := has(args, 'd', "--delete") || has(args, 0, "--force-with-lease") || has(args, 0, "--mirror") || has(args, 0, "--prune") || has(args, 0, "--force-if-includes")
		j.markIf(force || gone || slices.ContainsFunc(args, func(a word) bool { return len(a.text) > 1 && (a.text[0] == '+' || a.text[0] == ':') }), pushes)
		j.markIf(strings.Contains(first, "://"), sends)
	case "reset":
		j.markIf(has(args, 0, "--hard") || has(args, 0, "--merge") || has(args, 0, "--keep"), discards)
	case "clean":
		j.markIf(!has(args, 'n', "--dry-run") && (force || has(args, 'x', "") || has(args, 'd', "")), discards)
	case "checkout":
		files := dashes >= 0 && dashes < len(args)-1 || slices.ContainsFunc(words, func(w string) bool { return w == "." || strings.HasPrefix(w, "./") || w == ":/" || w == "*" })
		j.markIf(force || files || has(args, 0, "--ours") || has(args, 0, "--theirs"), discards)
	case "restore":
		j.markIf(!has(args, 'S', "--staged") || has(args, 'W', "--worktree"), discards)
	case "switch":
		j.markIf(force || has(args, 0, "--discard-changes") || has(args, 'C', "--force-create"), discards)
	case "stash":
		j.markIf(first == "drop" || first == "clear", discards)
	case "branch":
		j.markIf(has(args, 'D', "") || force, loses)
	case "tag":
		j.markIf(has(args, 'd', "--delete") || force, loses)
	case "update-ref":
		j.markIf(has(args, 'd', "--delete") || has(args, 0, "--stdin"), loses)
	case "reflog":
		j.markIf(first == "expire" || first == "delete", loses)
	case "gc":
		j.markIf(has(args, 0, "--prune"), loses)
	case "prune", "symbolic-ref":
		j.markIf(verb == "prune" || len(words) > 1, loses)
	case "worktree":
		j.markIf(first == "remove" && force, discards)
	case "rm":
		j.markIf(!has(args, 0, "--cached") && (has(args, 'r', "") || force || slices.ContainsFunc(args, func(a word) bool { return a.globs && strings.Trim(a.text, "*") == "" || !a.literal })), deletes)
	case "commit":
		j.markIf(has(args, 'n', "--no-verify"), "leaves out the checks before a commit")
	case "submodule":
		j.markIf(first == "deinit" && force, discards)
	case "read-tree", "checkout-index":
		j.markIf(has(args, 'u', "") || force || has(args, 0, "--reset"), discards)
	case "am", "rebase", "merge", "cherry-pick":
		j.markIf(has(args, 0, "--quit"), discards)
	}
}

// has reports whether options contain a letter, alone or among others ("-rf"), or a name. A letter of 0 is none.
func has(args []word, letter rune, long string) bool {
	for _, a := range args {
		if a.text == "--" {
			return false
		}
		if long != "" && (a.text == long || strings.HasPrefix(a.text, long+"=")) {
			return true
		}
		if letter != 0 && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && strings.ContainsRune(a.text, letter) {
			return true
		}
	}
	return false
}
