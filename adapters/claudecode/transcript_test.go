package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// lines reads the lines of a recording's transcript.
func recordedTranscripts(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/recordings/claude-*/home/.claude/projects/*/*.jsonl")
	if err != nil || len(paths) < 14 {
		t.Fatalf("%d transcripts, %v", len(paths), err)
	}
	all := make(map[string][]byte)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must.Do(t, err)
		all[path] = content
	}
	return all
}

func readNow(t testing.TB, tr *transcript) facts {
	t.Helper()
	info, err := os.Stat(tr.Path)
	if err == nil {
		err = tr.read(t.Context(), info)
	}
	must.Do(t, err)
	return tr.now.clone()
}

func ledgerOf(t testing.TB, tr *transcript) *kit.Ledger {
	t.Helper()
	sums := sumsOf(t, tr)
	return &sums.ledger.Ledger
}

func sumsOf(t testing.TB, tr *transcript) totals {
	t.Helper()
	sums, err := tr.exact(t.Context(), true)
	must.Do(t, err)
	sums.next = 0
	sums.tokensAt = 0
	sums.parse = parser{} // how it was read doesn't matter
	return sums
}

// A transcript that grows, cut anywhere, is at each step what a reader that
// sees it for the first time makes of it.
func TestGrowingTranscript(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := recordedTranscripts(t)
	all["conversation"] = []byte(wholeConversation(r, 100_000))
	for name, content := range all {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		f, err := os.Create(path)
		must.Do(t, err)
		old := newTranscript(path)
		var handed facts // out, and what it said then
		var said string
		for at := 0; at < len(content); {
			n := 1 + r.IntN(1+len(content)/20)
			if r.IntN(3) == 0 { // up to a line's end, or just before it
				if i := slices.Index(content[at:], '\n'); i >= 0 {
					n = i + r.IntN(2)
				}
			}
			n = min(n, len(content)-at)
			must.Get(f.Write(content[at : at+n]))(t)
			at += n
			fresh := newTranscript(path)
			got := readNow(t, old)
			if want := readNow(t, fresh); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s up to %d:\n%+v\nwant\n%+v", name, at, got, want)
			}
			if now := fmt.Sprint(handed); said != "" && now != said {
				t.Fatalf("%s up to %d: what was handed out changed:\n%s\nwas\n%s", name, at, now, said)
			}
			handed, said = got, fmt.Sprint(got)
			if r.IntN(3) == 0 {
				if got, want := sumsOf(t, old), sumsOf(t, fresh); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s up to %d: %+v, want %+v", name, at, got, want)
				}
			}
		}
		f.Close()
	}
}

// wholeConversation makes random turns, with long lines between them.
func wholeConversation(r *rand.Rand, size int) string {
	var b strings.Builder
	pad := func() string { return strings.Repeat("x", r.IntN(60_000)) }
	for n := 0; b.Len() < size; n++ {
		message, use := fmt.Sprintf("m%d", n), fmt.Sprintf("t%d", n)
		b.WriteString(promptLine(fmt.Sprintf("prompt %d ", n) + pad()[:r.IntN(100)%50]))
		b.WriteString(`{"type":"api-request-shape","shape":"` + pad() + `"}` + "\n")
		for range r.IntN(4) {
			b.WriteString(callLine(message, use, "Bash"))
			b.WriteString(callLine(message, use+"b", "Read"))
			if r.IntN(4) > 0 {
				b.WriteString(resultLine(use + "b"))
			}
			b.WriteString(userLine(fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":%q}]`, use, pad())))
		}
		switch r.IntN(6) {
		case 0:
			b.WriteString(promptLine("[Request interrupted by user for tool use]"))
		case 1:
			b.WriteString(`{"garbage` + "\n")
		case 2:
		default:
			b.WriteString(doneLine(message + "e"))
			b.WriteString(`{"type":"system","subtype":"turn_duration"}` + "\n")
		}
		if r.IntN(3) == 0 {
			b.WriteString(fmt.Sprintf(`{"type":"attachment","attachment":{"type":"prompt_snapshot","p":%q}}`, pad()) + "\n")
		}
	}
	return b.String()
}

// The head and the tail of a large file tell the same state as the whole file.
func TestEndsTellWhatTheWholeTells(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		content := wholeConversation(r, 300_000+r.IntN(3_000_000))
		cut := len(content) - r.IntN(150_000)
		if i := strings.IndexByte(content[cut:], '\n'); i >= 0 && r.IntN(3) > 0 {
			cut += i + 1
		}
		path := filepath.Join(t.TempDir(), "t.jsonl")
		must.Do(t, os.WriteFile(path, []byte(content[:cut]), 0o644))
		ends := newTranscript(path)
		got := readNow(t, ends)
		whole := newTranscript(path)
		f, info, err := agentfile.OpenRegular(path)
		if err == nil {
			err = errors.Join(whole.forward(t.Context(), f), whole.finish(f, info), f.Close())
		}
		must.Do(t, err)
		want := whole.now
		if ends.Next != whole.Next {
			t.Errorf("round %d: next is %d, want %d", round, ends.Next, whole.Next)
		}
		got.skipped, want.skipped = nil, nil // of what was read
		got.gapped, want.gapped = false, false
		got.records, want.records = 0, 0
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d:\n%+v\nwant\n%+v", round, got, want)
		}
		if got, want := sumsOf(t, ends), sumsOf(t, whole); !reflect.DeepEqual(got, want) {
			t.Errorf("round %d: %+v, want %+v", round, got, want)
		}
	}
}

// The prompt of the last turn is found before a long turn, and its time is that of no other turn.
func TestPromptOfALongTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	var b strings.Builder
	b.WriteString(ago(promptLine("first"), time.Hour) + ago(doneLine("m0"), time.Hour) + strings.Repeat(`{"type":"mode","mode":"`+strings.Repeat("x", 10_000)+"\"}\n", 100))
	second := promptLine("second")
	b.WriteString(second)
	for n := range 300 {
		b.WriteString(callLine(fmt.Sprint("m", n), fmt.Sprint("t", n), "Read"))
		b.WriteString(userLine(fmt.Sprintf(`[{"tool_use_id":"t%d","type":"tool_result","content":%q}]`, n, strings.Repeat("y", 10_000))))
	}
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o644))
	if f := readNow(t, newTranscript(path)); f.firstPrompt != "first" || f.lastPrompt != "second" || time.Since(f.promptAt) > 50*time.Minute ||
		f.turn.state != awaitsModel || len(f.turn.pending) > 0 {
		t.Errorf("%q, %q at %s, %+v", f.firstPrompt, f.lastPrompt, f.promptAt, f.turn)
	}
	content := strings.Replace(b.String(), second, identified(promptLine(hello), "c", "b")+
		identified(meta(userLine(`[{"type":"text","text":"Please"}]`)), "d", "c"), 1)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	if f := readNow(t, newTranscript(path)); f.lastPrompt != "/hello big fixture" {
		t.Errorf("a command: %q", f.lastPrompt)
	}
	content = strings.Replace(b.String(), second, "", 1)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	if f := readNow(t, newTranscript(path)); f.lastPrompt != "first" || time.Since(f.promptAt) < 50*time.Minute {
		t.Errorf("one turn: %q at %s", f.lastPrompt, f.promptAt)
	}
}

// A first prompt that is too far from the beginning is found neither by who saw the file grow nor by who reads it now.
func TestFirstPromptFarAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	content := strings.Repeat(`{"type":"mode","mode":"`+strings.Repeat("x", 10_000)+"\"}\n", headLimit/10_000)
	grown := newTranscript(path)
	for _, more := range []string{"", strings.Repeat(`{"type":"mode","mode":"`+strings.Repeat("x", 10_000)+"\"}\n", 10) + promptLine("far") + doneLine("m")} {
		content += more
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		got, want := readNow(t, grown), readNow(t, newTranscript(path))
		if got.firstPrompt != want.firstPrompt || got.lastPrompt != want.lastPrompt || more != "" && got.lastPrompt != "far" {
			t.Errorf("%q, %q; want %q, %q", got.firstPrompt, got.lastPrompt, want.firstPrompt, want.lastPrompt)
		}
	}
}

// A result longer than what is looked at does not hide the call beside it.
func TestCallBeforeHugeResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	content := promptLine("hi") + doneLine("m0") + promptLine("go") + callLine("m1", "a", "Bash") + callLine("m1", "b", "Read") +
		userLine(fmt.Sprintf(`[{"tool_use_id":"b","type":"tool_result","content":%q}]`, strings.Repeat("y", 2*tailLimit)))
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	if f := readNow(t, newTranscript(path)); f.turn.state != callsTools || len(f.turn.pending) != 1 || f.turn.pending[0].name != "Bash" {
		t.Errorf("%+v", f.turn)
	}
}

// A file that is not the old one with something appended is read anew.
func TestReplacedTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write := func(content string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	}
	first := promptLine("first") + doneLine("m1") + promptLine("second")
	changes := map[string]func(){
		"shrunk": func() { write(promptLine("other")) },
		"same size": func() {
			write(strings.Replace(first, "first", "fifth", 1))
			_ = os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))
		},
		"rewritten longer": func() { write(strings.Replace(first, "second", "another", 1) + doneLine("m2")) },
		"another file": func() {
			must.Do(t, os.Remove(path))
			write("\n" + first + promptLine("third"))
		},
	}
	for name, change := range changes {
		write(first)
		tr := newTranscript(path)
		if f := readNow(t, tr); f.firstPrompt != "first" || f.lastPrompt != "second" {
			t.Fatalf("%q, %q", f.firstPrompt, f.lastPrompt)
		}
		change()
		fresh := newTranscript(path)
		if got, want := readNow(t, tr), readNow(t, fresh); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, want)
		}
		if got, want := sumsOf(t, tr), sumsOf(t, fresh); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	must.Do(t, os.Remove(path))
	tr := newTranscript(path)
	if err := tr.read(t.Context(), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("vanished: %v", err)
	}
}

// FuzzTranscript: no line breaks the parser, and reading forwards, in steps or
// from the end gives the same state.
func FuzzTranscript(f *testing.F) {
	for _, content := range recordedTranscripts(f) {
		if len(content) < 8000 {
			f.Add(content)
		}
		for line := range strings.Lines(string(content)) {
			if len(line) < 1500 {
				f.Add([]byte(line))
			}
		}
	}
	f.Add([]byte(wholeConversation(rand.New(rand.NewPCG(1, 1)), 2000)))
	f.Fuzz(func(t *testing.T, content []byte) {
		var sums totals
		var p parser
		var all facts
		for line := range strings.SplitSeq(string(content), "\n") {
			if line == "" {
				continue
			}
			r, err := p.parse([]byte(line))
			sums.add([]byte(line))
			if err != nil {
				all.skip("line that is not JSON")
				continue
			}
			if json.Valid([]byte(line)) == false && r.kind == prompted && r.human && r.text == "" {
				t.Errorf("an empty prompt of %q", line)
			}
			all.add(&r)
		}
		if k := sums.ledger.Tokens(); k.Input < 0 || k.Output < 0 || k.CacheRead < 0 || k.CacheWrite < 0 {
			t.Errorf("%+v", k)
		}
		if len(all.turn.pending) > 2*maxPending || len(all.skipped) > 17 || len(all.firstPrompt) > textLimit {
			t.Errorf("too much is kept: %d, %d", len(all.turn.pending), len(all.skipped))
		}
		_ = all.turn.outcome()
		_ = all.turn.calls()
	})
}

func newTranscript(path string) *transcript { return &transcript{File: agentfile.NewFile(path)} }
