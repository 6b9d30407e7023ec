//go:build !headless

package desktop

import (
	"testing"
	"time"

	"rollcall/app/owned/fuse"
)

// TestContinued: each result of a session's timer is told once, and nothing of folders.
func TestContinued(t *testing.T) {
	now := time.Now()
	c := &fuse.Continue{Agent: "codex", Session: "s1"}
	set := fuse.Fuse{Path: "/w/shop", Continue: c}
	running := fuse.Fuse{Path: "/w/shop", Continue: c, FiredAt: now}
	done := fuse.Fuse{Path: "/w/shop", Continue: c, FiredAt: now, FinishedAt: now, Outcome: fuse.Succeeded, Results: []string{"the session has the prompt"}}
	failed := done
	failed.FinishedAt = now.Add(time.Hour)
	failed.Outcome = fuse.Failed
	failed.Results = []string{"not continued: it was used since"}
	folder := fuse.Fuse{Path: "/w/shop", FiredAt: now, FinishedAt: now}
	for name, step := range map[string]struct {
		before, after []fuse.Fuse
		want          string
	}{
		"set": {nil, []fuse.Fuse{set}, ""}, "runs": {[]fuse.Fuse{set}, []fuse.Fuse{running}, ""}, "done": {[]fuse.Fuse{running}, []fuse.Fuse{done, folder}, "Codex goes on in shop: the session has the prompt"},
		"told": {[]fuse.Fuse{done}, []fuse.Fuse{done}, ""}, "a later one fails": {[]fuse.Fuse{done}, []fuse.Fuse{failed}, "Codex was not continued in shop: not continued: it was used since"},
		"at once": {nil, []fuse.Fuse{done}, "Codex goes on in shop: the session has the prompt"},
	} {
		said := ""
		for _, x := range continued(step.before, step.after) {
			text := continuedText(&x)
			said += text.Title + ": " + text.Body
		}
		if said != step.want {
			t.Errorf("%s: %q, want %q", name, said, step.want)
		}
	}
}
