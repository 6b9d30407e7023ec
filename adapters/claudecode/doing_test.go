package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/internal/must"
)

// What a session does is the same for a reader that has followed the transcript and for one that begins now: the first words of an answer can be some
// records before its end.
func TestDoingOfAnAnswerInSeveralRecords(t *testing.T) {
	at := time.Now().Add(-time.Minute)
	n := 0
	line := func(kind, message string) string {
		n++
		return fmt.Sprintf(`{"parentUuid":"p","uuid":"u%d","type":%q,"timestamp":%q,"cwd":"/p","message":%s}`+"\n", n, kind, at.Add(time.Duration(n)*time.Second).UTC().Format(time.RFC3339), message)
	}
	block := func(message, stop, content string) string {
		return line("assistant", fmt.Sprintf(`{"id":%q,"role":"assistant","model":"m","stop_reason":%s,"content":[%s],"usage":{"input_tokens":1,"output_tokens":1}}`, message, stop, content))
	}
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	call := func(id string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make"}}`, id)
	}
	result := func(id string) string {
		return line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"%s"}]}`, id, strings.Repeat("x", 700<<10)))
	}
	lines := []string{promptLine("hi"), block("m0", `"end_turn"`, text("before")), promptLine("go"),
		block("m1", "null", text("I look")), block("m1", `"tool_use"`, call("a")), result("a"), block("m1", `"tool_use"`, call("b")), result("b"),
		block("m2", "null", text("First words")), result("c"), block("m2", "null", `{"type":"thinking","thinking":"hm"}`), block("m2", `"end_turn"`, text("last words"))}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	grown := newTranscript(path)
	for i := range lines {
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines[:i+1], "")), 0o600))
		followed, fresh := readNow(t, grown), readNow(t, newTranscript(path))
		got, _ := fresh.turn.doing()
		want, _ := followed.turn.doing()
		if got != want {
			t.Errorf("after %d records: %q, followed %q", i+1, got, want)
		}
	}
}

// Of a file without a last line feed the complete lines are kept, so that the next process reads only what follows them.
func TestKeptUpToTheLastLineFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	whole := promptLine("hi") + doneLine("m1") + strings.TrimSuffix(doneLine("m2"), "\n")
	must.Do(t, os.WriteFile(path, []byte(whole), 0o600))
	must.Do(t, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
	tr := newTranscript(path)
	readNow(t, tr)
	next := &transcript{File: agentfile.NewFile(path), facts: tr.facts, now: tr.facts, loaded: true}
	next.State = tr.Complete()
	file, err := os.Open(path)
	must.Do(t, err)
	defer file.Close()
	info, err := file.Stat()
	must.Do(t, err)
	next.Begin(file, info)
	if next.IsCurrent(info) || !next.HasGrown(file) || next.Next != int64(len(whole)-len(strings.TrimSuffix(doneLine("m2"), "\n"))) {
		t.Errorf("current %v, grown %v, read on from %d", next.IsCurrent(info), next.HasGrown(file), next.Next)
	}
	if f := readNow(t, next); f.records != tr.now.records {
		t.Errorf("%+v, want %+v", f.turn, tr.now.turn)
	}
}
