package cleanup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// greedy is a source gone mad: everything is stale, and its own.
type greedy struct{ anchor string }

func (g greedy) Owns(string) (string, bool)           { return g.anchor, true }
func (g greedy) Scan(context.Context) ([]Item, error) { return nil, nil }
func (g greedy) Check(_ context.Context, path string) (Item, error) {
	info, err := os.Lstat(path)
	return NewItem(path, "any", "any", info), err
}

func item(t *testing.T, path string) Item {
	t.Helper()
	info := must.Get(os.Lstat(path))(t)
	return NewItem(path, "any", "any", info)
}

// TestAgentsFilesAreNeverTouched: whatever a source says.
func TestAgentsFilesAreNeverTouched(t *testing.T) {
	w := newWorld(t)
	for _, rel := range []string{
		".claude/projects/-x/a.jsonl", ".claude/sessions/1.json", ".claude/history.jsonl", ".claude/settings.json", ".claude/agentctl",
		".codex/sessions/2026/a.jsonl", ".codex/auth.json", ".codex/archived_sessions/a.jsonl", ".pi/agent/sessions/a.jsonl", ".pi/agentctl.json",
		".local/share/opencode/opencode.db", ".local/share/opencode/storage/session/x.json", ".openclaw/openclaw.json", ".config/opencode/opencode.json",
	} {
		w.write(rel, "theirs")
	}
	for _, d := range adapters.Described() {
		for _, folder := range d.Folders {
			w.write(folder+"/any/file.json", "theirs")
		}
	}
	for _, folder := range []string{".qwen", ".gemini", ".grok", ".cline", ".copilot", ".kimi-code", ".local/share/kilo"} {
		w.write(folder+"/settings.json", "theirs")
	}
	before := w.tree(".")
	for rel := range before {
		c := w.cleaner()
		c.Sources = []Source{greedy{w.home}}
		if r := c.Remove(t.Context(), []Item{item(t, w.path(rel))}); !errors.Is(r[0].Err, ErrRefused) {
			t.Errorf("%s: %v", rel, r[0].Err)
		}
		c.Trash = nil
		if r := c.Remove(t.Context(), []Item{item(t, w.path(rel))}); !errors.Is(r[0].Err, ErrRefused) {
			t.Errorf("%s, to delete: %v", rel, r[0].Err)
		}
		c.Sources = []Source{w.src}
		if r := c.Remove(t.Context(), []Item{item(t, w.path(rel))}); !errors.Is(r[0].Err, ErrRefused) {
			t.Errorf("%s, with agentctl's source: %v", rel, r[0].Err)
		}
	}
	if d := cmp.Diff(before, w.tree(".")); d != "" {
		t.Error(d)
	}
}

// TestGuard: every way around a path that is allowed.
func TestGuard(t *testing.T) {
	dead := func(w *world) string { return w.record(claude, "dead", w.dead(), nil) }
	must := func(t *testing.T, err error) {
		t.Helper()
		must.Do(t, err)
	}
	for _, tt := range []struct {
		name, why string
		make      func(t *testing.T, w *world) string
	}{
		{"relative", "not a plain absolute path", func(_ *testing.T, _ *world) string { return claude + "/dead.json" }},
		{"dots", "not a plain absolute path", func(_ *testing.T, w *world) string {
			return w.home + "/.claude/agentctl/sessions/../sessions/dead.json"
		}},
		{"NUL", "not a plain absolute path", func(_ *testing.T, w *world) string { return w.path(claude + "/dead\x00.json") }},
		{"another folder", "not a file that Rollcall cleans up", func(_ *testing.T, w *world) string { return w.record("elsewhere", "dead", w.dead(), nil) }},
		{"below it", "not a file that Rollcall cleans up", func(_ *testing.T, w *world) string { return w.record(claude+"/deep", "dead", w.dead(), nil) }},
		{"another file", "not a file that Rollcall cleans up", func(_ *testing.T, w *world) string { return w.write(".agentctl/config.json", "{}") }},
		{"a linked file", "a link or not a regular file", func(t *testing.T, w *world) string {
			must(t, os.MkdirAll(w.path(claude), 0o755))
			must(t, os.Symlink(w.write(".claude/projects/x/t.jsonl", "theirs"), w.path(claude+"/dead.json")))
			return w.path(claude + "/dead.json")
		}},
		{"a linked folder", "is a link or not a folder", func(t *testing.T, w *world) string {
			w.record(".claude/projects/x", "dead", w.dead(), nil)
			must(t, os.MkdirAll(w.path(".claude/agentctl"), 0o755))
			must(t, os.Symlink(w.path(".claude/projects/x"), w.path(claude)))
			return w.path(claude + "/dead.json")
		}},
		{"a second name", "hard link", func(t *testing.T, w *world) string {
			path := dead(w)
			must(t, os.MkdirAll(w.path(".claude/projects/x"), 0o755))
			must(t, os.Link(path, w.path(".claude/projects/x/t.jsonl")))
			return path
		}},
		{"agentctl's folder in an agent's by its real path", "its real path belongs to an agent", func(t *testing.T, w *world) string {
			w.record(".codex/sessions/agentctl/sessions", "dead", w.dead(), nil)
			must(t, os.Symlink(w.path(".codex/sessions"), w.path(".claude")))
			return w.path(claude + "/dead.json")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			path := tt.make(t, w)
			it := Item{Path: path}
			if info, err := os.Lstat(path); err == nil {
				it = NewItem(path, "k", "w", info)
			}
			before := w.tree(".")
			r := w.cleaner().Remove(t.Context(), []Item{it})[0]
			if !errors.Is(r.Err, ErrRefused) || !strings.Contains(r.Err.Error(), tt.why) {
				t.Errorf("%v, want %q", r.Err, tt.why)
			}
			if d := cmp.Diff(before, w.tree(".")); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLinkedAgentFolder: a user who keeps ~/.claude elsewhere is served too.
func TestLinkedAgentFolder(t *testing.T) {
	w := newWorld(t)
	w.record("dotfiles/claude/agentctl/sessions", "dead", w.dead(), nil)
	must.Do(t, os.Symlink(w.path("dotfiles/claude"), w.path(".claude")))
	items, err := w.cleaner().Scan(t.Context())
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	if r := w.cleaner().Remove(t.Context(), items)[0]; r.Err != nil {
		t.Error(r.Err)
	}
}

// TestRecheck: what happened between the question and the answer.
func TestRecheck(t *testing.T) {
	w := newWorld(t)
	p := w.process()
	for _, id := range []string{"revived", "rewritten", "live-now", "gone", "replaced", "fine"} {
		w.record(claude, id, w.dead(), nil)
	}
	items, err := w.cleaner().Scan(t.Context())
	if err != nil || len(items) != 6 {
		t.Fatal(items, err)
	}
	w.record(claude, "revived", p.PID, nil)
	w.record(claude, "rewritten", w.dead(), fields{"model": "other"})
	w.live["live-now"] = true
	os.Remove(w.path(claude + "/gone.json"))
	twin := w.write("twin", string(mustRead(t, w.path(claude+"/replaced.json"))))
	if info, err := os.Lstat(w.path(claude + "/replaced.json")); err != nil || os.Chtimes(twin, info.ModTime(), info.ModTime()) != nil || os.Rename(twin, w.path(claude+"/replaced.json")) != nil {
		t.Fatal(err)
	}
	want := map[string]error{"fine": nil, "gone": os.ErrNotExist, "live-now": ErrKept, "replaced": ErrChanged, "revived": ErrKept, "rewritten": ErrChanged}
	for _, r := range w.cleaner().Remove(t.Context(), items) {
		id := strings.TrimSuffix(filepath.Base(r.Path), ".json")
		if !errors.Is(r.Err, want[id]) {
			t.Errorf("%s: %v, want %v", id, r.Err, want[id])
		}
		if _, err := os.Lstat(r.Path); (err == nil) == (id == "fine" || id == "gone") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return b
}

func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	w.record(claude, "one", w.dead(), nil)
	items, _ := w.cleaner().Scan(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := w.cleaner().Remove(ctx, items); len(r) != 1 || !errors.Is(r[0].Err, context.Canceled) {
		t.Error(r)
	}
	if _, err := w.cleaner().Scan(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Lstat(w.path(claude + "/one.json")); err != nil {
		t.Error(err)
	}
}

func TestRefusedIsNotOffered(t *testing.T) {
	w := newWorld(t)
	path := w.record(claude, "dead", w.dead(), nil)
	must.Do(t, os.Link(path, w.path("another-name")))
	items, err := w.cleaner().Scan(t.Context())
	if len(items) > 0 || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), path+" kept") {
		t.Errorf("%+v, %v", items, err)
	}
}
