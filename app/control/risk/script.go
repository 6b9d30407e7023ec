package risk

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxParsed bounds the commands that are parsed, in bytes, and maxCalls how many are judged. A request with more is marked for its length.
	maxParsed = 32 << 10
	maxCalls  = 2000
	// maxDepth limits how deep commands inside commands (sh -c "…") are checked.
	maxDepth = 16
)

// judge gathers the reasons of one request.
type judge struct {
	folder   string // of the session
	dir      string // in which the next command runs; empty: not known
	dangers  []string
	depth    int // of commands inside commands
	calls    int
	download map[string]bool // names of files that it downloads
}

func (j *judge) mark(reason string) { j.markIf(true, reason) }

func (j *judge) markIf(bad bool, reason string) {
	if bad && !slices.Contains(j.dangers, reason) {
		j.dangers = append(j.dangers, reason)
	}
}

// word is one word of a command.
type word struct {
	text    string // without its quotes; what only the shell knows is left as it is written
	literal bool   // text is what the program gets
	globs   bool   // the shell replaces it by the names of files
}

// enter counts a command or script, and reports whether it is to be checked: neither too deep in others nor one too many.
func (j *judge) enter() bool {
	j.calls++
	j.markIf(j.depth >= maxDepth, "has commands inside commands")
	j.markIf(j.calls > maxCalls, tooLong)
	return j.depth < maxDepth && j.calls <= maxCalls
}

// script checks a shell script.
func (j *judge) script(text string) {
	if !j.enter() {
		return
	}
	if len(text) > maxParsed {
		j.mark(tooLong)
		j.lines(text[:maxParsed])
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		j.mark(noScript)
		j.lines(text)
		return
	}
	j.depth++
	dir := j.dir
	j.walk(text, file)
	j.dir = dir
	j.depth--
}

// lines checks each line of a text that is not parsed as one script.
func (j *judge) lines(text string) {
	for line := range strings.Lines(text) {
		var words []word
		for _, f := range strings.Fields(line) {
			words = append(words, word{text: f, literal: true})
		}
		j.call(words)
	}
}

// walk checks every part of a script.
func (j *judge) walk(text string, file *syntax.File) {
	piped := map[*syntax.Stmt]string{} // the source of what is piped into a statement
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				piped[n.Y] = source(text, n.X)
			}
		case *syntax.Stmt:
			j.statement(text, n, piped[n])
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				j.byRules("=", n.Name.Value+"="+wordOf(text, n.Value).text)
			}
		case *syntax.FuncDecl:
			j.markIf(strings.Count(source(text, n), n.Name.Value) > 2 && strings.ContainsAny(source(text, n), "|&"), endless)
		}
		return j.calls <= maxCalls
	})
}

// source returns what a text has for a node.
func source(text string, n syntax.Node) string {
	return text[min(int(n.Pos().Offset()), len(text)):min(int(n.End().Offset()), len(text))]
}

// statement checks the command of a statement together with what it reads and writes.
func (j *judge) statement(text string, s *syntax.Stmt, input string) {
	var words []word
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		words = wordsOf(text, call.Args)
	}
	empty := s.Cmd == nil || len(words) == 1 && words[0].text == ":"
	isText := false
	var targets []word
	for _, r := range s.Redirs {
		w := word{}
		if r.Word != nil {
			w = wordOf(text, r.Word)
		}
		switch {
		case r.Hdoc != nil || r.Op == syntax.WordHdoc:
			input, isText = wordOf(text, cmp.Or(r.Hdoc, r.Word)).text, true
		case r.Op == syntax.RdrIn:
			j.reads(w.text)
			input = w.text
		case (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && strings.Trim(w.text, "0123456789-") == "":
		default:
			j.writes(w.text)
			targets = append(targets, w)
			keeps := r.Op == syntax.AppOut || slices.Contains([]string{".log", ".txt", ".tmp", ".out"}, path.Ext(w.text))
			j.markIf(empty && !keeps, "empties a file")
		}
	}
	if len(words) == 0 {
		return
	}
	for _, w := range append(targets, words[1:]...) {
		j.download[path.Base(w.text)] = j.download[path.Base(w.text)] || fetches.MatchString(words[0].text)
	}
	j.feed(words, input, isText)
	j.call(words)
}

// feed checks what a command gets to read: a text, a file, or what another command writes, of which input is the source.
func (j *judge) feed(words []word, input string, isText bool) {
	first, _ := program(words[0])
	runner := runsInput(words)
	switch {
	case input == "":
	case runner == "":
		j.byRules(first, input)
		j.markIf(first == "ssh", sends)
	case fetches.MatchString(input):
		j.mark(downloads)
	case isText && strings.Contains(shells, " "+runner+" "):
		j.script(input)
	case isText && isInterpreter(runner):
		j.byRules(runner, "-c "+input)
	default:
		j.mark(fed)
	}
}

var fetches = lazy(`\b(curl|wget|fetch|https?|aria2c|iwr|irm|invoke-webrequest|lynx|w3m|axel|xh)\b`)

func join(words []word) string {
	var out []string
	for _, w := range words {
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

func wordsOf(text string, list []*syntax.Word) []word {
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = wordOf(text, w)
	}
	return out
}

var (
	patterns = lazy(`[*?[]|\{.*[,.]`)
	escapes  = lazy(`\\((?s).)`)
	dosPath  = lazy(`^(.:|\.)\\`) // its backslashes are left
)

// wordOf returns a word of text.
func wordOf(text string, w *syntax.Word) word {
	out := word{literal: true}
	var add func(parts []syntax.WordPart, quoted bool)
	add = func(parts []syntax.WordPart, quoted bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				if quoted || dosPath.MatchString(p.Value) {
					out.text += p.Value
					continue
				}
				out.globs = out.globs || patterns.MatchString(p.Value)
				out.text += escapes().ReplaceAllString(p.Value, "$1")
			case *syntax.SglQuoted:
				out.literal = out.literal && !p.Dollar
				out.text += p.Value
			case *syntax.DblQuoted:
				add(p.Parts, true)
			default:
				out.literal = false
				out.text += source(text, p)
			}
		}
	}
	add(w.Parts, false)
	return out
}
