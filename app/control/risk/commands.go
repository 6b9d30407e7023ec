package risk

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// wrappers are programs that run another program, or a script, which follows somewhere among their words.
var wrappers = strings.Fields(`env nohup nice time timeout command exec builtin setsid stdbuf ionice chronic busybox toybox caffeinate unbuffer
	dbus-run-session xvfb-run faketime sudo doas pkexec su runuser runas gosu xargs parallel watch entr flock unshare chroot nsenter systemd-run
	firejail bwrap strace ltrace gdb valgrind perf hyperfine ssh mosh tsh setpriv capsh taskset chrt prlimit numactl proot direnv dotenv op doppler
	mise poetry uv pipenv pdm rye bundle rbenv docker podman docker-compose kubectl oc lxc distrobox toolbox adb vagrant cmd script npx bunx pnpx
	start-process start then noglob nocorrect coproc winpty flatpak-spawn wsl find fd fdfind eval trap alias` + shells)

// feeders are the wrappers that complete the words of the other program when they run.
var feeders = []string{"xargs", "parallel", "find", "fd", "fdfind"}

// versioned is the name of an interpreter with its version, such as python3.12.
var versioned = lazy(`^(python|pypy|perl|ruby|node|php|lua|pip)[0-9.]+$`)

// program returns the name of the program of a command in lower case, without its folder and version. known is false if the name is only known when the
// command runs.
func program(w word) (name string, known bool) {
	name = path.Base(filepath.ToSlash(w.text))
	name = strings.ToLower(name[strings.LastIndexByte(name, '\\')+1:])
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	name = versioned().ReplaceAllString(name, "$1")
	if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs") {
		name = "mkfs"
	}
	known = w.literal || strings.Contains(w.text, "/") && !strings.ContainsAny(name, "$`(){}\\\"'")
	return name, known && (!w.globs || name == "[")
}

var assignment = lazy(`^\w+=`)

// call checks one command with its arguments.
func (j *judge) call(words []word) {
	if !j.enter() {
		return
	}
	for len(words) > 0 && assignment.MatchString(words[0].text) {
		j.byRules("=", words[0].text)
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
	foreign := strings.ContainsFunc(name, func(r rune) bool { return r > '~' })
	j.markIf(foreign && !strings.Contains(first.text, "/"), "the name of its program has letters that look like others")
	j.markIf(strings.Contains(first.text, "/") && j.place(first.text) == temporary, fromOutside)
	isDownload := func(w word) bool { return j.download[path.Base(w.text)] }
	j.markIf(strings.Contains(first.text, "://") || isDownload(first) || isInterpreter(name) && slices.ContainsFunc(args, isDownload), downloads)
	line := join(args)
	j.byRules(name, line)
	j.files(name, args, line)
	if slices.Contains(wrappers, name) || name == "git" && gitRuns.MatchString(line) {
		j.wrapped(name, args)
	}
}

// gitRuns are the words after which git runs a command.
var gitRuns = lazy(`(^| )(bisect run|foreach|--exec|-x)( |$)`)

// maxWords bounds the words of a wrapper among which a program is looked for.
const maxWords = 12

// wrapped checks what a wrapper may run: words that are scripts, and the command that begins at the first one that is the name of a program.
func (j *judge) wrapped(name string, args []word) {
	j.depth++
	defer func() { j.depth-- }()
	for i, a := range args[:min(len(args), maxWords)] {
		_, text, isAlias := strings.Cut(a.text, "=")
		switch {
		case name == "alias" && isAlias:
			j.script(text)
		case strings.Contains(a.text, " "):
			j.script(a.text)
		case a.literal && !a.globs && isProgram(a):
			command := slices.Clone(args[i:])
			if slices.Contains(feeders, name) {
				command = append(command, word{text: "{}"})
			}
			j.call(command)
			return
		}
	}
}

// isProgram reports whether a word is the name of a program that some rule knows.
func isProgram(w word) bool {
	name, _ := program(w)
	known := rulesOf()[name] != nil || writers[name] != "" || slices.Contains(wrappers, name) || slices.Contains(removers, name)
	return known && name != "." && name != "=" || strings.HasPrefix(w.text, "/tmp/")
}

func isInterpreter(name string) bool {
	return slices.Contains(strings.Fields(languages+shells), name)
}

// inputRunners run what they read, whatever their words are.
var inputRunners = []string{"at", "batch", "crontab", "iex", "invoke-expression", "source", "."}

// inputOnly are the words of an interpreter that gets neither a file nor code.
var inputOnly = lazy(`^(-[abdf-ln-oqt-z]\S* ?|--\w{3,}\S* ?)*(-s.*|-|/dev/stdin)?$`)

// runsInput returns the program of a command that runs what it reads; empty: there is none.
func runsInput(words []word) string {
	for i, w := range words {
		name, _ := program(w)
		line := join(words[i+1:])
		switch {
		case isInterpreter(name) && inputOnly.MatchString(line), i == 0 && slices.Contains(inputRunners, name):
			return name
		case isInterpreter(name), i == 0 && !slices.Contains(wrappers, name), name == "xargs":
			return ""
		}
	}
	return ""
}
