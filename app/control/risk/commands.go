package risk

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"mvdan.cc/sh/v3/syntax"
)

// wrappers are programs that run another program, which follows somewhere among their words.
var wrappers = strings.Fields(`env nohup nice time timeout command exec builtin setsid stdbuf ionice chronic busybox toybox caffeinate unbuffer dbus-run-session xvfb-run faketime sudo doas pkexec su runuser runas gosu xargs parallel
	watch entr flock unshare chroot nsenter systemd-run firejail bwrap strace ltrace gdb valgrind perf hyperfine ssh mosh tsh setpriv capsh taskset chrt prlimit numactl proot direnv dotenv op doppler mise poetry uv pipenv pdm rye
	bundle rbenv docker podman docker-compose kubectl oc lxc distrobox toolbox adb vagrant cmd script npx bunx pnpx start-process start then noglob nocorrect coproc winpty flatpak-spawn wsl find fd fdfind git`)

// feeders are the wrappers that complete the words of the other program when they run.
var feeders = []string{"xargs", "parallel", "find", "fd", "fdfind"}

// program returns the name of the program of a command in lower case, without its folder. known is false if the name is only known when the command runs.
func program(w word) (name string, known bool) {
	name = path.Base(filepath.ToSlash(w.text))
	name = strings.ToLower(name[strings.LastIndexByte(name, '\\')+1:])
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	known = w.literal || strings.Contains(w.text, "/") && !strings.ContainsAny(name, "$`(){}\\\"'")
	return name, known && (!w.globs || name == "[")
}

// call checks one command with its arguments.
func (j *judge) call(words []word) {
	if j.late() {
		return
	}
	for len(words) > 0 && isAssignment(words[0].text) {
		name, value, _ := strings.Cut(words[0].text, "=")
		j.assign(name, value)
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	first, args := words[0], words[1:]
	name, known := program(first)
	if !known {
		j.mark("runs a program that is only known when it runs")
		return
	}
	j.named(name)
	j.markIf(strings.Contains(first.text, "://"), downloads)
	j.markIf(strings.Contains(first.text, "/") && j.place(first.text) == temporary, fromOutside)
	j.markIf(j.download[path.Base(first.text)], downloads)
	line := join(args)
	if name == "eval" || name == "alias" || name == "trap" && len(args) > 1 {
		j.evaluated(name, args)
	}
	j.byName(name, args, line)
	j.byRules(name, line)
	j.interpreted(name, args)
	j.files(name, args, line)
	if slices.Contains(wrappers, name) {
		j.wrapped(name, args)
	}
}

// byName checks a program that is marked by its name, and the words after it.
func (j *judge) byName(name string, args []word, line string) {
	if reason := programs[name]; reason != "" && !isQuery(name, args) && (name != "iex" || !strings.HasPrefix(line, "-S ")) { // Elixir has an iex as well
		j.mark(reason)
	}
	j.markIf(strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs") || name == "dd", disk)
	j.markIf(slices.Contains(sqlPrograms, name) && losesData(line), database)
	for _, v := range verbsOf[name] {
		j.markIf(matchesVerb(v.words, args), v.reason)
	}
	if slices.Contains(cloud, name) && !strings.Contains(line, "--dry") && !strings.Contains(line, "--help") {
		words := positional(args)
		j.markIf(slices.ContainsFunc(words[:min(len(words), 5)], destroys.MatchString), remote)
	}
	if name == "curl" || name == "wget" {
		j.fetched(args)
	}
}

// fetched notes the files that a command downloads, for the case that another one runs them.
func (j *judge) fetched(args []word) {
	for _, a := range args {
		j.download[path.Base(a.text)] = true
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

// wrapped checks the commands that a wrapper may run: what begins at one of its words, and words that are scripts.
func (j *judge) wrapped(name string, args []word) {
	j.depth++
	defer func() { j.depth-- }()
	if j.depth > maxDepth {
		j.mark("has commands inside commands")
		return
	}
	for i, a := range args[:min(len(args), maxWords)] {
		switch {
		case strings.Contains(a.text, " ") && name != "git":
			j.script(a.text)
		case i > 0 && (args[i-1].is("--exec") || args[i-1].is("-x") || args[i-1].is("foreach")) && name == "git":
			j.script(a.text)
		case !a.literal || a.globs || strings.HasPrefix(a.text, "-") || isAssignment(a.text) || !isProgram(a.text) || name == "git" && !slices.ContainsFunc(args[:i], func(w word) bool { return w.is("run") || w.is("foreach") }):
		case slices.Contains(feeders, name):
			j.call(append(slices.Clone(args[i:]), word{text: "{}"}))
			return
		default:
			j.call(args[i:])
			return
		}
	}
}

// maxWords bounds the words of a wrapper among which a program is looked for.
const maxWords = 12

// isProgram reports whether a word is the name of a program that some rule knows.
func isProgram(text string) bool {
	name, _ := program(word{text: text, literal: true})
	_, interprets := interpreterOf(name)
	return interprets || programs[name] != "" || verbsOf[name] != nil || ruled[name] || writers[name] != "" || slices.Contains(wrappers, name) || slices.Contains(downloaders, name) || slices.Contains(cloud, name) || strings.HasPrefix(name, "mkfs") ||
		slices.Contains(sqlPrograms, name) || name == "rm" || strings.HasPrefix(text, "/tmp/")
}

// interpreted checks the code that an interpreter is given as an argument, or the file that it runs.
func (j *judge) interpreted(name string, args []word) {
	in, ok := interpreterOf(name)
	if !ok {
		return
	}
	for i, a := range args {
		j.markIf(fetches(a.text), downloads)
		option := a.text
		isCode := in.shell && len(option) > 1 && option[0] == '-' && option[1] != '-' && strings.Contains(option, "c") || slices.Contains(in.options, option) || option == "eval" || name == "perl" && strings.HasPrefix(option, "-") && strings.Contains(option, "e") ||
			strings.EqualFold(option, "-command") || strings.EqualFold(option, "/c")
		switch {
		case isCode:
			j.runs(in, args[min(i+1, len(args)-1)])
			return
		case len(option) > 2 && slices.Contains(in.options, option[:2]) && !in.shell:
			j.runs(in, word{text: option[2:], literal: true})
			return
		case strings.HasPrefix(a.text, "-"):
		default:
			place := j.place(a.text)
			j.markIf(j.download[path.Base(a.text)], downloads)
			j.markIf(place == temporary || place == elsewhere && !strings.HasPrefix(a.text, "/usr/") && !strings.HasPrefix(a.text, "<("), fromOutside)
			return
		}
	}
}

// evaluated checks the words that the shell itself runs, at once or later.
func (j *judge) evaluated(name string, args []word) {
	for _, a := range args {
		j.markIf(!a.literal && name != "alias", fed)
	}
	if name == "eval" {
		j.script(join(args))
	} else if len(args) > 0 {
		j.script(args[0].text[strings.IndexByte(args[0].text, '=')+1:])
	}
}

// runs checks code that an interpreter gets as an argument or as its input.
func (j *judge) runs(in interpreter, text word) {
	switch {
	case fetches(text.text):
		j.mark(downloads)
	case in.shell:
		j.script(text.text)
		j.markIf(!text.literal && strings.HasPrefix(text.text, "$"), fed)
	default:
		j.markIf(code.MatchString(text.text) || strings.Contains(text.text, "$(") && !text.literal, starts)
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

// runsInput reports whether a command runs what it reads.
func runsInput(words []word) bool {
	for i, w := range words {
		name, _ := program(w)
		in, ok := interpreterOf(name)
		switch rest := words[i+1:]; {
		case slices.Contains([]string{"at", "batch", "crontab", "iex", "invoke-expression", "source", ".", "ssh"}, name) && i == 0:
			return name != "ssh" || len(positional(rest)) == 1
		case ok:
			return !slices.ContainsFunc(rest, func(a word) bool {
				isCode := in.shell && strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "c")
				return a.text != "-" && a.text != "/dev/stdin" && !strings.HasPrefix(a.text, "-") || isCode || slices.Contains(in.options, a.text) || a.text == "-m" || a.text == "-n" || strings.HasPrefix(a.text, "-p") || a.text == "--version"
			}) || slices.ContainsFunc(rest, func(a word) bool { return a.text == "-s" || a.text == "-" })
		case !slices.Contains(wrappers, name) && i == 0 || name == "xargs":
			return false
		}
	}
	return false
}

// pipe checks what a pipeline feeds to a command.
func (j *judge) pipe(text string, in *syntax.Stmt, words []word) {
	fetched, known := false, ""
	syntax.Walk(in, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			from, _ := program(wordOf(text, c.Args[0]))
			fetched = fetched || slices.Contains(downloaders, from)
			if from == "echo" || from == "printf" {
				known = join(wordsOf(text, c.Args[1:]))
			}
		}
		return true
	})
	first, _ := program(words[0])
	switch {
	case runsInput(words) && fetched:
		j.mark(downloads)
	case runsInput(words):
		j.mark(fed)
	default:
		j.feed(first, known)
		j.markIf(first == "curl" && strings.Contains(join(words), "@-") || first == "wget" && strings.Contains(join(words), "/dev/stdin"), sends)
	}
	j.markIf(first == "ssh", sends)
	j.markIf(first == "remove-item" || first == "ri", deletesMany)
}

// feed checks the text that a program reads.
func (j *judge) feed(name, text string) {
	j.markIf(slices.Contains(sqlPrograms, name) && losesData(text), database)
	j.markIf(slices.Contains([]string{"ed", "ex", "vi", "vim", "nvim", "gdb"}, name) && strings.Contains(text, "!"), starts)
}

// isAssignment reports whether a word sets a variable for the command after it.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// positional returns the words that are no options.
func positional(args []word) (out []string) {
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			out = append(out, a.text)
		}
	}
	return out
}

// looksLatin has the letters of other alphabets that look like Latin ones.
const looksLatin = "асеорхуіјѕԁһӏԛԝкмтнвАВЕКМНОРСТХІЈЅαορνικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"

// named checks the letters of a program's name: one that mixes alphabets looks like another.
func (j *judge) named(name string) {
	name, _, _ = strings.Cut(name, ".")
	if strings.IndexFunc(name, func(r rune) bool { return r > 0x7e }) < 0 || len(name) > 256 {
		return
	}
	var alphabets []string
	alike := name != ""
	for _, r := range name {
		for alphabet, table := range unicode.Scripts {
			if unicode.IsLetter(r) && alphabet != "Common" && alphabet != "Inherited" && unicode.Is(table, r) && !slices.Contains(alphabets, alphabet) {
				alphabets = append(alphabets, alphabet)
			}
		}
		alike = alike && (strings.ContainsRune(looksLatin, r) || r < 0x80 && !unicode.IsLetter(r))
	}
	letters := slices.ContainsFunc([]rune(name), unicode.IsLetter)
	j.markIf(len(alphabets) > 1 && !isEastAsian(alphabets) || alike && letters || norm.NFKC.String(name) != norm.NFC.String(name), "the name of its program has letters that look like others")
}

// isEastAsian reports whether alphabets are those that Japanese, Chinese or Korean names use together.
func isEastAsian(alphabets []string) bool {
	return !slices.ContainsFunc(alphabets, func(a string) bool {
		return !slices.Contains([]string{"Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Latin"}, a)
	})
}
