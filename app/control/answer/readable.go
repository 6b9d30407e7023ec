package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"mvdan.cc/sh/v3/syntax"

	"rollcall/adapters"
	"rollcall/app/codetext"
	"rollcall/app/present"
)

// Whole returns everything that the user decides on, whole and with nothing hidden: Readable, the questions with their options numbered from 1, the folder, the
// reason and what the agent offers. It takes time in proportion to the texts.
func (r *Request) Whole() []codetext.Part { return r.allParts(true) }

// WithoutQuestions returns the parts of Whole but the questions, for a view that has a card for each of them.
func (r *Request) WithoutQuestions() []codetext.Part { return r.allParts(false) }

func (r *Request) allParts(hasQuestions bool) (parts []codetext.Part) {
	var questions []string
	for _, q := range r.Questions {
		questions = append(questions, q.Text)
	}
	if len(questions) == 0 || r.Text != strings.Join(questions, "\n") {
		parts = r.Readable()
	} else {
		parts = r.besideParts()
	}
	for i := range r.Questions {
		if !hasQuestions {
			break
		}
		title := "Question"
		if len(questions) > 1 {
			title = fmt.Sprintf("Question %d", i+1)
		}
		parts = append(parts, codetext.Part{Title: title, Text: questionText(&r.Questions[i])})
	}
	options := make([]string, len(r.Options))
	for i, o := range r.Options {
		options[i] = present.Visible(present.Option(o))
	}
	for _, p := range []codetext.Part{{Title: "Folder", Text: present.Visible(r.Folder)}, {Title: "Reason, in the agent's words", Text: present.Visible(r.Reason)},
		{Title: "What the agent itself offers", Text: strings.Join(options, " · ")}} {
		if p.Text != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// questionText returns a question with its options.
func questionText(q *adapters.Question) string {
	lines := []string{present.Visible(q.Text)}
	if q.Header != "" {
		lines[0] = present.Visible(q.Header) + ": " + lines[0]
	}
	for n, o := range q.Options {
		line := fmt.Sprintf("  %d  %s", n+1, present.Visible(o.Label))
		if o.Says != "" {
			line += ": " + present.Visible(o.Says)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Size returns the size of all texts of the request in bytes.
func (r *Request) Size() int {
	n := len(r.Text) + len(r.Reason) + len(r.Folder)
	for _, d := range r.Details {
		n += len(d.Text)
	}
	for _, o := range r.Options {
		n += len(o)
	}
	for _, q := range r.Questions {
		n += len(q.Text) + len(q.Header)
		for _, o := range q.Options {
			n += len(o.Label) + len(o.Says)
		}
	}
	return n
}

// Readable returns the text of the request as people read it, with its details: the command that a shell is started with, a change as its path and its lines,
// a plan as text, and the arguments of another call one a line. Nothing is left out. A text in no known form is returned as it is. It takes time in
// proportion to the text.
func (r *Request) Readable() []codetext.Part { return append(r.textParts(), r.besideParts()...) }

// besideParts returns what the request has beside its text, and why it can only be denied if it has something that is not known.
func (r *Request) besideParts() (parts []codetext.Part) {
	for _, d := range r.Details {
		parts = append(parts, codetext.Part{Title: d.Title, Text: visibleLines(d.Text)})
	}
	if why := r.UnknownText(); why != "" {
		parts = append(parts, codetext.Part{Title: "Not known", Text: why})
	}
	return parts
}

func (r *Request) textParts() []codetext.Part {
	title := map[adapters.RequestKind]string{adapters.AsksCommand: "Command", adapters.AsksFileChange: "Change", adapters.AsksPlan: "Plan",
		adapters.AsksPermission: "For"}[r.Kind]
	switch r.Kind {
	case adapters.AsksCommand:
		if command, shell, ok := unwrapped(r.Text); ok {
			return []codetext.Part{{Title: title, Text: present.Visible(command)}, {Title: "Run by", Text: present.Visible(shell)}}
		}
	case adapters.AsksPlan, adapters.AsksQuestion:
		return []codetext.Part{{Title: title, Text: visibleLines(r.Text), Markdown: r.Kind == adapters.AsksPlan}}
	}
	if tool, input, ok := strings.Cut(r.Text, "\n"); ok && strings.HasPrefix(input, "{") {
		if parts, ok := callParts(tool, input); ok {
			return parts
		}
	}
	if isPatch(r.Text) {
		return []codetext.Part{{Title: title, Text: visibleLines(r.Text), Diff: true}}
	}
	return []codetext.Part{{Title: title, Text: present.Visible(r.Text)}}
}

// Plain returns the request with a plan as plain text, for a place that shows no Markdown. Every other text stays.
func (r *Request) Plain() *Request {
	plain := *r
	if r.Kind == adapters.AsksPlan {
		plain.Text = adapters.Plain(r.Text)
	}
	return &plain
}

// maxBrief is the number of bytes of a request's text that its brief form reads.
const maxBrief = 64 << 10

// Brief returns the beginning of the request's text as one safe line, as people read it: the command, the path and the first changed lines, the plan without
// the marks of Markdown.
func (r *Request) Brief() string {
	whole := *r
	if len(whole.Text) > maxBrief {
		whole.Text = present.Head(whole.Text)
	}
	var texts []string
	for _, p := range whole.Plain().Readable() {
		if p.Title != "Run by" {
			texts = append(texts, present.Head(p.Text))
		}
	}
	return present.Cut(present.Line(strings.Join(texts, " ")), maxSummary+1)
}

// unwrapped returns the command that a shell is started with, and that shell with its options: for `/bin/bash -lc "make test"` the texts "make test" and
// "/bin/bash -lc". ok is false for any other command line, also if the shell would still replace a part of the quoted text.
func unwrapped(line string) (command, shell string, ok bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return "", "", false
	}
	stmt := file.Stmts[0]
	call, isCall := stmt.Cmd.(*syntax.CallExpr)
	if !isCall || len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated || len(call.Assigns) > 0 || len(call.Args) != 3 {
		return "", "", false
	}
	words := make([]string, 3)
	for i, w := range call.Args {
		words[i], ok = literal(w.Parts)
		if !ok {
			return "", "", false
		}
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	if !slices.Contains([]string{"bash", "sh", "zsh", "dash"}, name) || !slices.Contains([]string{"-c", "-lc"}, words[1]) || strings.TrimSpace(words[2]) == "" {
		return "", "", false
	}
	return words[2], words[0] + " " + words[1], true
}

// literal returns the text of a word that a shell leaves as it is. ok is false for another word.
func literal(parts []syntax.WordPart) (text string, ok bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `*?[{~`) {
				return "", false
			}
			text += unescaped(p.Value, " \t\"'\\$`|&;()<>!#")
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text += p.Value
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				lit, isLit := in.(*syntax.Lit)
				if !isLit || p.Dollar {
					return "", false
				}
				text += unescaped(lit.Value, "\"\\$`")
			}
		default:
			return "", false
		}
	}
	return text, true
}

// unescaped returns a text without the backslashes before special characters.
func unescaped(text, special string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(special, text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// visibleLines returns a text with its line breaks, and everything else of it visible.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = present.Visible(strings.ReplaceAll(lines[i], "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// isPatch reports whether a text is a change in one of the forms of patches.
func isPatch(text string) bool {
	return strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff --git ") ||
		strings.Contains(text, "\n@@ ") && strings.Contains(text, "\n+++ ")
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of a JSON object in their order. ok is false for another text, and for an object that has a member twice: which of the two
// counts is up to its reader.
func membersOf(input string) (list []member, ok bool) {
	d := json.NewDecoder(strings.NewReader(input))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var m member
		m.name, ok = name.(string)
		if err != nil || !ok || d.Decode(&m.value) != nil {
			return nil, false
		}
		if slices.ContainsFunc(list, func(x member) bool { return x.name == m.name }) {
			return nil, false
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil || strings.TrimSpace(input[d.InputOffset():]) != "" {
		return nil, false
	}
	return list, true
}

// The names of the arguments of tools that change files.
var (
	pathNames = []string{"file_path", "notebook_path", "path", "filePath", "filepath"}
	oldNames  = []string{"old_string", "oldString", "old_str", "oldText"}
	newNames  = []string{"new_string", "newString", "new_str", "newText"}
	allNames  = []string{"content", "file_text", "contents"}
	editNames = []string{"edits"}
)

// callParts returns the parts of a call of a tool. ok is false if its input can't be read.
func callParts(tool, input string) (parts []codetext.Part, ok bool) {
	members, ok := membersOf(input)
	if !ok {
		return nil, false
	}
	path := take(&members, pathNames)
	diff := changeOf(&members)
	title := visibleLines(tool)
	if path != "" {
		parts = append(parts, codetext.Part{Title: "File", Text: title + " " + present.Visible(path)})
	} else {
		parts = append(parts, codetext.Part{Title: "Tool", Text: title})
	}
	if diff != "" {
		parts = append(parts, codetext.Part{Title: "Change", Text: diff, Diff: true})
	}
	var rest []string
	for _, m := range members {
		rest = append(rest, present.Visible(m.name)+": "+valueText(m.value))
	}
	if rest != nil {
		parts = append(parts, codetext.Part{Title: "Arguments", Text: strings.Join(rest, "\n")})
	}
	return parts, true
}

// take removes the first member that has one of the names and is a text, and returns the text.
func take(members *[]member, names []string) string {
	for i, m := range *members {
		var text string
		if slices.Contains(names, m.name) && json.Unmarshal(m.value, &text) == nil {
			*members = slices.Delete(slices.Clone(*members), i, i+1)
			return text
		}
	}
	return ""
}

// changeOf removes the members that describe a change, and returns it as lines with signs; empty: there is none.
func changeOf(members *[]member) string {
	has := func(names []string) bool {
		return slices.ContainsFunc(*members, func(m member) bool { return slices.Contains(names, m.name) })
	}
	switch {
	case has(oldNames) && has(newNames):
		before := take(members, oldNames)
		return lineDiff(before, take(members, newNames))
	case has(allNames):
		return lineDiff("", take(members, allNames))
	}
	for i, m := range *members {
		var edits []json.RawMessage
		if !slices.Contains(editNames, m.name) || json.Unmarshal(m.value, &edits) != nil {
			continue
		}
		var diffs []string
		for _, e := range edits {
			one, ok := membersOf(string(e))
			diff := ""
			if ok {
				diff = changeOf(&one)
			}
			if diff == "" || len(one) > 0 { // something else is in it, which must be seen
				return ""
			}
			diffs = append(diffs, diff)
		}
		*members = slices.Delete(slices.Clone(*members), i, i+1)
		return strings.Join(diffs, "\n…\n")
	}
	return ""
}

// maxDiffed is the number of bytes up to which changed lines are searched for. A longer text is shown as removed and added.
const maxDiffed = 256 << 10

// lineDiff returns the lines of two texts, each with a sign: "-" only in the first, "+" only in the second, " " in both.
func lineDiff(before, after string) string {
	end := func(s string) string {
		if s != "" && !strings.HasSuffix(s, "\n") {
			return s + "\n"
		}
		return s
	}
	before, after = end(before), end(after)
	var b strings.Builder
	sign := func(sign, text string) {
		for line := range strings.Lines(text) {
			fmt.Fprintf(&b, "%s %s\n", sign, visibleLines(strings.TrimSuffix(line, "\n")))
		}
	}
	if len(before)+len(after) > maxDiffed || before == "" || after == "" {
		sign("-", before)
		sign("+", after)
		return strings.TrimSuffix(b.String(), "\n")
	}
	at := 0
	for _, e := range udiff.Lines(before, after) {
		sign(" ", before[at:e.Start])
		sign("-", before[e.Start:e.End])
		sign("+", e.New)
		at = e.End
	}
	sign(" ", before[at:])
	return strings.TrimSuffix(b.String(), "\n")
}

// valueText returns a value of a call: a text as it is, with its further lines indented, and everything else as JSON.
func valueText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return strings.ReplaceAll(visibleLines(text), "\n", "\n    ")
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return present.Visible(string(value))
	}
	return present.Visible(b.String())
}
