package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rollcall/internal/pressure"
)

// Session is a session as `rollcall list --json` prints it.
type Session struct {
	ID           string `json:"id"`
	Agent        string `json:"agent"`
	Status       string `json:"status"`
	WaitingFor   string `json:"waiting_for"`
	Outcome      string `json:"outcome"`
	Limited      bool   `json:"limited"`
	LimitedUntil string `json:"limited_until"`
	Evidence     string `json:"evidence"`
	PID          int    `json:"pid"`
	CWD          string `json:"cwd"`
	Branch       string `json:"branch"`
	Model        string `json:"model"`
	Title        string `json:"title"`
	FirstPrompt  string `json:"first_prompt"`
	LastPrompt   string `json:"last_prompt"`
	Doing        string `json:"doing"`
	Parent       string `json:"parent"`
	Remote       string `json:"remote"`
	Container    string `json:"container"`
	MayAsk       bool   `json:"may_ask"`
	Suspended    bool   `json:"suspended"`
	Unattended   bool   `json:"unattended"`
	Stale        *struct {
		Reason string `json:"reason"`
	} `json:"stale"`
	Tokens     Tokens `json:"tokens"`
	Background []struct {
		Kind  string `json:"kind"`
		What  string `json:"what"`
		Since string `json:"since"`
		At    string `json:"at"`
	} `json:"background"`
}

// Tokens are those that a session has cost.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// state returns the status with what makes it precise: "waiting/permission",
// "stopped/died", "idle".
func (s Session) state() string {
	out := s.Status
	for _, more := range []string{s.WaitingFor, s.Outcome} {
		if more != "" {
			out += "/" + more
		}
	}
	return out
}

func (s Session) String() string {
	return fmt.Sprintf("%s %s %s pid=%d prompt=%.60q tokens=%+v evidence=%q",
		s.Agent, s.ID, s.state(), s.PID, s.FirstPrompt, s.Tokens, s.Evidence)
}

// Roll is the answer of `rollcall list --json`.
type Roll struct {
	Schema   int       `json:"schema"`
	Sessions []Session `json:"sessions"`
	Adapters []Health  `json:"adapters"`
}

// Health is how an adapter answered.
type Health struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Error string `json:"error"`
}

// health returns the health of one agent's adapter.
func (r Roll) health(agent string) Health {
	for _, a := range r.Adapters {
		if a.Name == agent {
			return a
		}
	}
	return Health{}
}

func (r Roll) String() string {
	var b strings.Builder
	for _, s := range r.Sessions {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	for _, a := range r.Adapters {
		fmt.Fprintf(&b, "\n  adapter %s: %s %s", a.Name, a.State, a.Error)
	}
	return b.String()
}

// find returns the session that match accepts, and how many others it accepts.
func (r Roll) find(match func(Session) bool) (Session, int) {
	var found Session
	count := 0
	for _, s := range r.Sessions {
		if match(s) {
			found = s
			count++
		}
	}
	return found, count
}

// List runs `rollcall list --json` with the given flags.
func (s *Sandbox) List(flags ...string) (Roll, error) { return s.listWith(s.Env(), flags...) }

// listWith calls List in another environment.
func (s *Sandbox) listWith(env []string, flags ...string) (Roll, error) {
	cmd := exec.CommandContext(s.t.Context(), headlessBinary, append([]string{"list", "--json"}, flags...)...)
	cmd.Dir, cmd.Env = s.Project, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	partial := cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3
	if err != nil && !partial {
		return Roll{}, fmt.Errorf("rollcall list: %w: %s", err, stderr.Bytes())
	}
	var r Roll
	if err := json.Unmarshal(output, &r); err != nil {
		return Roll{}, fmt.Errorf("rollcall list: %w: %.200s", err, output)
	}
	if r.Schema != 1 {
		return Roll{}, errors.New("rollcall list: schema is not 1")
	}
	return r, nil
}

// soon is for how long a test waits for a state in `rollcall list --json`. How long
// it took is in the test's log, and make storm measures it: an agent on a busy
// machine shows its answer up to a second before it stores it.
const soon = 10 * time.Second

// who chooses a session of a roll.
type who func(Session) bool

func byID(id string) who { return func(s Session) bool { return s.ID == id } }

// byPrompt chooses the session that began with this prompt.
func byPrompt(prompt string) who {
	return func(s Session) bool { return strings.HasPrefix(s.FirstPrompt, prompt) }
}

func byPID(pid int) who { return func(s Session) bool { return s.PID == pid } }

// Becomes asks for the roll until the one session that match chooses has one of
// the states, and returns it. It waits for limit, counted from the given moment,
// that of the event; for how long the machine was too busy does not count.
func (s *Sandbox) Becomes(match who, since time.Time, limit time.Duration, states ...string) Session {
	s.t.Helper()
	return s.shows(match, since, limit, strings.Join(states, " or "), func(session Session) bool {
		return slices.Contains(states, session.state())
	})
}

// shows waits like Becomes, for any property of a session.
func (s *Sandbox) shows(match who, since time.Time, limit time.Duration, what string, ok func(Session) bool) Session {
	s.t.Helper()
	for {
		roll, err := s.List("--all")
		if err != nil {
			s.t.Fatal(err)
		}
		session, count := roll.find(match)
		took := time.Since(since)
		if count == 1 && ok(session) {
			s.t.Logf("%-22s after %4d ms: %s", session.state(), took.Milliseconds(), session.Evidence)
			return session
		}
		if took > limit+min(pressure.StalledSince(since), time.Minute) {
			s.t.Fatalf("not %s within %v; %d sessions match in:%v", what, took, count, roll)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Stays asks for the roll for a while and fails when the session leaves the state.
func (s *Sandbox) Stays(match who, during time.Duration, states ...string) {
	s.t.Helper()
	until := time.Now().Add(during)
	for time.Now().Before(until) {
		roll, err := s.List("--all")
		if err != nil {
			s.t.Fatal(err)
		}
		session, count := roll.find(match)
		if count != 1 || !slices.Contains(states, session.state()) {
			s.t.Fatalf("did not stay %s; %d sessions match in:%v", strings.Join(states, " or "), count, roll)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
