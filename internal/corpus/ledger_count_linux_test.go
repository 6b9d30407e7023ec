package corpus_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// given is an answer as it was given.
type given struct {
	id, session, model, cwd, branch string
	at                              time.Time
	input, output                   int64
}

// number returns the number of the answer.
func (g *given) number() int {
	n, _ := strconv.ParseInt(g.id, 16, 64)
	return int(n)
}

// history is the file of a session or of a sub-agent.
type history struct {
	session, path string
	of            string    // the session for which it counts, of a sub-agent
	answers       []*given  // that the file holds, in order
	own           int       // of them from here on were given in it
	closed        bool      // it was continued in another file, and does not grow
	began         time.Time // of the session
	totals        [2]int64  // of Codex
}

// form writes the files of one agent.
type form interface {
	begin(s *history)                      // of an empty file
	copies(s *history, from []*given) bool // the answers of a fork; false: it begins without any
	answer(s *history, g *given) string    // the lines of a prompt and its answer, which are appended
	agent(s *history) string               // the path for a sub-agent's file; empty: such are no files of their own
	ids(text []byte) (ids []string)        // of the answers that a file holds
}

// sums are tokens by what they count for.
type sums map[string][2]int64

func (s sums) add(key string, input, output int64) {
	n := s[key]
	s[key] = [2]int64{n[0] + input, n[1] + output}
}

// step is the length of the time for which usage is counted together.
const step = 15 * time.Minute

// count reads all files and returns what is to count, and how many answers several files hold.
func count(t *testing.T, form form, files []*history, answers map[string]*given) (want sums, copied int) {
	t.Helper()
	holders := map[string][]*history{}
	for _, s := range files {
		text := must.Get(os.ReadFile(s.path))(t)
		for _, id := range form.ids(text) {
			if !slices.Contains(holders[id], s) {
				holders[id] = append(holders[id], s)
			}
		}
	}
	want = sums{}
	for id, in := range holders {
		g := answers[id]
		if len(in) > 1 {
			copied++
		}
		session := "of a copy" // the original is gone, and any of the others may have it
		if slices.ContainsFunc(in, func(s *history) bool { return s.session == g.session }) {
			session = g.session
		}
		want.add(fmt.Sprint("session ", session), g.input, g.output)
		want.add(fmt.Sprint("place ", g.model, g.cwd, g.branch), g.input, g.output)
		want.add(fmt.Sprint("time ", g.at.Truncate(step)), g.input, g.output)
	}
	return want, copied
}

// The count, and the forms of the files that it reads, know nothing of the adapters, nor of a package that does: what proves a rule must not share it.
func TestCountImportsNoAdapter(t *testing.T) {
	files := must.Get(filepath.Glob("ledger_forms*_test.go"))(t)
	if len(files) == 0 {
		t.Fatal("no forms of files")
	}
	for _, name := range append(files, "ledger_count_linux_test.go") {
		f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))(t)
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if strings.HasPrefix(path, "rollcall/") && path != "rollcall/internal/must" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
