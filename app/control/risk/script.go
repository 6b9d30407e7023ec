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
	moved    bool            // it has changed the folder
	depth    int             // of commands inside commands
	download map[string]bool // names of files that it downloads
	texts    map[string]string
	piped    map[*syntax.Stmt]*syntax.Stmt // what is piped into a statement
	stdin    []*syntax.Redirect            // of the statement that is checked
}

func (j *judge) mark(reasons ...string) {
	for _, r := range reasons {
		if !slices.Contains(j.dangers, r) {
			j.dangers = append(j.dangers, r)
		}
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
	j.depth, j.dir, j.piped = j.depth-1, dir, piped
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

// walk checks every part of a script. A change of folder holds up to the end of its subshell.
func (j *judge) walk(text string, file *syntax.File) {
	j.piped = map[*syntax.Stmt]*syntax.Stmt{}
	inPipe := map[*syntax.Stmt]bool{}
	var open []syntax.Node
	var dirs []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			last := open[len(open)-1]
			switch s := last.(type) {
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
				j.dir = dirs[len(dirs)-1]
			case *syntax.Stmt:
				if inPipe[s] {
					j.dir = dirs[len(dirs)-1]
				}
			}
			open, dirs = open[:len(open)-1], dirs[:len(dirs)-1]
			return true
		}
		open, dirs = append(open, n), append(dirs, j.dir)
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			j.piped[b.Y], inPipe[b.X], inPipe[b.Y] = b.X, true, true
		}
		j.node(text, n)
		return true
	})
}

// node checks one part of a script.
func (j *judge) node(text string, n syntax.Node) {
	if j.late() {
		return
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		j.statement(text, n)
	case *syntax.Redirect:
		j.redirect(text, n)
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			j.assign(n.Name.Value, wordOf(text, n.Value))
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
	if !ok {
		if s.Cmd == nil && len(s.Redirs) > 0 || s.Cmd != nil && len(s.Redirs) > 0 && j.piped[s] == nil {
			j.empties(text, s)
		}
		return
	}
	j.stdin = s.Redirs
	words := wordsOf(text, call.Args)
	if in := j.piped[s]; in != nil && len(words) > 0 {
		j.pipe(text, in, words)
	}
	for _, r := range s.Redirs {
		if len(words) > 0 && isInput(r) {
			j.feed(words, inputText(text, r))
		}
	}
	j.remember(text, words, s.Redirs)
	if len(words) == 1 && words[0].is(":") || len(words) == 0 {
		j.empties(text, s)
	}
	j.call(words)
}

// isInput reports whether a redirection gives text to a command.
func isInput(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}, r.Op)
}

// inputText returns the text that a redirection gives to a command. ok is false if it is not known.
func inputText(text string, r *syntax.Redirect) word {
	switch {
	case r.Hdoc != nil:
		return wordOf(text, r.Hdoc)
	case r.Op == syntax.WordHdoc && r.Word != nil:
		return wordOf(text, r.Word)
	}
	return word{}
}

// empties marks a statement that only empties a file.
func (j *judge) empties(text string, s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Word == nil || r.Op != syntax.RdrOut && r.Op != syntax.RdrClob || s.Cmd != nil && !isColon(s.Cmd) {
			continue
		}
		j.emptied(wordOf(text, r.Word).text)
	}
}

func isColon(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && (len(call.Args) == 0 || len(call.Args) == 1 && call.Args[0].Lit() == ":")
}

// emptied marks a file that loses its contents, unless it is one that programs write.
func (j *judge) emptied(name string) {
	if !slices.Contains([]string{".log", ".txt", ".tmp", ".out"}, path.Ext(name)) {
		j.mark("empties a file")
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

// remember keeps which files the script downloads or writes, for the case that it runs them.
func (j *judge) remember(text string, words []word, redirects []*syntax.Redirect) {
	if len(words) == 0 {
		return
	}
	name, args, _ := program(words)
	fetches := slices.Contains(downloaders, name)
	for _, r := range redirects {
		if (r.Op != syntax.RdrOut && r.Op != syntax.AppOut && r.Op != syntax.RdrClob) || r.Word == nil {
			continue
		}
		file := path.Base(wordOf(text, r.Word).text)
		switch {
		case fetches:
			j.download[file] = true
		case name == "echo" || name == "printf":
			j.texts[file] += join(args) + "\n"
		case name == "cat":
			for _, in := range redirects {
				j.texts[file] += inputText(text, in).text
			}
		}
	}
	if fetches {
		for i, a := range args {
			if isOutput := i > 0 && slices.Contains([]string{"-o", "-O", "--output", "--output-document"}, args[i-1].text); isOutput || strings.Contains(a.text, "://") || strings.Contains(a.text, "/") {
				j.download[path.Base(a.text)] = true
			}
		}
	}
}

func join(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
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
