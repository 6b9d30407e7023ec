package corpus

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/internal/gatewaytest"
)

// GatewaySession is a session of an OpenClaw gateway. Times are unix
// milliseconds.
type GatewaySession struct {
	Truth
	Key     string `json:"key"`
	Ended   string `json:"ended"` // how its last run did: done, failed, killed, timeout; "" while one is open
	Created int64  `json:"created"`
	Updated int64  `json:"updated"`
}

const (
	gatewayPID   = 30000
	gatewayTicks = 5000
)

// gatewaySessions makes up what a gateway knows; the first one has an open run.
func gatewaySessions(o Options) []GatewaySession {
	rng := rand.New(rand.NewPCG(o.Seed, 1<<40))
	list := make([]GatewaySession, o.Gateway)
	outcomes := map[string]adapters.Outcome{
		"done": adapters.Completed, "failed": adapters.Failed, "timeout": adapters.Failed, "killed": adapters.Interrupted,
	}
	for i := range list {
		at := o.Now.Add(-time.Duration(rng.Float64() * float64(90*24*time.Hour)))
		ended := []string{"", "done", "done", "failed", "killed", "timeout"}[min(i, 1+i%5)]
		list[i] = GatewaySession{Key: fmt.Sprintf("agent:main:task-%d", i), Ended: ended, Created: at.Add(-time.Hour).UnixMilli(), Updated: at.UnixMilli(),
			Truth: Truth{ID: (&session{rng: rng}).uuid(time.Time{}), Agent: agentname.OpenClaw, Status: adapters.Idle, Outcome: outcomes[ended],
				CWD: fmt.Sprintf("/home/dev/proj%d", i%97), Model: "mock-1", Title: fmt.Sprintf("gateway task %d", i)}}
		switch {
		case ended == "":
			list[i].Status = adapters.Working
		case o.Now.Sub(at) >= 24*time.Hour: // kept, and over
			list[i].Status = adapters.Stopped
		}
	}
	return list
}

// Serve starts a gateway that knows the corpus's gateway sessions, and notes in
// the corpus's home how it is reached, until it is closed. To the process table
// of the corpus it is the process that was made for it.
func Serve(dir string, man Manifest) (*gatewaytest.Gateway, error) {
	g, err := gatewaytest.Start(gatewaytest.Options{})
	if err != nil {
		return nil, err
	}
	rows := make([]gatewaytest.Session, len(man.Gateway))
	for i, s := range man.Gateway {
		rows[i] = gatewaytest.Session{Key: s.Key, SessionID: s.ID, Running: s.Status == adapters.Working, Status: s.Ended,
			RunID: "run-" + s.ID, Label: s.Title, Model: s.Model, Provider: "mock", WorkspaceDir: s.CWD,
			CreatedAt: time.UnixMilli(s.Created), UpdatedAt: time.UnixMilli(s.Updated)}
	}
	g.Set(rows)
	state := filepath.Join(dir, "home", ".openclaw")
	err = g.WriteState(state)
	if err == nil {
		err = gatewaytest.WriteLock(state, gatewaytest.Lock{PID: gatewayPID, StartTime: gatewayTicks, Port: g.Port()})
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Truths returns what a correct monitor says of the corpus's sessions, those of the
// gateway included when it is served.
func (m *Manifest) Truths(served bool) []Truth {
	all := m.Sessions[:len(m.Sessions):len(m.Sessions)]
	if served {
		for i := range m.Gateway {
			all = append(all, m.Gateway[i].Truth)
		}
	}
	return all
}
