package answer

import (
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"rollcall/app/present"
)

// maxParsed bounds the commands that are parsed, in bytes. A longer one is marked for its
// length.
const maxParsed = 32 << 10

// maxDepth limits how deep commands inside commands (sh -c "…") are checked.
const maxDepth = 8

// Dangers returns why a command looks dangerous, in words, each reason once; nil if it does not. folder is the one in which
// it would run; empty: not known. The reasons only draw attention: a command without one may also be dangerous, so a command
// is always shown in full.
func Dangers(command, folder string) []string {
	m := &marks{folder: folder}
	m.add(hidden(command)...)
	m.script(command, 0)
	return m.found
}

// hidden returns a reason if a text has characters that a reader does not see.
func hidden(text string) []string {
	for _, r := range text {
		if r != '\n' && r != '\t' && present.Invisible(r) {
			return []string{"has invisible characters or terminal commands in it"}
		}
	}
	return nil
}

// marks gathers the reasons of one command.
type marks struct {
	folder string
	found  []string
}

func (m *marks) add(reasons ...string) {
	for _, r := range reasons {
		if !slices.Contains(m.found, r) {
			m.found = append(m.found, r)
		}
	}
}

// script checks a shell script.
func (m *marks) script(text string, depth int) {
	if len(text) > maxParsed {
		m.add("is very long: read it to its end")
		m.lines(text, depth)
		return
	}
	if depth > maxDepth {
		m.add("has commands inside commands")
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		m.add("can't be parsed as a shell command")
		m.lines(text, depth)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			m.call(words(text, n.Args), depth)
		case *syntax.Redirect:
			if n.Word != nil && slices.Contains(writing, n.Op.String()) {
				m.target(literal(text, n.Word))
			}
		case *syntax.BinaryCmd:
			m.pipe(text, n)
		}
		return true
	})
}

// lines checks each line of a text that can't be parsed as one command.
func (m *marks) lines(text string, depth int) {
	for line := range strings.Lines(text) {
		m.call(strings.Fields(line), depth)
	}
}

// writing are the redirections that write to a file.
var writing = []string{">", ">>", ">|", "&>", "&>>", "<>"}

func words(text string, list []*syntax.Word) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = literal(text, w)
	}
	return out
}

// literal returns a word of text without its quotes. Parts that only the shell knows, such as
// variables, are left as they are written.
func literal(text string, w *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescaped(p.Value))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				b.WriteString(text[min(int(p.Pos().Offset()), len(text)):min(int(p.End().Offset()), len(text))])
			}
		}
	}
	add(w.Parts)
	return b.String()
}

// unescaped removes the backslashes of an unquoted word.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// prefixes are commands that run another command, which follows their own options. For some of their options it is not known
// whether they take a value, so the position of the other command is not certain.
var prefixes = []string{"env", "nohup", "nice", "time", "timeout", "xargs", "command", "exec", "builtin", "setsid", "stdbuf", "ionice", "chronic", "busybox",
	"sudo", "doas", "su", "pkexec", "runas"}

// shells are commands that run a script.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"}

// interpreters are commands that run what they read.
var interpreters = append([]string{"python", "python3", "perl", "ruby", "node", "bun", "php", "pwsh", "powershell"}, shells...)

// downloaders are commands that fetch a file from elsewhere.
var downloaders = []string{"curl", "wget", "fetch", "http", "aria2c"}

// maxPrefix is how many arguments of a prefix command are tried as the start of the command that it runs.
const maxPrefix = 20

// programs returns the words that may be the program of a command, with their arguments: only the first word, or every word
// up to maxPrefix if the first is a prefix command.
func programs(words []string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for i, w := range words {
			name := strings.ToLower(strings.TrimSuffix(path.Base(filepath.ToSlash(w)), ".exe"))
			if !yield(name, words[i+1:]) || i == 0 && !slices.Contains(prefixes, name) || i == maxPrefix {
				return
			}
		}
	}
}

// call checks one command with its arguments.
func (m *marks) call(args []string, depth int) {
	for len(args) > 0 && isAssignment(args[0]) {
		args = args[1:]
	}
	for name, args := range programs(args) {
		m.shell(name, args, depth)
		m.known(name, args)
	}
}

// shell checks the script that a shell is given as an argument.
func (m *marks) shell(name string, args []string, depth int) {
	switch {
	case name == "eval":
		m.script(strings.Join(args, " "), depth+1)
	case slices.Contains(shells, name):
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				m.script(args[i+1], depth+1)
				break
			}
		}
	}
	if slices.Contains(interpreters, name) || name == "eval" || name == "source" || name == "." {
		for _, a := range args {
			if fetches(a) {
				m.add("runs what it downloads")
			}
		}
	}
}

// fetches reports whether a word that is substituted ("$(curl …)", "<(curl …)") downloads.
func fetches(word string) bool {
	for _, begin := range []string{"$(", "<(", "`"} {
		if _, rest, ok := strings.Cut(word, begin); ok {
			if f := strings.Fields(rest); len(f) > 0 && slices.Contains(downloaders, path.Base(f[0])) {
				return true
			}
		}
	}
	return false
}

// pipe checks whether a pipeline feeds a download to an interpreter.
func (m *marks) pipe(text string, n *syntax.BinaryCmd) {
	if op := n.Op.String(); (op == "|" || op == "|&") && calls(text, n.X, downloaders) && calls(text, n.Y, interpreters) {
		m.add("runs what it downloads")
	}
}

// calls reports whether a statement calls one of the programs anywhere, directly or through another program such as sudo or
// env.
func calls(text string, n syntax.Node, names []string) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for name := range programs(words(text, c.Args)) {
				found = found || slices.Contains(names, name)
			}
		}
		return true
	})
	return found
}

// known checks a command whose effects are known by its name.
func (m *marks) known(name string, args []string) {
	switch name {
	case "sudo", "doas", "su", "pkexec", "runas":
		m.add("runs as another user")
	case "rm", "rmdir", "unlink", "shred":
		if name == "shred" || has(args, 'r', "--recursive") || has(args, 'R', "") {
			m.add("deletes folders with all they contain")
		}
		m.targets(args)
	case "find":
		if slices.Contains(args, "-delete") || slices.Contains(args, "-exec") || slices.Contains(args, "-execdir") {
			m.add("deletes or changes every file that it finds")
		}
	case "git":
		m.git(args)
	case "dd", "mkfs", "fdisk", "parted", "wipefs", "shutdown", "reboot", "halt", "poweroff":
		m.add("can destroy a disk or stop the machine")
	case "chmod", "chown", "chgrp":
		if has(args, 'R', "--recursive") {
			m.add("changes the rights of whole folders")
		}
		m.targets(args)
	case "mv", "cp", "ln", "install", "tee", "touch", "mkdir", "truncate", "rsync", "sed", "remove-item", "del":
		if name == "sed" && !has(args, 'i', "--in-place") {
			return
		}
		m.targets(args)
	default:
		if strings.HasPrefix(name, "mkfs.") {
			m.add("can destroy a disk or stop the machine")
		}
	}
}

// has reports whether options contain a letter, alone or among others ("-rf"), or a name.
func has(args []string, letter rune, long string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if long != "" && (a == long || strings.HasPrefix(a, long+"=")) {
			return true
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsRune(a, letter) {
			return true
		}
	}
	return false
}

// git checks for git commands that lose work.
func (m *marks) git(args []string) {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") { // -C folder, -c key=value
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	rest, discards := args[1:], false
	switch args[0] {
	case "push":
		force := has(rest, 'f', "--force") || has(rest, 0, "--force-with-lease") || has(rest, 0, "--mirror") || has(rest, 'd', "--delete")
		if force || slices.ContainsFunc(rest, func(a string) bool { return len(a) > 1 && (a[0] == '+' || a[0] == ':') }) {
			m.add("overwrites or deletes what others have pushed")
		}
	case "reset":
		discards = slices.Contains(rest, "--hard")
	case "clean":
		discards = has(rest, 'f', "--force")
	case "checkout", "restore", "switch":
		discards = has(rest, 'f', "--force") || slices.Contains(rest, ".")
	}
	if discards {
		m.add("throws away changes that are not committed")
	}
}

// targets checks the arguments of a command that changes files.
func (m *marks) targets(args []string) {
	options := true
	for _, a := range args {
		switch {
		case a == "--":
			options = false
		case !options || !strings.HasPrefix(a, "-"):
			m.target(a)
		}
	}
}

// target checks a file that is written or removed.
func (m *marks) target(name string) {
	if name == "" || strings.HasPrefix(name, "/dev/std") || name == "/dev/null" || name == "/dev/tty" || strings.HasPrefix(name, "/dev/fd/") {
		return
	}
	if strings.HasPrefix(name, "~") || strings.HasPrefix(name, "$HOME") || strings.HasPrefix(name, "${HOME") {
		m.add("writes outside its folder")
		return
	}
	clean := path.Clean(filepath.ToSlash(name))
	outside := clean == ".." || strings.HasPrefix(clean, "../")
	if path.IsAbs(clean) || filepath.IsAbs(name) {
		folder := path.Clean(filepath.ToSlash(m.folder))
		outside = m.folder == "" || clean != folder && !strings.HasPrefix(clean, strings.TrimSuffix(folder, "/")+"/")
	}
	if outside {
		m.add("writes outside its folder")
	}
}

// isAssignment reports whether a word sets a variable for the command after it.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}
