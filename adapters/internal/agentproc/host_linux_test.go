package agentproc_test

import (
	"testing"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/internal/adaptertest/scene"
)

// The host is the nearest ancestor that is a known program, unless the agent is in one of its terminals.
func TestHost(t *testing.T) {
	zed := scene.Spec{Comm: "zed-editor"}
	node, shell, agent := scene.Spec{Comm: "node"}, scene.Spec{Comm: "bash", PTS: 4}, scene.Spec{Comm: "claude"}
	inTerminal := agent
	inTerminal.PTS = 4
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
	} {
		t.Run(name, func(t *testing.T) {
			w := scene.New(t)
			session := adapters.Session{Status: adapters.Working, Host: c.recorded, Headless: c.recorded == "SDK (TypeScript)" || c.recorded == "SDK (Python)"}
			for _, s := range c.chain {
				s.PPID, s.Exe, s.CWD, s.Args = session.Process.PID, "/opt/"+s.Comm, "/", []string{s.Comm}
				session.Process = w.Procs.Start(s)
			}
			roll, err := agentproc.Ask(t.Context(), w.Table, func() (adapters.Roll, error) {
				return adapters.Roll{Sessions: []adapters.Session{session}}, nil
			})
			if got := roll.Sessions[0].Host; got != c.want || err != nil {
				t.Errorf("host %q, want %q; %v", got, c.want, err)
			}
			if got, want := roll.Sessions[0].Headless, c.want == "SDK (Python)"; got != want {
				t.Errorf("headless %v in %s", got, c.want)
			}
		})
	}
}
