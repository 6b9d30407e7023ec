package all

import (
	"maps"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/cline"
	"rollcall/adapters/codex"
	"rollcall/adapters/kilo"
	"rollcall/adapters/opencode"
	"rollcall/adapters/pi"
	"rollcall/internal/adaptertest/scene"
)

// places keeps homes as a file would.
type places struct {
	saves int
	kept  map[string]map[string]time.Time
}

func (p *places) Load(agent string) map[string]time.Time { return maps.Clone(p.kept[agent]) }

func (p *places) Save(agent string, folders map[string]time.Time) {
	p.saves++
	if p.kept[agent] == nil {
		p.kept[agent] = map[string]time.Time{}
	}
	maps.Copy(p.kept[agent], folders)
}

// A session of a home that only a process named stays listed for 24 hours after the process, by an adapter that begins then.
func TestHomeOfEndedProcess(t *testing.T) {
	for _, agent := range []struct {
		begin func(*scene.Environment) scene.Agent
		read  func(adapters.Config) adapters.Adapter
	}{
		{scene.ClaudeCode, func(cfg adapters.Config) adapters.Adapter { return claudecode.New(cfg) }},
		{scene.Codex, func(cfg adapters.Config) adapters.Adapter { return codex.New(cfg) }},
		{scene.OpenCode, func(cfg adapters.Config) adapters.Adapter { return opencode.New(cfg) }},
		{scene.Kilo, func(cfg adapters.Config) adapters.Adapter { return kilo.New(cfg) }},
		{scene.Cline, func(cfg adapters.Config) adapters.Adapter { return cline.New(cfg) }},
		{scene.Pi, func(cfg adapters.Config) adapters.Adapter { return pi.New(cfg) }},
	} {
		w := scene.New(t)
		played := agent.begin(w)
		t.Run(string(played.Name()), func(t *testing.T) {
			kept := &places{kept: map[string]map[string]time.Time{}}
			now := time.Now()
			user := t.TempDir()
			listed := func() bool {
				t.Helper()
				a := agent.read(adapters.Config{Home: user, Env: w.Env, Table: w.Table, Places: kept, Now: func() time.Time { return now }})
				roll, _ := a.Discover(t.Context(), adapters.Query{})
				return len(roll.Sessions) > 0
			}
			s := played.Start("/home/dev/proj", "hello")
			s.Answer("fine")
			if !listed() || kept.saves != 1 {
				t.Fatalf("saved %d times: %v", kept.saves, kept.kept)
			}
			if listed(); kept.saves != 1 {
				t.Errorf("saved again at once")
			}
			s.Exit()
			if !listed() {
				t.Errorf("forgotten with its process; kept %v", kept.kept)
			}
			now = now.Add(25 * time.Hour)
			if listed() {
				t.Error("still listed a day later")
			}
			own := agent.read(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Places: kept})
			before := kept.saves
			played.Start("/home/dev/proj", "again")
			if roll, err := own.Discover(t.Context(), adapters.Query{}); len(roll.Sessions) == 0 || err != nil || kept.saves != before {
				t.Errorf("the user's own home is kept as well, or not listed: %v, %v", kept.kept, err)
			}
		})
	}
}
