package risk

import (
	"slices"
	"strings"
)

// gitKeys are the keys of git's settings that name a program, a server or a folder with programs.
var gitKeys = lazy(`(?i)^(core\.(hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass|worktree|attributesfile|excludesfile)|alias\.\S+=?\s*!|credential\.|url\..*insteadof|diff\.(external|.*\.(command|textconv))|filter\.|merge\..*\.driver|mergetool\.|difftool\.|sequence\.editor|gpg\.(program|.*\.program)|pager\.|include(if)?\.|http\.(proxy|sslverify|.*\.proxy)|remote\..*\.(url|pushurl|uploadpack|receivepack|vcs)|protocol\.|init\.templatedir|browser\.|man\.|uploadpack\.|receive\.|submodule\..*\.update|safe\.directory|trailer\..*\.command|web\.browser|instaweb\.|sendemail\.|ssh\.variant|interactive\.difffilter)`)

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
		j.gitConfig(words)
	case "remote":
		j.markIf(len(words) > 1 && words[0] == "set-url", "changes where git pushes to")
	case "submodule":
		if len(words) > 1 && words[0] == "foreach" {
			j.script(strings.Join(words[1:], " "))
		}
	case "bisect":
		if len(words) > 1 && words[0] == "run" {
			j.call(args[1:])
		}
	case "rebase":
		j.gitRebase(args)
	case "filter-branch", "filter-repo", "daemon", "instaweb", "send-email", "cvsserver", "replace":
		j.mark(loses)
	}
}

// gitConfig checks a setting that is kept.
func (j *judge) gitConfig(words []string) {
	if len(words) > 0 && slices.Contains([]string{"set", "unset", "get", "list"}, words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || (words[0] == "core.editor" || words[0] == "core.pager") && plainProgram.MatchString(words[1]) {
		return
	}
	j.markIf(gitKeys.MatchString(words[0]) || gitKeys.MatchString(words[0]+" "+words[1]), loads)
}

// gitRebase checks the scripts that a rebase runs after each commit.
func (j *judge) gitRebase(args []word) {
	for i, a := range args {
		if (a.text == "-x" || a.text == "--exec") && i+1 < len(args) {
			j.script(args[i+1].text)
		} else if script, ok := strings.CutPrefix(a.text, "--exec="); ok {
			j.script(script)
		}
	}
}

// gitCall is a call of a command of git.
type gitCall struct {
	args  []word
	words []string // those of args that are no options
	first string   // of words; empty: there are none
	force bool
}

func (g gitCall) has(letter rune, long string) bool { return has(g.args, letter, long) }

// gitRules are the commands of git that lose changes or commits: the reason, and when it applies.
var gitRules = map[string]struct {
	reason  string
	applies func(g gitCall) bool
}{
	"push":           {pushes, gitCall.overwrites},
	"reset":          {discards, func(g gitCall) bool { return g.has(0, "--hard") || g.has(0, "--merge") || g.has(0, "--keep") }},
	"clean":          {discards, func(g gitCall) bool { return !g.has('n', "--dry-run") && (g.force || g.has('x', "") || g.has('d', "")) }},
	"checkout":       {discards, gitCall.restoresFiles},
	"restore":        {discards, func(g gitCall) bool { return !g.has('S', "--staged") || g.has('W', "--worktree") }},
	"switch":         {discards, func(g gitCall) bool { return g.force || g.has(0, "--discard-changes") || g.has('C', "--force-create") }},
	"stash":          {discards, func(g gitCall) bool { return g.first == "drop" || g.first == "clear" }},
	"branch":         {loses, func(g gitCall) bool { return g.has('D', "") || g.force }},
	"tag":            {loses, func(g gitCall) bool { return g.has('d', "--delete") || g.force }},
	"update-ref":     {loses, func(g gitCall) bool { return g.has('d', "--delete") || g.has(0, "--stdin") }},
	"reflog":         {loses, func(g gitCall) bool { return g.first == "expire" || g.first == "delete" }},
	"gc":             {loses, func(g gitCall) bool { return g.has(0, "--prune") }},
	"prune":          {loses, func(gitCall) bool { return true }},
	"symbolic-ref":   {loses, func(g gitCall) bool { return len(g.words) > 1 }},
	"worktree":       {discards, func(g gitCall) bool { return g.first == "remove" && g.force }},
	"rm":             {deletes, gitCall.removesMany},
	"commit":         {"leaves out the checks before a commit", func(g gitCall) bool { return g.has('n', "--no-verify") }},
	"submodule":      {discards, func(g gitCall) bool { return g.first == "deinit" && g.force }},
	"read-tree":      {discards, gitCall.resets},
	"checkout-index": {discards, gitCall.resets},
	"am":             {discards, gitCall.quits},
	"rebase":         {discards, gitCall.quits},
	"merge":          {discards, gitCall.quits},
	"cherry-pick":    {discards, gitCall.quits},
}

func (g gitCall) quits() bool  { return g.has(0, "--quit") }
func (g gitCall) resets() bool { return g.has('u', "") || g.force || g.has(0, "--reset") }

func (g gitCall) overwrites() bool {
	return g.force || g.has('d', "--delete") || g.has(0, "--force-with-lease") || g.has(0, "--mirror") || g.has(0, "--prune") || g.has(0, "--force-if-includes") ||
		slices.ContainsFunc(g.args, func(a word) bool { return len(a.text) > 1 && (a.text[0] == '+' || a.text[0] == ':') })
}

func (g gitCall) restoresFiles() bool {
	dashes := slices.IndexFunc(g.args, func(a word) bool { return a.text == "--" })
	return g.force || dashes >= 0 && dashes < len(g.args)-1 || g.has(0, "--ours") || g.has(0, "--theirs") ||
		slices.ContainsFunc(g.words, func(w string) bool { return w == "." || strings.HasPrefix(w, "./") || w == ":/" || w == "*" })
}

func (g gitCall) removesMany() bool {
	return !g.has(0, "--cached") && (g.has('r', "") || g.force ||
		slices.ContainsFunc(g.args, func(a word) bool { return a.globs && strings.Trim(a.text, "*") == "" || !a.literal }))
}

// gitLoses checks for commands of git that lose changes or commits.
func (j *judge) gitLoses(verb string, args []word) {
	g := gitCall{args: args, words: positional(args), force: has(args, 'f', "--force")}
	if len(g.words) > 0 {
		g.first = g.words[0]
	}
	rule, ok := gitRules[verb]
	j.markIf(ok && rule.applies(g), rule.reason)
	j.markIf(verb == "push" && strings.Contains(g.first, "://"), sends)
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
