package risk

import (
	"slices"
	"strings"
)

var (
	rsyncShell     = lazy(`(^| )(-e|--rsh)[ =]?.*(sh -c|;|\|)`)
	farTarget      = lazy(`^[^/\\]{2,}:`)
	sedReplaceRuns = lazy(`(^|[;{}\n0-9$/]\s*)s(.).*[gpiI0-9]*e[gpiIw0-9]*$`)
	sedFlagRuns    = lazy(`[/|#,:@!][gpiI0-9]*e[gpiI0-9]*$`)
	sedRunsLine    = lazy(`^([0-9$]+|/.*/)?\s*e\s+\S`)
)

// changes checks the files that a command writes.
func (j *judge) changes(name string, args []word) {
	for _, f := range targets(name, args) {
		if f.text != "{}" {
			j.writes(f)
		}
	}
}

func (j *judge) sed(name string, args []word) {
	j.markIf(sedRuns(args), starts)
	if slices.ContainsFunc(args, func(a word) bool {
		return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--e") && strings.Contains(a.text, "i")
	}) {
		j.changes(name, args)
	}
}

// sedRuns reports whether a script of sed runs commands.
func sedRuns(args []word) bool {
	return slices.ContainsFunc(args, func(a word) bool {
		return sedReplaceRuns.MatchString(a.text) && sedFlagRuns.MatchString(a.text) && strings.Count(a.text, "/")+strings.Count(a.text, "|") >= 3 ||
			sedRunsLine.MatchString(a.text)
	})
}

func (j *judge) perl(name string, args []word) {
	if slices.ContainsFunc(args, func(a word) bool {
		return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "i") && len(a.text) < 6
	}) {
		j.changes(name, args)
	}
}

func (j *judge) dd(args []word) {
	for _, a := range args {
		if file, ok := strings.CutPrefix(a.text, "of="); ok {
			j.writes(word{text: file, literal: a.literal})
		}
	}
}

func (j *judge) rsync(args []word) {
	text := join(args)
	j.markIf(strings.Contains(text, "--delete") || strings.Contains(text, "--remove-source-files"), deletesMany)
	j.markIf(rsyncShell.MatchString(text), starts)
	j.scp(args)
}

func (j *judge) scp(args []word) {
	words := positional(args)
	if len(words) < 2 {
		return
	}
	if last := words[len(words)-1]; farTarget.MatchString(last) {
		j.mark(sends)
	} else {
		j.writes(word{text: last, literal: true})
	}
}

func (j *judge) truncate(name string, args []word) {
	text := join(args)
	j.markIf(strings.Contains(text, "-s 0") || strings.Contains(text, "-s0") || strings.Contains(text, "--size=0") || strings.Contains(text, "--size 0"), "empties a file")
	j.changes(name, args)
}

func (j *judge) robocopy(name string, args []word) {
	text := strings.ToLower(join(args))
	j.markIf(strings.Contains(text, "/mir") || strings.Contains(text, "/purge"), deletesMany)
	j.changes(name, args)
}

// moves checks what a command moves, and where.
func (j *judge) moves(name string, args []word) {
	files := filesIn(args)
	j.markIf(len(files) > 1 && files[len(files)-1].text == "/dev/null", deletes)
	j.changes(name, args)
}

// copies checks a copy. One of an empty file empties another.
func (j *judge) copies(name string, args []word) {
	files := filesIn(args)
	j.markIf(targetOption(args) == nil && len(files) > 1 && files[0].text == "/dev/null", "empties a file")
	j.changes(name, args)
}

// targets returns the words of a command that name what it writes.
func targets(name string, args []word) []word {
	files := filesIn(args)
	switch name {
	case "cp", "ln", "install", "copy", "copy-item", "xcopy", "robocopy":
		if target := targetOption(args); target != nil {
			return target
		}
		return files[max(0, len(files)-1):]
	case "sed", "perl":
		return edited(args)
	case "patch":
		return valuesOf(args, "-d", "-o")
	case "unzip":
		return valuesOf(args, "-d")
	case "ed", "ex":
		return nil
	}
	return files
}

// filesIn returns the words that name files: those that are no options, and the folder of an option.
func filesIn(args []word) (files []word) {
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			files = append(files, a)
		} else if value, ok := strings.CutPrefix(a.text, "--target-directory="); ok {
			files = append(files, word{text: value, literal: a.literal})
		}
	}
	return files
}

// targetOption returns the folder that a copy goes to as its option says; nil: it does not.
func targetOption(args []word) []word {
	if i := slices.IndexFunc(args, func(a word) bool { return a.text == "-t" }); i >= 0 && i+1 < len(args) {
		return args[i+1 : i+2]
	}
	return nil
}

// valuesOf returns the words that follow options.
func valuesOf(args []word, options ...string) (values []word) {
	for i := 1; i < len(args); i++ {
		if slices.Contains(options, args[i-1].text) {
			values = append(values, args[i])
		}
	}
	return values
}

// scriptsBefore are the options of sed and perl that are followed by a script.
var scriptsBefore = []string{"-e", "-f", "--expression", "-pe", "-ne", "-pie"}

// edited returns the files that sed or perl change. The first word is a script if no option has one.
func edited(args []word) []word {
	if !slices.ContainsFunc(args, func(a word) bool { return slices.Contains(scriptsBefore[:3], a.text) }) {
		if files := filesIn(args); len(files) > 1 {
			return files[1:]
		}
		return filesIn(args)
	}
	var files []word
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") && (i == 0 || !slices.Contains(scriptsBefore, args[i-1].text)) {
			files = append(files, a)
		}
	}
	return files
}
