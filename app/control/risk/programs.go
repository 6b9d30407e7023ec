package risk

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// known checks a command whose effects are known by its name and arguments.
func (j *judge) known(name string, args []word) {
	if reason := programs[name]; reason != "" && !isQuery(name, args) && (name != "iex" || len(args) != 2 || args[0].text != "-S") { // Elixir has an iex as well
		j.mark(reason)
	}
	if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs") || name == "dd" {
		j.mark(disk)
	}
	j.verbs(name, args)
	j.interpreted(name, args)
	if slices.Contains(sqlPrograms, name) && losesData(join(args)) {
		j.mark(database)
	}
	if look, ok := checks[name]; ok {
		look(j, name, args)
	}
	for _, a := range args {
		j.reads(a)
	}
}

// isQuery reports whether a program that changes the machine only shows something here.
func isQuery(name string, args []word) bool {
	list := map[string][]string{"crontab": {"-l"}, "mount": nil, "iptables": {"-L", "-S", "--list"}, "launchctl": {"list", "print"}, "ufw": {"status"}, "passwd": {"-S"}, "nft": {"list"},
		"zpool": {"status", "list"}, "at": {"-l"}, "schtasks": {"/query"}, "sc": {"query"}, "parted": {"-l"}, "fdisk": {"-l"}, "mdadm": {"--detail"}, "twine": {"check"}, "chkconfig": {"--list"}}
	queries, ok := list[name]
	return ok && (len(args) == 0 && name == "mount" || len(args) > 0 && slices.Contains(queries, strings.ToLower(args[0].text))) ||
		len(args) == 1 && slices.Contains([]string{"--version", "--help", "-V"}, args[0].text)
}

func (j *judge) markIf(bad bool, reason string) {
	if bad {
		j.mark(reason)
	}
}

// verbs checks a command that names what it does in words, such as "docker system prune".
func (j *judge) verbs(name string, args []word) {
	for _, v := range verbsOf[name] {
		if matchesVerb(v.words, args) {
			j.mark(v.reason)
		}
	}
	if !slices.Contains(cloud, name) || slices.ContainsFunc(args, func(a word) bool { return a.text == "--dry-run" || a.text == "--help" || a.text == "--dryrun" }) {
		return
	}
	words := positional(args)
	j.markIf(slices.ContainsFunc(words[:min(len(words), 5)], destroys.MatchString), remote)
}

// matchesVerb reports whether the words of a verb follow one another among the words of a command. The last one may be an option or the beginning of an address.
func matchesVerb(verb []string, args []word) bool {
	for i, a := range args {
		if len(verb) == 0 {
			return true
		}
		v, w := verb[0], a.text
		short := len(v) == 2 && v[0] == '-' && len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, v[1:])
		if w == v || strings.HasPrefix(w, v+"=") || short || strings.Contains(v, "http") && strings.HasPrefix(w, v) || strings.HasPrefix(v, ":") && strings.HasSuffix(w, v) ||
			len(verb) == 1 && v == path.Base(w) && strings.Contains(v, ".") {
			verb = verb[1:]
		} else if i > 8 {
			return false
		}
	}
	return len(verb) == 0
}

// interpreted checks the code that an interpreter is given as an argument, or the file that it runs.
func (j *judge) interpreted(name string, args []word) {
	in, ok := interpreterOf(name)
	if !ok {
		return
	}
	for i, a := range args {
		j.markIf(fetches(a.text) || i == 0 && strings.HasPrefix(a.text, "<("), downloads)
		rest := args[i+1:]
		given, value := codeOption(in, a.text, rest)
		switch {
		case (name == "powershell" || name == "pwsh") && j.powershell(strings.ToLower(a.text), rest):
			return
		case given:
			j.runs(name, value)
			return
		case !strings.HasPrefix(a.text, "-"):
			j.runsFile(a.text)
			return
		case name == "perl" && strings.Contains(a.text, "e") && len(rest) > 0:
			j.runs(name, rest[0])
			return
		}
	}
}

// runsFile checks the file that an interpreter runs.
func (j *judge) runsFile(file string) {
	j.ran(file)
	place := j.place(file)
	j.markIf(place == temporary || place == elsewhere && !strings.HasPrefix(file, "/usr/") && !strings.HasPrefix(file, "<("), fromOutside)
}

// evaluated checks the words that the shell itself runs, at once or later.
func (j *judge) evaluated(name string, args []word) {
	if name == "trap" && len(args) == 1 { // it names a signal
		return
	}
	for _, a := range args {
		_, value, isAlias := strings.Cut(a.text, "=")
		switch {
		case !a.literal && name != "alias":
			j.mark(fed)
		case name == "alias" && isAlias:
			j.script(value)
		case name == "trap" && a.text != args[0].text:
		case name != "eval":
			j.script(a.text)
		}
	}
	if name == "eval" {
		j.script(join(args))
	}
}

// encodedCommand is the option of PowerShell that takes a script in base64. It may be shortened.
const encodedCommand = "-encodedcommand"

// powershell checks an option of PowerShell in lower case. It reports whether the words after it are its script.
func (j *judge) powershell(option string, rest []word) bool {
	j.markIf(len(option) > 1 && strings.HasPrefix(encodedCommand, option) || option == "-ec", fed)
	if len(rest) == 0 {
		return false
	}
	j.markIf(strings.HasPrefix(option, "-w") && strings.EqualFold(rest[0].text, "hidden"), fed)
	j.markIf(option == "-file" && j.place(rest[0].text) != inside, fromOutside)
	isScript := option == "-command" || option == "/c"
	if isScript {
		j.script(join(rest))
	}
	return isScript
}

// codeOption reports whether an option gives code to an interpreter, and returns the code.
func codeOption(in interpreter, option string, rest []word) (bool, word) {
	if in.shell && len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.Contains(option, "c") || slices.Contains(in.options, option) || option == "eval" {
		if len(rest) > 0 {
			return true, rest[0]
		}
		return true, word{}
	}
	for _, o := range in.options {
		if len(o) == 2 && strings.HasPrefix(option, o) {
			return true, word{text: option[2:], literal: true}
		}
	}
	return false, word{}
}

// runs checks code that an interpreter gets as an argument or as its input.
func (j *judge) runs(name string, text word) {
	in, _ := interpreterOf(name)
	switch {
	case fetches(text.text):
		j.mark(downloads)
	case in.shell:
		j.script(text.text)
		j.markIf(!text.literal && text.text != "" && strings.HasPrefix(text.text, "$"), fed)
	case code.MatchString(text.text) || strings.Contains(text.text, "$(") && !text.literal:
		j.mark(starts)
	}
}

// ran marks a file that is run and that the same command downloads, and checks one whose text it writes.
func (j *judge) ran(file string) {
	name := path.Base(file)
	if j.download[name] {
		j.mark(downloads)
	}
	if text, ok := j.texts[name]; ok {
		delete(j.texts, name)
		j.script(text)
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

// readsCode returns the interpreter among words that runs what it reads; empty: there is none.
func readsCode(words []word) string {
	for depth := 0; len(words) > 0 && depth < maxDepth; depth++ {
		for len(words) > 0 && isAssignment(words[0].text) {
			words = words[1:]
		}
		name, args, _ := program(words)
		if w, ok := wrapperOf(name, args); ok {
			rest := afterOptions(args, strings.Fields(w.valued), w.before)
			if w.shell && len(rest) == 0 { // ssh HOST
				return name
			}
			if words = rest; w.more {
				return ""
			}
			continue
		}
		if name == "at" || name == "batch" || name == "crontab" || name == "iex" || name == "invoke-expression" || name == "source" || name == "." {
			return name
		}
		in, ok := interpreterOf(name)
		if !ok {
			return ""
		}
		if readsInput(name, in, args) {
			return name
		}
		return ""
	}
	return ""
}

// readsInput reports whether an interpreter runs what it reads, and not a file or code among its arguments.
func readsInput(name string, in interpreter, args []word) bool {
	for i, a := range args {
		switch given, _ := codeOption(in, a.text, args[i+1:]); {
		case a.text == "-" || a.text == "/dev/stdin" || a.text == "-s":
			return true
		case given, !strings.HasPrefix(a.text, "-"), a.text == "-m" && !in.shell, a.text == "-n", a.text == "--version", name == "perl" && strings.Contains(a.text, "e"):
			return false
		}
	}
	return true
}

// pipe checks what a pipeline feeds to a command.
func (j *judge) pipe(text string, in *syntax.Stmt, words []word) {
	name := readsCode(words)
	fetched, known := false, word{}
	syntax.Walk(in, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			from, args, _ := program(wordsOf(text, c.Args))
			fetched = fetched || slices.Contains(downloaders, from)
			if from == "echo" || from == "printf" {
				known = word{text: join(args), literal: true}
			}
		}
		return true
	})
	first, _, _ := program(words)
	switch {
	case name != "" && fetched:
		j.mark(downloads)
	case name != "":
		j.mark(fed)
	case known.text != "":
		j.feed(words, known)
	case first == "curl" && strings.Contains(join(words), "@-") || first == "wget" && strings.Contains(join(words), "/dev/stdin"):
		j.mark(sends)
	}
	j.markIf(first == "ssh", sends)
	j.markIf(first == "remove-item" || first == "ri", deletesMany)
}

// feed checks the text that a command reads.
func (j *judge) feed(words []word, text word) {
	name, _, _ := program(words)
	if slices.Contains(sqlPrograms, name) && losesData(text.text) {
		j.mark(database)
	}
	if slices.Contains([]string{"ed", "ex", "vi", "vim", "nvim", "gdb"}, name) && strings.Contains(text.text, "!") {
		j.mark(starts)
	}
	switch reader := readsCode(words); {
	case reader == "":
	case text.text == "" || reader == "source" || reader == ".":
		j.mark(fed)
	case reader == "ssh" || reader == "at":
		j.script(text.text)
	default:
		j.runs(reader, text)
	}
}
