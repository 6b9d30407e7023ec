package cleanup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
)

// savedSession is an entry of state.json, keyed by the session's id.
type savedSession struct {
	Adapter string `json:"adapter"`
	Status  string `json:"status"`
	PID     int    `json:"pid"`
}

// savedLock is an entry of locks.json; newer versions record the pid.
type savedLock struct {
	Directory string `json:"directory"`
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	PID       int    `json:"pid"`
}

// savedFuse is an entry of fuses.json.
type savedFuse struct {
	Directory string `json:"directory"`
	SessionID string `json:"sessionId"`
	ExpiresAt string `json:"expiresAt"`
}

// checkList checks whether one of the daemon's lists may be removed: no session in it is live, and no daemon would write
// it again.
func (a *Agentctl) checkList(ctx context.Context, path string) (Item, error) {
	data, info, err := read(path, maxList)
	if err != nil {
		return Item{}, err
	}
	judge := map[string]func([]byte) (string, []string, error){stateFile: a.judgeState, locksFile: a.judgeLocks, fusesFile: a.judgeFuses}
	why, ids, err := judge[filepath.Base(path)](data)
	if errors.Is(err, ErrKept) {
		return Item{}, err
	}
	if err != nil {
		return Item{}, adapters.Unrecognised(path, "not a list of agentctl: %w", err)
	}
	if err := a.checkAsked(a.agentsOf(ids)); err != nil {
		return Item{}, err
	}
	if daemon, err := a.daemon(ctx); err != nil {
		return Item{}, err
	} else if daemon != "" {
		return Item{}, kept("agentctl's daemon is running (%s)", daemon)
	}
	if len(ids) == 0 && strings.HasPrefix(why, "0 ") {
		why = "the list is empty"
	}
	return NewItem(path, "agentctl "+filepath.Base(path), why, info), nil
}

func kept(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrKept, fmt.Sprintf(format, args...))
}

// ended lists the statuses of agentctl for a session that has ended. open lists its other statuses.
var (
	ended = []string{"stopped", "error", "completed", "failed"}
	open  = []string{"running", "idle", "pending"}
)

func parseState(data []byte) (map[string]savedSession, error) {
	var s struct {
		Sessions *map[string]savedSession `json:"sessions"`
		Version  int                      `json:"version"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	if s.Sessions == nil || s.Version != 1 {
		return nil, errors.New("no sessions, or another version than 1")
	}
	return *s.Sessions, nil
}

func (a *Agentctl) judgeState(data []byte) (why string, ids []string, err error) {
	sessions, err := parseState(data)
	if err != nil {
		return "", nil, err
	}
	for id, s := range sessions {
		ids = append(ids, id)
		switch {
		case a.Sessions.Live[id]:
			return "", nil, kept("session %s is live", id)
		case s.PID < 0, !slices.Contains(ended, s.Status) && !slices.Contains(open, s.Status):
			return "", nil, fmt.Errorf("session %s has the status %q", id, s.Status)
		case s.PID > 0:
			if alive, why := a.alive(s.PID, a.now()); alive {
				return "", nil, kept("%s", why)
			}
		case slices.Contains(open, s.Status) && !known(s.Adapter):
			return "", nil, kept("session %s belongs to %s, an agent that Rollcall does not know", id, s.Adapter)
		}
	}
	return count(len(sessions), "session") + ", none of which is live or has a process", ids, nil
}

// known reports whether Rollcall has an adapter for an agent.
func known(agent string) bool {
	_, ok := adapters.Describe(adapters.Name(agent))
	return ok
}

func (a *Agentctl) judgeLocks(data []byte) (why string, ids []string, err error) {
	var locks []savedLock
	if err := unmarshalArray(data, &locks); err != nil {
		return "", nil, err
	}
	saved := a.saved()
	for _, l := range locks {
		if l.Type == "auto" {
			ids = append(ids, l.SessionID)
		}
		switch {
		case l.Directory == "" || l.PID < 0 || l.Type != "auto" && l.Type != "manual":
			return "", nil, errors.New("a lock has no folder, or is neither auto nor manual")
		case l.Type == "manual" && !store.Missing(l.Directory):
			return "", nil, kept("the user locked %s", l.Directory)
		case a.Sessions.Live[l.SessionID]:
			return "", nil, kept("session %s is live", l.SessionID)
		}
		for _, pid := range []int{l.PID, saved[l.SessionID].PID} {
			if pid == 0 {
				continue
			}
			if alive, why := a.alive(pid, a.now()); alive {
				return "", nil, kept("%s", why)
			}
		}
	}
	return count(len(locks), "lock") + ", whose sessions have all ended", ids, nil
}

// saved returns the sessions in state.json, or none if it cannot be read. They have the agents and processes that the
// locks of older versions lack.
func (a *Agentctl) saved() map[string]savedSession {
	data, _, err := read(a.path(own, stateFile), maxList)
	if err != nil {
		return nil
	}
	sessions, _ := parseState(data)
	return sessions
}

// agentsOf returns the agents of these sessions. If state.json does not name the agent of one of them, it returns all
// agents that did not list all their sessions.
func (a *Agentctl) agentsOf(ids []string) []adapters.Name {
	saved := a.saved()
	var agents []adapters.Name
	for _, id := range ids {
		s, ok := saved[id]
		if !ok || !known(s.Adapter) {
			return a.Sessions.Unknown
		}
		agents = append(agents, adapters.Name(s.Adapter))
	}
	return agents
}

func (a *Agentctl) judgeFuses(data []byte) (why string, ids []string, err error) {
	var fuses []savedFuse
	if err := unmarshalArray(data, &fuses); err != nil {
		return "", nil, err
	}
	for _, f := range fuses {
		ids = append(ids, f.SessionID)
		at, err := time.Parse(time.RFC3339, f.ExpiresAt)
		switch {
		case f.Directory == "" || err != nil:
			return "", nil, errors.New("a fuse has no folder or no time")
		case at.After(a.now()):
			return "", nil, kept("the fuse of %s has not expired yet", f.Directory)
		case a.Sessions.Live[f.SessionID]:
			return "", nil, kept("session %s is live", f.SessionID)
		}
	}
	return count(len(fuses), "fuse") + ", all expired", ids, nil
}

// unmarshalArray parses a JSON array. It returns an error for null.
func unmarshalArray[T any](data []byte, into *[]T) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	if *into == nil {
		return errors.New("not an array")
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// daemon returns the running process of agentctl's daemon, or of the supervisor that restarts the daemon. It returns an
// empty string if neither runs.
func (a *Agentctl) daemon(ctx context.Context) (string, error) {
	for _, name := range []string{"agentctl.pid", "supervisor.pid"} {
		data, info, err := read(a.path(own, name), 64)
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil || pid <= 0 {
			continue
		}
		if alive, _ := a.alive(pid, info.ModTime()); alive {
			return fmt.Sprintf("process %d of %s", pid, name), nil
		}
	}
	rows, err := a.Table.List(ctx)
	if err != nil {
		return "", fmt.Errorf("agentctl's daemon may be running: the processes cannot be listed: %w", err)
	}
	for _, p := range rows {
		if args, err := a.Table.Args(p.Identity); err == nil && isDaemon(args) {
			return fmt.Sprintf("process %d", p.PID), nil
		}
	}
	return "", nil
}

// isDaemon reports whether a command line is "node …/agentctl/dist/cli.js daemon start" or "agentctl daemon start".
func isDaemon(args []string) bool {
	for i, arg := range args[:min(len(args), 8)] {
		if arg == "daemon" {
			return slices.ContainsFunc(args[:i], func(before string) bool { return strings.Contains(before, "agentctl") })
		}
	}
	return false
}
