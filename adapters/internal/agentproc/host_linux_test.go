package agentproc_test

import (
	"cmp"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/internal/adaptertest/scene"
)

// The host is the nearest ancestor that is a known program, or the client of an adapter of ACP, unless the agent is in one of its terminals.
func TestHost(t *testing.T) {
	zed := scene.Spec{Comm: "zed-editor"}
	node := scene.Spec{Comm: "node"}
	shell := scene.Spec{Comm: "bash", PTS: 4}
	agent := scene.Spec{Comm: "claude"}
	inTerminal := agent
	inTerminal.PTS = 4
	script := func(comm string, args ...string) scene.Spec {
		return scene.Spec{Comm: comm, Args: append([]string{comm}, args...)}
	}
	adapter := script("node", "/usr/lib/node_modules/.bin/claude-agent-acp")
	wrap := script("sh", "-c", "claude-agent-acp")
	startedFrom := func(s scene.Spec, pts int) scene.Spec { s.PTS = pts; return s }
	for name, c := range map[string]struct {
		chain    []scene.Spec // the outermost first
		recorded string
		want     string
	}{
		"over ACP":                    {[]scene.Spec{zed, node, agent}, "SDK (TypeScript)", "Zed"},
		"not recorded":                {[]scene.Spec{zed, {Comm: "codex-acp"}}, "", "Zed"},
		"in its terminal":             {[]scene.Spec{zed, shell, inTerminal}, "", ""},
		"a terminal behind a wrapper": {[]scene.Spec{zed, shell, startedFrom(node, 4), inTerminal}, "", ""},
		"the editor in a terminal":    {[]scene.Spec{shell, startedFrom(zed, 4), startedFrom(node, 4), inTerminal}, "", "Zed"},
		"detached by the editor":      {[]scene.Spec{shell, startedFrom(scene.Spec{Comm: "nvim"}, 4), agent}, "", "Neovim"},
		"the nearest of two":          {[]scene.Spec{{Comm: "code"}, shell, startedFrom(scene.Spec{Comm: "zed"}, 4), startedFrom(agent, 4)}, "VS Code", "Zed"},
		"an editor with helpers":      {[]scene.Spec{{Comm: "code"}, {Comm: "code"}, agent}, "VS Code", "VS Code"},
		"another name that begins so": {[]scene.Spec{{Comm: "codex"}, {Comm: "zeditor"}, agent}, "", ""},
		"a script":                    {[]scene.Spec{{Comm: "python3"}, agent}, "SDK (Python)", "SDK (Python)"},
		"alone":                       {[]scene.Spec{agent}, "", ""},
		"an unknown client":           {[]scene.Spec{{Comm: "krypton-desktop", Exe: "/opt/krypton/krypton-desktop-app"}, adapter, agent}, "SDK (TypeScript)", "krypton-desktop-app"},
		"an orchestrator":             {[]scene.Spec{script("node", "/usr/lib/node_modules/hive/dist/index.js"), adapter, agent}, "SDK (TypeScript)", "hive"},
		"a client in Python":          {[]scene.Spec{script("python3", "/usr/bin/toad"), adapter, agent}, "SDK (TypeScript)", "toad"},
		"a package runner between":    {[]scene.Spec{{Comm: "hive"}, script("node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "claude-agent-acp"), wrap, adapter, agent}, "SDK (TypeScript)", "hive"},
		"an agent that speaks it":     {[]scene.Spec{{Comm: "hive"}, {Comm: "gemini", Args: []string{"gemini", "--acp"}}}, "", "hive"},
		"a known one further up":      {[]scene.Spec{{Comm: "obsidian"}, {Comm: "obsidian-helper2"}, adapter, agent}, "SDK (TypeScript)", "Obsidian"},
		"an editor's other process":   {[]scene.Spec{zed, {Comm: "extension-host"}, adapter, agent}, "SDK (TypeScript)", "Zed"},
		"an unknown one in a shell":   {[]scene.Spec{zed, shell, {Comm: "hive", PTS: 4}, startedFrom(adapter, 4), inTerminal}, "SDK (TypeScript)", "hive"},
		"from a shell":                {[]scene.Spec{shell, startedFrom(adapter, 4), inTerminal}, "SDK (TypeScript)", "SDK (TypeScript)"},
		"by a service manager":        {[]scene.Spec{{Comm: "systemd"}, adapter, agent}, "SDK (TypeScript)", "SDK (TypeScript)"},
		"in CI":                       {[]scene.Spec{{Comm: "hive", Env: []string{"CI=true"}}, adapter, agent}, "SDK (TypeScript)", "SDK (TypeScript)"},
		"an SDK without it":           {[]scene.Spec{{Comm: "hive"}, node, agent}, "SDK (TypeScript)", "SDK (TypeScript)"},
		"the keeper":                  {[]scene.Spec{{Comm: "rollcall"}, adapter, agent}, "SDK (TypeScript)", "SDK (TypeScript)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := scene.New(t)
			session := adapters.Session{
				State: adapters.State{Status: adapters.Working},
				Owner: adapters.Owner{Host: c.recorded, Headless: c.recorded == "SDK (TypeScript)" || c.recorded == "SDK (Python)"},
			}
			for _, s := range c.chain {
				s.PPID, s.CWD = session.Process.PID, "/"
				s.Exe = cmp.Or(s.Exe, "/opt/"+s.Comm)
				if s.Args == nil {
					s.Args = []string{s.Comm}
				}
				session.Process = w.Procs.Start(s)
			}
			roll, err := agentproc.Ask(t.Context(), w.Table, func() (adapters.Roll, error) {
				return adapters.Roll{Sessions: []adapters.Session{session}}, nil
			})
			if got := roll.Sessions[0].Host; got != c.want || err != nil {
				t.Errorf("host %q, want %q; %v", got, c.want, err)
			}
			if got, want := roll.Sessions[0].Headless, strings.HasPrefix(c.want, "SDK"); got != want {
				t.Errorf("headless %v in %s", got, c.want)
			}
		})
	}
}
