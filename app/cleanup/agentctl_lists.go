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
	LockedBy  string `json:"lockedBy"`
	PID       int    `json:"pid"`
}

// savedFuse is an entry of fuses.json.
type savedFuse struct {
	Directory string `json:"directory"`
	SessionID string `json:"sessionId"`
	ExpiresAt string `json:"expiresAt"`
}

// checkList judges one of the daemon's lists: it may go when everything in it is
// dead and nobody would write it again.
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
	if err := a.asked(a.agentsOf(ids)); err != nil {
		return Item{}, err
	}
	if daemon, err := a.daemon(ctx); err != nil {
		return Item{}, err
	} else if daemon != "" {
		return Item{}, fmt.Errorf("%w: agentctl's daemon runs (%s)", ErrKept, daemon)
	}
	if len(ids) == 0 && strings.HasPrefix(why, "0 ") {
		why = "nothing is in it"
	}
	return NewItem(path, "agentctl "+filepath.Base(path), why, info), nil
}

func kept(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrKept, fmt.Sprintf(format, args...))
}

// ended are the statuses with which agentctl was done with a session, open the
// others that it knows.
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
			if alive, why := a.alive(s.PID, time.Time{}, time.Time{}); alive {
				return "", nil, kept("%s", why)
			}
		case slices.Contains(open, s.Status) && !known(s.Adapter):
			return "", nil, kept("nobody can be asked about session %s of %s", id, s.Adapter)
		}
	}
	return inWords(count(len(sessions), "session"), "none of which is live or has a process"), ids, nil
}

func known(agent string) bool {
	return slices.Contains([]adapters.Name{adapters.ClaudeCode, adapters.Codex, adapters.OpenCode, adapters.OpenClaw, adapters.Pi, adapters.PiRust},
		adapters.Name(agent))
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
		case l.Type == "manual" && !missing(l.Directory):
			return "", nil, kept("%s was locked by hand", l.Directory)
		case a.Sessions.Live[l.SessionID]:
			return "", nil, kept("session %s is live", l.SessionID)
		}
		for _, pid := range []int{l.PID, saved[l.SessionID].PID} {
			if pid == 0 {
				continue
			}
			if alive, why := a.alive(pid, time.Time{}, time.Time{}); alive {
				return "", nil, kept("%s", why)
			}
		}
	}
	return inWords(count(len(locks), "lock"), "whose sessions have all ended"), ids, nil
}

// saved are the sessions in state.json: their agents, and their processes, which
// the locks of older versions do not name. When that is gone, so is what it knew.
func (a *Agentctl) saved() map[string]savedSession {
	data, _, err := read(a.path(own, stateFile), maxList)
	if err != nil {
		return nil
	}
	sessions, _ := parseState(data)
	return sessions
}

// agentsOf are the agents that have to be asked about these sessions; all that
// could not be, for a session that state.json does not tell the agent of.
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
			return "", nil, kept("a fuse of %s has not gone off yet", f.Directory)
		case a.Sessions.Live[f.SessionID]:
			return "", nil, kept("session %s is live", f.SessionID)
		}
	}
	return inWords(count(len(fuses), "fuse"), "whose time is over"), ids, nil
}

// unmarshalArray wants an array: null is none.
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

// daemon says how agentctl's daemon, or the supervisor that restarts it, was
// found running; empty: it wasn't.
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
		// One that started after the file was written is another.
		if p, err := a.Table.Find(pid); err == nil && p.Started.Before(info.ModTime().Add(sameStart)) {
			return fmt.Sprintf("process %d of %s", pid, name), nil
		}
	}
	rows, err := a.Table.List(ctx)
	if err != nil {
		return "", fmt.Errorf("whether agentctl's daemon runs can't be told: %w", err)
	}
	for _, p := range rows {
		if args, err := a.Table.Args(p.Identity); err == nil && isDaemon(args) {
			return fmt.Sprintf("process %d", p.PID), nil
		}
	}
	return "", nil
}

// isDaemon knows "node …/agentctl/dist/cli.js daemon start" and "agentctl daemon
// start".
func isDaemon(args []string) bool {
	for i, arg := range args[:min(len(args), 8)] {
		if arg == "daemon" {
			return slices.ContainsFunc(args[:i], func(before string) bool { return strings.Contains(before, "agentctl") })
		}
	}
	return false
}
