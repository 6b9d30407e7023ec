//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // the settings know its agents
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
)

// counting is an agent that counts how often it is asked.
type counting struct{ asked atomic.Int32 }

func (*counting) Name() adapters.Name { return agentname.Pi }

func (c *counting) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	c.asked.Add(1)
	return adapters.Roll{}, nil
}

// TestHomesChange: a home that is added to the settings is read at once; another setting asks no agent. Both count without a restart.
func TestHomesChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path+"~", []byte(text), 0o600))
		must.Do(t, os.Rename(path+"~", path)) // in place it would be empty for a moment: settings without homes
	}
	write("")
	live, agent := settings.NewLive(path, slog.New(slog.DiscardHandler)), &counting{}
	core := app.New(app.Config{Adapters: []adapters.Adapter{agent}})
	p := &parts{deps: &cli.Deps{Settings: live.Get}, core: core, live: live, troubles: &troubles{show: core.ShowTroubles}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.followSettings(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	until := func(what string, ok func() bool) {
		t.Helper()
		eventually.True(t, what, func() bool {
			live.Read() // followSettings may not have begun
			return ok()
		})
	}
	isLeftOut := func() bool { return len(core.Snapshot().LeftOut.Agents) == 1 }
	write(`leave_out_agents = ["pi"]`)
	until("the agent to be left out", isLeftOut)
	if n := agent.asked.Load(); n != 0 {
		t.Errorf("asked %d times for another setting", n)
	}
	write("leave_out_agents = [\"pi\"]\n[homes]\npi = [\"/srv/pi\"]\n")
	until("the question", func() bool { return agent.asked.Load() == 1 })
	write("[homes]\npi = [\"/srv/pi\"]\n")
	until("the agent to be shown again", func() bool { return !isLeftOut() })
	if n := agent.asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}
