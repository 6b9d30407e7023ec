package risk

import (
	"context"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxParsed bounds the commands that are parsed, in bytes. A longer one is marked for its length.
	maxParsed = 32 << 10
	// maxDepth limits how deep commands inside commands (sh -c "…") are checked.
	maxDepth = 8
)

// judge gathers the reasons of one request.
type judge struct {
	ctx      context.Context // of the request: when it is done, the judgement is not needed any more
	folder   string          // of the session
	dir      string          // in which the next command runs; empty: not known
	dangers  []string
	moved    bool                          // it has changed the folder
	depth    int                           // of commands inside commands
	download map[string]bool               // names of files that it downloads
	piped    map[*syntax.Stmt]*syntax.Stmt // what is piped into a statement
}

func (j *judge) mark(reasons ...string) {
	for _, r := range reasons {
		if !slices.Contains(j.dangers, r) {
			j.dangers = append(j.dangers, r)
		}
	}
}

func (j *judge) markIf(bad bool, reason string) {
	if bad {
		j.mark(reason)
	}
}

// late reports whether the judgement comes too late, and marks that. What may go on for long asks for it.
func (j *judge) late() bool {
	if j.ctx.Err() == nil {
		return false
	}
	j.mark(notInTime)
	return true
}

// word is one word of a command.
type word struct {
	text    string // without its quotes; what only the shell knows is left as it is written
	literal bool   // text is what the program gets
	globs   bool   // the shell replaces it by the names of files
}

// is reports whether a word is exactly this text.
func (w word) is(text string) bool { return w.literal && w.text == text }

// script checks a shell script.
func (j *judge) script(text string) {
	switch {
	case j.late():
		return
	case len(text) > maxParsed:
		j.mark(tooLong)
		j.lines(text[:maxParsed])
		return
	case j.depth > maxDepth:
		j.mark("has commands inside commands")
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		j.mark("can't be parsed as a shell command")
		j.lines(text)
		return
	}
	j.depth++
	dir, piped := j.dir, j.piped
	j.walk(text, file)
	j.dir, j.piped = dir, piped
	j.depth--
}

// lines checks each line of a text that can't be parsed as one command.
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
	j.piped = map[*syntax.Stmt]*syntax.Stmt{}
	syntax.Walk(file, func(n syntax.Node) bool {
		if j.late() {
			return false
		}
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				j.piped[n.Y] = n.X
			}
		case *syntax.Stmt:
			j.statement(text, n)
		case *syntax.Redirect:
			j.redirect(text, n)
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				j.assign(n.Name.Value, wordOf(text, n.Value).text)
			}
		case *syntax.FuncDecl:
			j.markIf(callsItself(n), endless)
		case *syntax.WhileClause:
			j.markIf(slices.ContainsFunc(n.Do, func(s *syntax.Stmt) bool { return s.Background }), endless)
		case *syntax.ParamExp:
			j.markIf(n.Exp != nil && n.Exp.Op == syntax.OtherParamOps, fed)
		case *syntax.Lit:
			j.text(n.Value)
		case *syntax.SglQuoted:
			j.text(n.Value)
		}
		return true
	})
}

// hiddenIndex is the index of an array with a command in it, which bash runs wherever it evaluates numbers.
var hiddenIndex = lazy("^[A-Za-z_][A-Za-z0-9_]*\\[[^]]*(\\$\\(|`)")

func (j *judge) text(s string) {
	if hiddenIndex.MatchString(s) {
		j.mark(fed)
	}
	if strings.Contains(s, "/dev/tcp/") || strings.Contains(s, "/dev/udp/") {
		j.mark(remoteShell)
	}
}

// callsItself reports whether a function calls itself in a pipe or in the background: a fork bomb.
func callsItself(f *syntax.FuncDecl) (found bool) {
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == f.Name.Value {
			found = true
		}
		return true
	})
	return found
}

// statement checks the command of a statement together with what it reads.
func (j *judge) statement(text string, s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	var words []word
	if ok {
		words = wordsOf(text, call.Args)
	}
	if s.Cmd == nil || len(words) == 1 && words[0].is(":") {
		j.empties(text, s)
	}
	if len(words) == 0 {
		return
	}
	if in := j.piped[s]; in != nil {
		j.pipe(text, in, words)
	}
	first, _ := program(words[0])
	for _, r := range s.Redirs {
		if in := inputText(text, r); in.text != "" {
			j.feed(first, in.text)
			if i, ok := interpreterOf(first); ok && runsInput(words) {
				j.runs(i, in)
			}
		}
		j.markIf(r.Op == syntax.RdrIn && runsInput(words), fed)
		if r.Word != nil && r.Op != syntax.RdrIn && slices.Contains(downloaders, first) {
			j.fetched([]word{wordOf(text, r.Word)})
		}
	}
	j.call(words)
}

// inputText returns the text that a redirection gives to a command; empty: none, or it is not known.
func inputText(text string, r *syntax.Redirect) word {
	switch {
	case r.Hdoc != nil:
		return wordOf(text, r.Hdoc)
	case r.Op == syntax.WordHdoc && r.Word != nil:
		return wordOf(text, r.Word)
	}
	return word{}
}

// empties marks a statement that only empties a file, unless it is one that programs write.
func (j *judge) empties(text string, s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Word != nil && (r.Op == syntax.RdrOut || r.Op == syntax.RdrClob) {
			j.markIf(!slices.Contains([]string{".log", ".txt", ".tmp", ".out"}, path.Ext(wordOf(text, r.Word).text)), "empties a file")
		}
	}
}

// redirect checks the file of a redirection.
func (j *judge) redirect(text string, r *syntax.Redirect) {
	if r.Word == nil {
		return
	}
	w := wordOf(text, r.Word)
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
		j.writes(w)
	case syntax.DplOut, syntax.DplIn:
		if strings.Trim(w.text, "0123456789-") != "" { // ">& file"
			j.writes(w)
		}
	case syntax.RdrIn:
		j.reads(w)
	}
}

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

// wordOf returns a word of text.
func wordOf(text string, w *syntax.Word) word {
	out := word{literal: true}
	var b strings.Builder
	var add func(parts []syntax.WordPart, quoted bool)
	add = func(parts []syntax.WordPart, quoted bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				if !quoted {
					out.globs = out.globs || strings.ContainsAny(p.Value, "*?[") || strings.Contains(p.Value, "{") && strings.ContainsAny(p.Value, ",.")
				}
				b.WriteString(unescaped(p.Value, quoted))
			case *syntax.SglQuoted:
				out.literal = out.literal && (!p.Dollar || !strings.Contains(p.Value, `\`))
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts, true)
			default:
				out.literal = false
				b.WriteString(text[min(int(p.Pos().Offset()), len(text)):min(int(p.End().Offset()), len(text))])
			}
		}
	}
	add(w.Parts, false)
	out.text = b.String()
	return out
}

// unescaped removes the backslashes that the shell removes. Those of a Windows path are left.
func unescaped(s string, quoted bool) string {
	if len(s) > 2 && (s[1] == ':' && s[2] == '\\' || s[0] == '.' && s[1] == '\\') || !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
