package risk

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wrapper is a program that runs another program, which follows its own options.
type wrapper struct {
	valued string // the options that take the next word as their value
	before int    // how many words that are no options come before the other program
	shell  bool   // the rest is a command line for a shell
	reason string // the mark of the wrapper itself
	more   bool   // the other program gets arguments that are only known when it runs
}

var wrappers = map[string]wrapper{
	"env": {valued: "-u --unset -C --chdir"}, "nohup": {}, "nice": {valued: "-n --adjustment"}, "time": {valued: "-f -o"}, "timeout": {valued: "-s --signal -k --kill-after", before: 1},
	"command": {}, "exec": {valued: "-a"}, "builtin": {}, "setsid": {}, "stdbuf": {valued: "-i -o -e"}, "ionice": {valued: "-c -n -p --class"}, "chronic": {},
	"busybox": {}, "toybox": {}, "caffeinate": {valued: "-t -w"}, "unbuffer": {}, "dbus-run-session": {}, "xvfb-run": {valued: "-s -n"}, "faketime": {before: 1},
	"sudo": {valued: "-u -g -C -h -p -r -t -U -D -R --user --group", reason: asRoot}, "doas": {valued: "-u -C", reason: asRoot}, "pkexec": {valued: "--user", reason: asRoot},
	"su": {reason: asRoot}, "runuser": {valued: "-u -g", reason: asRoot}, "runas": {reason: asRoot, shell: true}, "gosu": {before: 1, reason: asRoot},
	"xargs":    {valued: "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace", more: true},
	"parallel": {valued: "-a -j -n --jobs --arg-file", more: true, shell: true}, "watch": {valued: "-n --interval", shell: true}, "entr": {},
	"flock": {valued: "-w -E --timeout", before: 1}, "unshare": {valued: "-S -G -R -w", reason: ""}, "chroot": {valued: "--userspec --groups", before: 1, reason: asRoot},
	"nsenter": {valued: "-t --target -S -G", reason: asRoot}, "systemd-run": {valued: "-p -u --unit --property", reason: later}, "firejail": {}, "bwrap": {valued: ""},
	"strace": {valued: "-e -o -p -s"}, "ltrace": {valued: "-e -o -p"}, "gdb": {}, "valgrind": {}, "perf": {before: 1}, "hyperfine": {valued: "-w -r", shell: true},
	"ssh": {valued: "-i -p -l -o -F -J -L -R -D -E -b -c -e -m -O -Q -S -W -w -B -I", before: 1, shell: true}, "mosh": {before: 1}, "tsh": {before: 2},
	"setpriv": {valued: "--reuid --regid --groups"}, "capsh": {}, "taskset": {valued: "-p", before: 1}, "chrt": {before: 1}, "prlimit": {}, "numactl": {}, "proot": {valued: "-r -b -w"},
	"direnv exec": {before: 2}, "dotenv": {}, "op run": {before: 1}, "doppler run": {before: 1}, "mise exec": {before: 1}, "poetry run": {before: 1},
	"uv run": {before: 1}, "pipenv run": {before: 1}, "pdm run": {before: 1}, "rye run": {before: 1}, "bundle exec": {before: 1}, "rbenv exec": {before: 1},
	"docker run": container, "docker exec": container, "podman run": container, "podman exec": container, "docker compose exec": compose, "docker compose run": compose,
	"docker-compose exec": container, "docker-compose run": container, "kubectl exec": {valued: "-n --namespace -c --container", before: 2}, "oc exec": {valued: "-n -c", before: 2},
	"lxc exec": {before: 2}, "distrobox enter": {before: 2}, "toolbox run": {valued: "-c", before: 1}, "adb shell": {before: 1, shell: true}, "vagrant ssh": {before: 1, shell: true},
	"cmd": {shell: true}, "script": {valued: "-t -o", before: 1}, "npx": {valued: "-p --package"}, "bunx": {}, "pnpx": {}, "npm exec": {before: 1}, "pnpm exec": {before: 1}, "pnpm dlx": {before: 1}, "yarn dlx": {before: 1},
	"start-process": {}, "start": {}, "then": {}, "noglob": {}, "nocorrect": {}, "coproc": {}, "winpty": {}, "flatpak-spawn": {}, "wsl": {valued: "-d -u"},
}

// containerOptions are the options of docker run and docker exec that take the next word.
const containerOptions = "-v --volume -w --workdir -e --env -u --user -p --publish --name --network --net --entrypoint --mount --env-file -l --label --cpus -m --memory --platform -h --hostname --pid --cap-add --security-opt --device --add-host --gpus --ulimit"

var (
	container = wrapper{valued: containerOptions, before: 2}
	compose   = wrapper{valued: containerOptions + " -f --file --profile", before: 3}
)

// wrapperOf returns the wrapper that a command calls, such as "docker run".
func wrapperOf(name string, args []word) (wrapper, bool) {
	if w, ok := wrappers[name]; ok {
		return w, true
	}
	verbs := positional(args)
	for n := 1; n <= min(2, len(verbs)); n++ {
		if w, ok := wrappers[name+" "+strings.Join(verbs[:n], " ")]; ok {
			return w, true
		}
	}
	return wrapper{}, false
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

// program returns the name of the program of a command in lower case, without its folder, and its arguments. known is false if
// the name is only known when the command runs.
func program(words []word) (name string, args []word, known bool) {
	if len(words) == 0 {
		return "", nil, true
	}
	w := words[0]
	name = path.Base(filepath.ToSlash(w.text))
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.ToLower(name)
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	known = w.literal || strings.Contains(w.text, "/") && !strings.ContainsAny(name, "$`(){}\\\"'")
	return name, words[1:], known && (!w.globs || name == "[")
}

// call checks one command with its arguments, and the command that it runs if its program is a wrapper.
func (j *judge) call(words []word) {
	if j.late() {
		return
	}
	for len(words) > 0 && isAssignment(words[0].text) {
		name, value, _ := strings.Cut(words[0].text, "=")
		j.assign(name, word{text: value, literal: words[0].literal})
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	name, args, known := program(words)
	if !known {
		j.mark("runs a program that is only known when it runs")
		return
	}
	j.markIf(strings.Contains(words[0].text, "://"), downloads)
	j.ran(words[0].text)
	j.named(name)
	j.markIf(strings.Contains(words[0].text, "/") && j.place(words[0].text) == temporary, fromOutside)
	if w, ok := wrapperOf(name, args); ok && j.wraps(name, w, args) {
		return
	}
	j.known(name, args)
}

// wraps checks the command that a wrapper runs. It reports whether there is one.
func (j *judge) wraps(name string, w wrapper, args []word) bool {
	if w.reason != "" {
		j.mark(w.reason)
	}
	rest := afterOptions(args, strings.Fields(w.valued), w.before)
	if name == "docker" || name == "podman" {
		j.containers(args)
	}
	if j.ownOptions(name, args) {
		return true
	}
	if name == "parallel" || name == "cmd" {
		rest = slices.DeleteFunc(slices.Clone(rest), func(a word) bool {
			return a.is(":::") || a.is("::::") || strings.HasPrefix(a.text, "/") && len(a.text) == 2
		})
	}
	if len(rest) == 0 {
		return false
	}
	if w.shell {
		j.script(join(rest))
	}
	if w.more {
		rest = append(slices.Clone(rest), word{text: "{}"})
	}
	if !w.shell || w.more {
		depth := j.depth
		if j.depth++; j.depth <= 4*maxDepth {
			j.call(rest)
		}
		j.depth = depth
	}
	return true
}

// scriptOptions are the options of wrappers that are followed by a script.
var scriptOptions = map[string][]string{"npx": {"-c", "--call"}, "env": {"-S", "--split-string"}, "su": {"-c", "--command"}, "runuser": {"-c", "--command"}, "flock": {"-c"}}

// ownOptions checks the options of a wrapper that take a script. It reports whether nothing else is run.
func (j *judge) ownOptions(name string, args []word) bool {
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		switch {
		case slices.Contains(scriptOptions[name], a.text), name == "script" && strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "c"):
			j.script(next)
			return true
		case name == "ssh" && strings.HasPrefix(a.text, "-o"):
			if option := strings.ToLower(strings.TrimPrefix(a.text, "-o") + next); strings.Contains(option, "command") {
				j.mark(fed)
			}
		case name == "ssh" && (strings.HasPrefix(a.text, "-R") || strings.HasPrefix(a.text, "-D")):
			j.mark(remoteShell)
		case name == "command" && (a.text == "-v" || a.text == "-V"):
			return true
		case !strings.HasPrefix(a.text, "-"):
			return false
		}
	}
	return false
}

// afterOptions returns the words after the options of a command, their values, assignments, and as many other words as before says.
func afterOptions(args []word, valued []string, before int) []word {
	for len(args) > 0 {
		a := args[0].text
		switch {
		case a == "--":
			return args[min(1+before, len(args)):]
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if slices.Contains(valued, a) && len(args) > 1 {
				args = args[1:]
			}
		case before > 0:
			before--
		default:
			return args
		}
		args = args[1:]
	}
	return nil
}

// isAssignment reports whether a word sets a variable for the command after it.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e }) < 0
}

// looksLatin has the letters of other alphabets that look like Latin ones.
const looksLatin = "асеорхуіјѕԁһӏԛԝкмтнвАВЕКМНОРСТХІЈЅαορνικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"

// named checks the letters of a program's name: one that mixes alphabets looks like another.
func (j *judge) named(name string) {
	name, _, _ = strings.Cut(name, ".")
	if isASCII(name) || len(name) > 256 {
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
