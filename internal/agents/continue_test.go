//go:build agents && linux

package agents

import (
	"strings"
	"testing"
	"time"
)

// TestContinue: the keeper gives a session that reached its limit its prompt at the time that the user named, once. Codex stores no time of a
// reset with the answer 429.
func TestContinue(t *testing.T) {
	nightly(t)
	Need(t)
	built(t, headlessBinary)
	l := NewLauncher(NewSandbox(t), CodexNewest)
	r := l.Launch("break [[delay 3]] [[fail 429]]") // a launch that fails at once is none
	r = l.Recorded(r.ID, "over", func(r LaunchRecord) bool { return r.Ended() && r.Session != "" })
	if failed := l.Becomes(byID(r.Session), time.Now(), soon, "stopped/failed"); !failed.Limited {
		t.Fatalf("no limit: %v", failed)
	}
	if said := l.Rollcall("continue", r.Session, "--at-reset"); said.Code == 0 || !strings.Contains(said.Err, "--at TIME") {
		t.Errorf("without a reset: %v", said)
	}
	at := time.Now().Add(90 * time.Second) // at least half a minute, since seconds are left out
	if said := l.Rollcall("continue", r.Session, "--at", at.Format("15:04"), "-p", "go on at the reset"); said.Code != 0 {
		t.Fatalf("not taken: %v", said)
	}
	if err := poll(2*time.Minute, func() bool { return l.asked("go on at the reset") > 0 }); err != nil {
		t.Fatalf("not continued: %v", err)
	}
	l.Becomes(byID(r.Session), time.Now(), soon, "stopped/completed")
	if n := l.asked("go on at the reset"); n != 1 {
		t.Errorf("continued %d times", n)
	}
	if said := l.Rollcall("continue", r.Session, "--cancel"); said.Code == 0 {
		t.Errorf("the timer is still there: %v", said)
	}
}

// asked returns how often a prompt was sent to the model.
func (l *Launcher) asked(prompt string) (n int) {
	for _, r := range l.Server.Requests() {
		if !r.Side && !r.Tool && strings.Contains(r.Prompt, prompt) {
			n++
		}
	}
	return n
}
