package qwen

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// An entry of another machine, boot or pid namespace names no process of this one, although the pid and the ticks are the same.
func TestForeignEntry(t *testing.T) {
	const own, elsewhere = "", "00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		name      string
		boot      string
		namespace int
		age       time.Duration
		has       bool
	}{
		{"own", own, 4026531836, 0, true},
		{"another boot", elsewhere, 4026531836, 200 * time.Hour, false},
		{"another namespace", own, 4026532001, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := scene.New(t)
			s := scene.Qwen(w).Start("/home/dev/proj", "go")
			boot := c.boot
			if boot == own {
				boot = s.Process.Boot
			}
			w.Write(filepath.Join(w.Home, ".qwen", "sessions", fmt.Sprintf("%d.json", s.Process.PID)),
				fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"procStart":"%s:%d","pidNs":%d,"sessionId":"11111111-2222-4333-8444-555555555555","startedAt":%d}`,
					s.Process.PID, boot, s.Process.Start, c.namespace, time.Now().Add(-c.age).UnixMilli()))
			a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
			got := adaptertest.Discover(t, a, adapters.Query{}).Sessions
			for _, x := range got { // by the entry the process has another session, without it the one of its folder
				if x.ID == s.ID && (x.Process == s.Process) == c.has {
					t.Errorf("process %v, %s", x.Process, x.Evidence)
				}
			}
		})
	}
}

// The process in which `qwen serve` runs sessions is the server's: it is not signalled for one of them, also when it has only one. One of `qwen --acp` is.
func TestServedIsShared(t *testing.T) {
	for kind, shared := range map[string]bool{"serve": true, "headless": false, "tui": false} {
		w := scene.New(t)
		s := scene.Qwen(w).Start("/home/dev/proj", "go")
		w.Write(filepath.Join(w.Home, ".qwen", "sessions", fmt.Sprintf("%d-9a216f58.json", s.Process.PID)),
			fmt.Sprintf(`{"schemaVersion":1,"pid":%d,"procStart":"%s:%d","sessionId":%q,"kind":%q}`, s.Process.PID, s.Process.Boot, s.Process.Start, s.ID, kind))
		got := adaptertest.Discover(t, New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table}), adapters.Query{}).Sessions
		if len(got) != 1 || got[0].Process != s.Process || got[0].Shared != shared {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}
