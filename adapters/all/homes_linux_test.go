package all

import (
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/claudecode"
	"rollcall/adapters/cline"
	"rollcall/adapters/codex"
	"rollcall/adapters/copilot"
	"rollcall/adapters/gemini"
	"rollcall/adapters/grok"
	"rollcall/adapters/kilo"
	"rollcall/adapters/kimi"
	"rollcall/adapters/omp"
	"rollcall/adapters/opencode"
	"rollcall/adapters/pi"
	"rollcall/adapters/pirust"
	"rollcall/adapters/qwen"
	"rollcall/app/settings"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

// Every agent names the home of a session. With the variables that a launch in this home sets, the agent of a user whose own home is elsewhere finds the session
// there; a launch in the user's own home sets none.
func TestLaunchInHome(t *testing.T) {
	type subject interface {
		adapters.Adapter
		adapters.Launcher
	}
	for _, agent := range []struct {
		begin func(*scene.Environment) scene.Agent
		read  func(adapters.Config) subject
	}{
		{scene.ClaudeCode, func(cfg adapters.Config) subject { return claudecode.New(cfg) }},
		{scene.Codex, func(cfg adapters.Config) subject { return codex.New(cfg) }},
		{scene.OpenCode, func(cfg adapters.Config) subject { return opencode.New(cfg) }},
		{scene.Kilo, func(cfg adapters.Config) subject { return kilo.New(cfg) }},
		{scene.Cline, func(cfg adapters.Config) subject { return cline.New(cfg) }},
		{scene.Pi, func(cfg adapters.Config) subject { return pi.New(cfg) }},
		{scene.PiRust, func(cfg adapters.Config) subject { return pirust.New(cfg) }},
		{scene.Copilot, func(cfg adapters.Config) subject { return copilot.New(cfg) }},
		{scene.Qwen, func(cfg adapters.Config) subject { return qwen.New(cfg) }},
		{scene.Omp, func(cfg adapters.Config) subject { return omp.New(cfg) }},
		{scene.Gemini, func(cfg adapters.Config) subject { return gemini.New(cfg) }},
		{scene.Grok, func(cfg adapters.Config) subject { return grok.New(cfg) }},
		{scene.Kimi, func(cfg adapters.Config) subject { return kimi.New(cfg) }},
	} {
		w := scene.New(t)
		played := agent.begin(w)
		t.Run(string(played.Name()), func(t *testing.T) {
			s := played.Start("/home/dev/proj", "hello")
			s.Answer("fine")
			find := func(a adapters.Adapter) *adapters.Session {
				t.Helper()
				roll, err := a.Discover(t.Context(), adapters.Query{})
				if err != nil && len(roll.Sessions) > 0 {
					t.Error(err)
				}
				for i := range roll.Sessions {
					if roll.Sessions[i].ID == s.ID {
						return &roll.Sessions[i]
					}
				}
				return nil
			}
			own := agent.read(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
			found := find(own)
			if found == nil || !strings.HasPrefix(found.Home, w.Home) {
				t.Fatalf("no home: %+v", found)
			}
			task := adapters.Task{Dir: "/home/dev/proj", Terminal: true, Home: found.Home}
			c, err := own.Command("/bin/true", task)
			if err != nil || slices.ContainsFunc(c.Set, func(v string) bool { return strings.Contains(v, w.Home) }) {
				t.Errorf("the own home: %v, %v", c.Set, err)
			}
			s.Exit()
			elsewhere := adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }, Table: w.Table}
			if find(agent.read(elsewhere)) != nil {
				t.Fatal("found in another home")
			}
			c = must.Get(agent.read(elsewhere).Command("/bin/true", task))(t)
			elsewhere.Env = func(name string) string {
				for _, v := range c.Set {
					if value, ok := strings.CutPrefix(v, name+"="); ok {
						return value
					}
				}
				return ""
			}
			if find(agent.read(elsewhere)) == nil {
				t.Errorf("not found with %v", c.Set)
			}
			if d, _ := adapters.Describe(played.Name()); d.HomeFolder != "" {
				var set settings.Settings
				if name := set.Account(played.Name(), "/srv/work/"+d.HomeFolder); name != "work" {
					t.Errorf("the account is called %q", name)
				}
				task.Home = "/srv/work/other"
				if c, err := own.Command("/bin/true", task); err == nil && played.Name() != cline.Name {
					t.Errorf("launched in a folder that is no home: %v", c.Set)
				}
			}
		})
	}
}
