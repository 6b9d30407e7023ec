package pistore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// build makes a file of so many lines of about 1 KB between a prompt and an end.
func build(t testing.TB, path string, lines int, end func(s *script)) *script {
	t.Helper()
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	s := newScript(idA, "/x", at).begin().sys(second).prompt(second, "the first")
	for i := range lines {
		s.answer(2*second, "toolUse", call(fmt.Sprint(i), strings.Repeat("x", 600))).result(2*second, fmt.Sprint(i))
	}
	end(s)
	must.Do(t, os.WriteFile(path, []byte(s.text()), 0o600))
	return s
}

func readFacts(t testing.TB, path string) facts {
	t.Helper()
	info, err := os.Stat(path)
	must.Do(t, err)
	f, err := kit.NewTranscripts[facts](nil, Pi, factsFormat).Read(t.Context(), path, info, true)
	must.Do(t, err)
	return f
}

// A fork repeats its parent's entries: it counts its own.
func TestFork(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := newScript(idA, "/x", at, "parentSession", "/parent.jsonl")
	s.begin().prompt(-time.Hour, "the parent's").answer(-time.Hour, "toolUse", call("a", "ls"))
	write := func() facts {
		must.Do(t, os.WriteFile(path, []byte(s.text()), 0o600))
		return readFacts(t, path)
	}
	if f := write(); f.turn.state != noTurn || f.sums.Input != 0 || f.FirstPrompt != "the parent's" || f.model != "mock/mock-1" {
		t.Errorf("%+v", f)
	}
	s.prompt(second, "its own").answer(2*second, "stop")
	if f := write(); f.turn.state != ended || f.sums.Input != 10 || f.LastPrompt != "its own" {
		t.Errorf("%+v", f)
	}
}

// The clock is set back in mid-turn: the answer is older than the session.
func TestClockSetBackInTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := newScript(idA, "/x", time.Now()).begin().prompt(second, "x").answer(-time.Hour, "stop")
	must.Do(t, os.WriteFile(path, []byte(s.text()), 0o600))
	if f := readFacts(t, path); f.turn.state != ended || f.sums.Input != 10 {
		t.Errorf("turn %+v, sums %+v", f.turn, f.sums)
	}
}

// What counts tokens beside the answers.
func TestUsage(t *testing.T) {
	s := newScript(idA, "/x", time.Now()).begin().prompt(second, "x").answer(2*second, "stop")
	for _, kind := range []string{"usage", "compaction", "branch_summary"} {
		s.entry(kind, 3*second, map[string]any{"usage": someUsage})
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(t, os.WriteFile(path, []byte(s.text()), 0o600))
	f := readFacts(t, path)
	if want := (adapters.Tokens{Input: 40, Output: 8, CacheRead: 12, CacheWrite: 4}); f.sums.Tokens != want || f.sums.cost != 2 || f.context != 16 {
		t.Errorf("%+v", f.sums)
	}
}

// The ids of one process are numbered.
func TestSequence(t *testing.T) {
	of := func(id string, at int) *session {
		return &session{facts: facts{header: header{id: id, at: time.Unix(int64(at), 0)}}}
	}
	a := of("01a20017-4b21-71d5-8be4-87ec4eebd879", 1)
	b := of("01a20017-8403-71d5-8be4-87efdbab96e6", 2)
	c := of("01a20017-bc41-7370-bc3a-6110f743505f", 3)
	if !isSameProcess(a, b) || !isSameProcess(b, a) || isSameProcess(a, c) || isSameProcess(b, c) {
		t.Error("recorded ids of 1.5.2 are not told apart")
	}
	if isSameProcess(of(b.id, 1), of(a.id, 2)) {
		t.Error("the numbers grow")
	}
	for _, id := range []string{"", "my-chosen-id-42", "6f1d2c3b-1111-4222-8333-444455556666", "01a20017-zb21-71d5-8be4-87ec4eebd879"} {
		if isSameProcess(of(id, 1), of(id, 2)) {
			t.Error(id)
		}
	}
}

func TestPeek(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := newScript(idA, "/x", time.Now()).begin().sys(second).prompt(second, "one")
	s.answer(2*second, "toolUse", map[string]string{"type": "text", "text": "I look"}, call("a", "ls"), call("b", "cat x"))
	s.result(3*second, "a").message(3*second, map[string]any{"role": "toolResult", "toolCallId": "b", "isError": true})
	fork := s.last
	s.answer(4*second, "stop").prompt(5*second, "on another branch").answer(6*second, "stop")
	s.last = fork
	s.prompt(7*second, "two").answer(8*second, "error").answer(9*second, "toolUse", call("c", strings.Repeat("ä", adapters.MaxText)))
	must.Do(t, os.WriteFile(path, []byte(s.text()), 0o600))
	a := newStore(agentname.Pi, adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }})
	show := func(n int) (out []string) {
		m, err := a.Peek(t.Context(), adapters.Session{Files: []string{path}}, n)
		must.Do(t, err)
		keys := map[string]bool{}
		for _, x := range m {
			if keys[x.Key] || x.At.IsZero() || len(x.Text) > adapters.MaxText {
				t.Errorf("%+v", x)
			}
			keys[x.Key] = true
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %.16s", x.Role, x.Tool, x.State, x.Text)))
		}
		return out
	}
	all := show(100)
	want := []string{"user   one", "assistant   I look", "tool bash done ls", "tool bash failed cat x", "user   two",
		"assistant   answer", "system   500: mock failur", "tool bash running ää"}
	for i := range want {
		if i >= len(all) || !strings.HasPrefix(all[i], want[i]) {
			t.Fatalf("%q\nwant %q", all, want)
		}
	}
	if last := show(2); len(all) != len(want) || len(last) != 2 || last[0] != all[6] {
		t.Errorf("%q, %q", all, last)
	}
	_, err := a.Peek(t.Context(), adapters.Session{Files: []string{path + "x"}}, 1)
	if !errors.Is(err, adapters.ErrUnreadable) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// What tells the two agents' processes apart, and from others.
func TestWhose(t *testing.T) {
	beside := filepath.Join(t.TempDir(), "pi")
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(beside), "package.json"), []byte(`{"name":"@earendil-works/pi-coding-agent"}`), 0o600))
	cli := "/usr/lib/node_modules/@mariozechner/pi-coding-agent/dist/cli.js"
	link, other := filepath.Join(t.TempDir(), "pi"), filepath.Join(t.TempDir(), "pi")
	for name, target := range map[string]string{link: piScript(t), other: "/bin/sh"} {
		must.Do(t, os.Symlink(target, name))
	}
	for _, test := range []struct {
		comm, exe string
		args      []string
		want      adapters.Name
	}{
		{"node", "/usr/bin/node", []string{"node", link}, agentname.Pi}, // as npm installs it
		{"node", "/usr/bin/node", []string{"node", "--no-warnings", strings.TrimPrefix(link, "/"), "-c"}, agentname.Pi},
		{"node", "/usr/bin/node", []string{"node", "/rollcall-no-such-folder/bin/pi"}, agentname.Pi}, // in a container
		{"node", "/usr/bin/node", []string{"node", other}, ""},
		{"node", "/usr/bin/node", []string{"node", "server.js", link}, ""},
		{"pi", "/usr/bin/node", []string{"pi"}, agentname.Pi},
		{"pi-rpc", "/usr/bin/node", []string{"pi-rpc"}, agentname.Pi},
		{"pi", beside, []string{"pi"}, agentname.Pi},
		{"pi", "/usr/local/bin/pi", []string{"pi", "-c"}, agentname.PiRust},
		{"MainThread", "/usr/bin/node", []string{"node", cli}, agentname.Pi},
		{"node", "/usr/bin/node", []string{"pi"}, agentname.Pi},
		{"node", "/usr/bin/node", []string{"node", "server.js"}, ""},
		{"MainThread", "/usr/bin/node", nil, ""},
	} {
		if !mayBePi(test.comm) || agentOf(test.comm, test.exe, "/", test.args) != test.want {
			t.Errorf("%+v: %q", test, agentOf(test.comm, test.exe, "/", test.args))
		}
	}
}

// piScript is Pi's program as npm installs it.
func piScript(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "node_modules", "@mariozechner", "pi-coding-agent", "dist", "cli.js")
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, nil, 0o755))
	return path
}
