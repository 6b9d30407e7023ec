package risk

import (
	"slices"
	"strings"
)

var (
	ownProcess  = lazy(`^"?\$(!|\{?[A-Za-z_]*(PID|pid)[A-Za-z_0-9]*\}?)$`)
	wholeVolume = lazy(`^("?/:|~/?:|"?\$HOME/?:|/(etc|root|home|var|usr|boot|dev|proc|sys)(/|:))|source=/,`)
	awkRuns     = lazy(`system\s*\(|\|\s*("|getline)|print[^|]*\|\s*"|"\s*\|\s*getline`)
	tarRuns     = lazy(`--(checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume-script)|(^| )-I ?\S*sh\b|(^| )-[a-zA-Z]*P[a-zA-Z]*( |$)|-C ?/( |$)|--absolute-names`)
)

// find checks the command that find or fd runs for each file. An option among the words of that command is the command's own: if each were followed,
// "find -exec find -exec …" would take twice as long with each word.
func (j *judge) find(args []word) {
	depth, checked := j.depth, 0
	for i, a := range args {
		switch a.text {
		case "-delete":
			j.mark(deletesMany)
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(args) {
				j.writes(args[i+1])
			}
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			if i < checked {
				continue
			}
			rest := args[i+1:]
			if end := slices.IndexFunc(rest, func(w word) bool { return w.text == ";" || w.text == "+" && !strings.HasPrefix(a.text, "-X") }); end >= 0 {
				rest = rest[:end]
			}
			checked = i + 1 + len(rest)
			if !slices.ContainsFunc(rest, func(w word) bool { return strings.Contains(w.text, "{}") }) {
				rest = append(slices.Clone(rest), word{text: "{}"})
			}
			if j.depth++; j.depth <= 4*maxDepth {
				j.call(slices.Clone(rest))
			} else {
				j.mark("has commands inside commands")
			}
			j.depth = depth
		}
	}
}

// kill checks which processes are ended.
func (j *judge) kill(args []word) {
	for i, a := range args {
		switch {
		case a.text == "-l" || a.text == "-0":
			return
		case strings.HasPrefix(a.text, "-") && i == 0, strings.HasPrefix(a.text, "%"), a.text == "--", i > 0 && (args[i-1].text == "-s" || args[i-1].text == "-n"):
			if a.text == "-1" && len(args) == 1 {
				j.mark(kills)
			}
		case !a.literal && !ownProcess.MatchString(a.text), strings.HasPrefix(a.text, "-"), a.text == "1", a.text == "0", a.text == "{}":
			j.mark(kills)
		}
	}
}

// containers checks what a container gets of the machine.
func (j *judge) containers(args []word) {
	for i, a := range args {
		value := a.text
		if i > 0 && (args[i-1].text == "-v" || args[i-1].text == "--volume" || args[i-1].text == "--mount") {
			value = "-v=" + value
		}
		volume, isVolume := strings.CutPrefix(value, "-v=")
		switch {
		case strings.HasPrefix(value, "--privileged"), value == "--pid=host", value == "--cap-add=ALL" || value == "--cap-add=SYS_ADMIN", value == "host" && i > 0 && args[i-1].text == "--pid",
			strings.Contains(value, "docker.sock"), isVolume && wholeVolume.MatchString(volume):
			j.mark(machine)
		}
	}
}

// makes checks which file of rules make reads, and which text.
func (j *judge) makes(args []word) {
	for i, a := range args {
		file := ""
		if slices.Contains([]string{"-f", "-C", "--file", "--makefile", "--directory", "-I"}, a.text) && i+1 < len(args) {
			file = args[i+1].text
		}
		j.markIf(file != "" && (j.place(file) != inside && !strings.HasPrefix(file, "$") || file == "-") || strings.HasPrefix(a.text, "--eval") || strings.HasPrefix(a.text, "SHELL="), fromOutside)
	}
}

// runsByOption checks programs that run others if an option or a part of their own language asks for it.
func (j *judge) runsByOption(name string, args []word) {
	text := join(args)
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		j.markIf(awkRuns.MatchString(text), starts)
	case "vi", "vim", "nvim":
		j.markIf(strings.Contains(text, "!") || strings.Contains(text, "system("), starts)
	case "tar":
		j.markIf(tarRuns.MatchString(text), starts)
		for i, a := range args {
			if a.text == "-C" && i+1 < len(args) || strings.HasPrefix(a.text, "--directory=") {
				j.writes(word{text: strings.TrimPrefix(args[min(i+1, len(args)-1)].text, "--directory="), literal: true})
			}
		}
	case "zip":
		j.markIf(strings.Contains(text, "-TT") || strings.Contains(text, "--unzip-command"), starts)
	case "man":
		j.markIf(strings.Contains(text, "-P") || strings.Contains(text, "--pager"), starts)
	case "rg":
		j.markIf(strings.HasPrefix(text, "--pre ") || strings.Contains(text, " --pre ") || strings.Contains(text, "--pre="), starts)
	case "sort":
		j.markIf(strings.Contains(text, "--compress-program"), starts)
	}
}
