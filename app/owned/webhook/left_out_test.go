package webhook

import (
	"sync/atomic"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
)

// TestLeftOut checks that no end of an agent is sent that the settings leave out at that time, and that ends are sent again once they do not.
func TestLeftOut(t *testing.T) {
	to := listen(t, 200)
	var out atomic.Bool
	cfg := Config{Target: at(to.URL, ""), LeftOut: func() []adapters.Name {
		if out.Load() {
			return []adapters.Name{agentname.ClaudeCode}
		}
		return []adapters.Name{agentname.Codex}
	}}
	for i, tt := range []struct {
		out  bool
		want int
	}{{true, 0}, {false, 1}} {
		s := newScene(t, "x")
		out.Store(false)
		core, stop, _ := s.run(cfg)
		eventually.True(t, "session on disk", func() bool { _, n := s.left(); return n == 1 })
		out.Store(tt.out)
		s.end(core)
		eventually.True(t, "end of the message", func() bool { m, n := s.left(); return m == 0 && n == 0 })
		stop()
		if got := to.calls(); got != tt.want {
			t.Errorf("step %d: %d messages in all, want %d", i, got, tt.want)
		}
	}
}
