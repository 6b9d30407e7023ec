package opencode

import (
	"net"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
)

func TestConformance(t *testing.T) {
	adaptertest.Conformance(t, adaptertest.Subject{
		Agent: scene.OpenCode,
		New: func(w *scene.Environment) adapters.Adapter {
			a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Homes: w.NamedHomes})
			a.serves = anyProcess
			return a
		},
		Hang:  hang,
		Whole: "one statement reads all sessions of the database",
		Exempt: map[string]string{
			"torn": "all sessions lie in one database, which SQLite keeps whole",
		},
	})
}

// hang lets a server run in the first session's folder which accepts and never
// answers.
func hang(w *scene.Environment, _ scene.Agent, sessions []*scene.Session) func() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(w, err)
	w.Cleanup(func() { listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	w.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/node_modules/opencode-ai/bin/opencode.exe", CWD: sessions[0].CWD,
		Args: []string{"opencode", "serve", "--port", port}, Env: []string{"HOME=" + w.Home}})
	return func() { listener.Close() }
}
