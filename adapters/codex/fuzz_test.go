package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// seedLines are the lines of the recorded rollouts.
func seedLines(f *testing.F, use func(line []byte)) {
	paths, err := filepath.Glob(recordings + "/*/home/.codex/sessions/*/*/*/*.jsonl")
	if err != nil || len(paths) == 0 {
		f.Fatal("no recorded rollouts", err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must.Do(f, err)
		for line := range bytes.Lines(b) {
			use(bytes.TrimSpace(line))
		}
	}
}

func checkText(t *testing.T, texts ...string) {
	for _, s := range texts {
		if !utf8.ValidString(s) || len(s) > textLimit+3 {
			t.Errorf("text of %d bytes, valid %v: %.40q", len(s), utf8.ValidString(s), s)
		}
	}
}

func FuzzParse(f *testing.F) {
	seedLines(f, func(line []byte) { f.Add(line) })
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parse(line)
		if err == nil {
			checkText(t, r.text, r.tool)
		}
	})
}

func FuzzParseHead(f *testing.F) {
	seedLines(f, func(line []byte) {
		if bytes.Contains(line, []byte("session_meta")) {
			f.Add(line)
		}
	})
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := parseHead(line)
		if err == nil && (h.id == "" || h.parent == h.id) {
			t.Errorf("%+v", h)
		}
	})
}

// FuzzRollout reads any bytes as a rollout, whole and as one that grows from any
// place on: both end, and say the same of how far they read.
func FuzzRollout(f *testing.F) {
	f.Add([]byte(newScript(threadA, "0.169.0").turn("a", "x").text()), uint16(300))
	f.Add([]byte(newScript(threadA, "0.80.0").prompt("x").call("c", "{}").answer("y").tokens(1, 2, 3).text()), uint16(100))
	f.Add([]byte("\n\n{}\n\x00"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		fresh, err := readRollout(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
		must.Do(t, err)
		checkText(t, fresh.facts.firstPrompt, fresh.facts.lastPrompt)
		part := min(int(cut), len(b))
		grown, err := readRollout(t.Context(), bytes.NewReader(b[:part]), int64(part), nil)
		must.Do(t, err)
		grown, err = readRollout(t.Context(), bytes.NewReader(b), int64(len(b)), &grown)
		must.Do(t, err)
		if grown.next != fresh.next || grown.facts.turn.state != fresh.facts.turn.state {
			t.Errorf("read to %d, turn %v; grown to %d, turn %v", fresh.next, fresh.facts.turn, grown.next, grown.facts.turn)
		}
		if fresh.next > int64(len(b)) || fresh.next > 0 && b[fresh.next-1] != '\n' {
			t.Errorf("read to %d of %d, which is no line's end", fresh.next, len(b))
		}
	})
}

func FuzzIndexEntry(f *testing.F) {
	f.Add([]byte(`{"id":"` + threadA + `","thread_name":"Mock generated title","updated_at":"2026-11-21T05:33:08.794176839Z"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		id, name := indexEntry(line)
		if (id == "") != (name == "") || id != "" && !kit.Is(id) {
			t.Errorf("%q %q", id, name)
		}
		checkText(t, name)
	})
}

func FuzzThreadID(f *testing.F) {
	f.Add("rollout-2026-11-21T05-26-25-01a1fc91-f06c-7171-93f7-e522f5612f4d.jsonl.zst")
	f.Fuzz(func(t *testing.T, name string) {
		if id, ok := threadID(name); ok && !strings.Contains(name, id) || ok && !kit.Is(id) {
			t.Errorf("%q: %q", name, id)
		}
	})
}

func FuzzDaemonAnswer(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(recordings, "codex-0.169.0-tui-daemon", "rpc-thread-list.json"))
	must.Do(f, err)
	f.Add(b)
	f.Add([]byte(`{"id":1,"error":{"code":-32600,"message":"no"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		result, mine, err := parseAnswer(b, 1)
		if err != nil || !mine {
			return
		}
		p, err := parsePage(result)
		for _, thread := range p.Data {
			if err == nil && (thread.ID == "" || thread.Status == nil) {
				t.Errorf("%+v", p)
			}
		}
	})
}
