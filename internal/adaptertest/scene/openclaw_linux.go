package scene

import (
	"fmt"
	"os"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/gatewaytest"
)

// openclaw plays OpenClaw 2026.9.6: sessions of a gateway on this machine,
// which stay in its list until they are deleted.
type openclaw struct {
	*Environment
	gateway *gatewaytest.Gateway
	count   int
}

// OpenClaw plays OpenClaw 2026.9.6. Its gateway runs from Install on.
func OpenClaw(w *Environment) Agent { return &openclaw{Environment: w} }

// Gateway is the gateway that an Agent made by OpenClaw runs; nil before
// Install.
func Gateway(a Agent) *gatewaytest.Gateway { return a.(*openclaw).gateway }

func (o *openclaw) Name() adapters.Name { return agentname.OpenClaw }
func (o *openclaw) Store() string       { return o.Path(".openclaw") }

func (o *openclaw) Install() {
	if o.gateway != nil {
		return
	}
	gateway, err := gatewaytest.Start(gatewaytest.Options{})
	o.check(err)
	o.gateway = gateway
	o.Cleanup(gateway.Close)
	id := o.Procs.Start(Spec{Comm: "openclaw-gatewa", Exe: NodeProgram, CWD: o.Home,
		Args: []string{"openclaw-gateway"}, Env: []string{"HOME=" + o.Home}})
	o.check(gateway.WriteState(o.Store()))
	o.check(os.RemoveAll(o.Path(".openclaw", "tmp")))
	o.check(gatewaytest.WriteLock(o.Store(), gatewaytest.Lock{PID: id.PID, StartTime: id.Start, Port: gateway.Port()}))
}

// openclawState is what the gateway's run waits for.
type openclawState struct {
	key      string
	run      int
	approval string
}

func (o *openclaw) Start(cwd, prompt string) *Session {
	o.Install()
	o.count++
	key := fmt.Sprintf("agent:main:session-%d", o.count)
	s := newSession(agentname.OpenClaw, o, o.uuid(4), cwd)
	s.Remote, s.state = true, &openclawState{key: key}
	now := time.Now()
	o.gateway.Update(gatewaytest.Session{Key: key, SessionID: s.ID, DerivedTitle: prompt, Model: "mock-1", Provider: "mock",
		WorkspaceDir: cwd, CreatedAt: now, UpdatedAt: now})
	o.prompt(s, prompt)
	return s
}

func (o *openclaw) change(s *Session, edit func(row *gatewaytest.Session)) {
	o.Helper()
	if !o.gateway.Change(s.state.(*openclawState).key, func(row *gatewaytest.Session) {
		row.UpdatedAt = time.Now()
		edit(row)
	}) {
		o.Fatalf("no session %s", s.ID)
	}
}

func (o *openclaw) prompt(s *Session, text string) {
	st := s.state.(*openclawState)
	if st.approval != "" {
		o.gateway.Answer(st.approval)
		st.approval = ""
		return
	}
	st.run++
	o.change(s, func(row *gatewaytest.Session) {
		row.Running = true
		row.Status = "running"
		row.RunID = fmt.Sprint("run-", st.run)
		row.StartedAt, row.EndedAt = time.Now(), time.Time{}
		row.Messages = append(row.Messages, gatewaytest.Message{Role: "user", Text: text, At: time.Now()})
	})
}

func (o *openclaw) answer(s *Session, text string) {
	o.change(s, func(row *gatewaytest.Session) {
		row.Running = false
		row.Status = "done"
		row.EndedAt = time.Now()
		row.Input += 220
		row.Output += 34
		row.Total = 1254
		row.Messages = append(row.Messages, gatewaytest.Message{Role: "assistant", Text: text, At: time.Now()})
	})
}

func (o *openclaw) waitsFor() adapters.WaitingFor { return adapters.ForPermission }

func (o *openclaw) ask(s *Session) {
	s.state.(*openclawState).approval = o.gateway.Ask(s.state.(*openclawState).key, "make")
}

func (o *openclaw) exit(s *Session)         { o.forget(s) }
func (o *openclaw) kill(s *Session)         { o.forget(s) }
func (o *openclaw) resume(*Session, string) {}
func (o *openclaw) strange(s *Session) {
	o.change(s, func(row *gatewaytest.Session) { row.Extra = map[string]any{"moonshine": 1} })
}

func (o *openclaw) forget(s *Session) {
	if id := s.state.(*openclawState).approval; id != "" {
		o.gateway.Answer(id)
	}
	o.gateway.Delete(s.state.(*openclawState).key)
}
