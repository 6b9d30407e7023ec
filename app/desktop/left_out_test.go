//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/cli"
	"rollcall/app/settings"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/tray/model"
)

// waits is an agent with one session that waits.
type waits struct{}

func (waits) Name() adapters.Name { return agentname.Pi }

func (waits) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{Sessions: []adapters.Session{{
		ID: "w", Agent: agentname.Pi,
		State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForPermission, Evidence: "seen"},
		Place: adapters.Place{CWD: "/home/dev/proj"},
		Times: adapters.Times{LastActivityAt: time.Now()},
	}}}, nil
}

// TestMenuLeavesOut: the tray's menu has no row of a session whose agent the settings begin to leave out, and has it again afterwards.
func TestMenuLeavesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	live := settings.NewLive(path, slog.New(slog.DiscardHandler))
	core := app.New(app.Config{Adapters: []adapters.Adapter{waits{}}})
	p := &parts{deps: &cli.Deps{Settings: live.Get}, core: core, live: live, troubles: &troubles{show: core.ShowTroubles}}
	core.Refresh(t.Context())
	for _, tt := range []struct {
		text, want, lacks string
	}{
		{"", "needs permission", "left out"},
		{`leave_out_agents = ["pi"]`, "left out by the settings: Pi", "needs permission"},
		{"", "needs permission", "left out"},
	} {
		must.Do(t, os.WriteFile(path, []byte(tt.text), 0o600))
		live.Read()
		p.applySettings()
		m := model.Build(core.Snapshot(), nil, time.Now())
		var rows []string
		for _, r := range m.Rows {
			rows = append(rows, r.Label())
		}
		if all := strings.Join(rows, "\n"); !strings.Contains(all, tt.want) || strings.Contains(all, tt.lacks) {
			t.Errorf("with %q the menu has\n%s", tt.text, all)
		}
	}
}
