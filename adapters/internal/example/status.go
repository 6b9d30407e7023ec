package example

import (
	"context"
	"fmt"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// file holds what was read from a session's file.
type file struct {
	path, id, cwd string
	process       proc.Identity // that opened the session last
	last          string        // type of the last record of the turn: prompt, ask or answer
	fresh         bool          // the process has taken no prompt yet
	prompts       []string      // the first and the last
	started, at   time.Time
	turnAt        time.Time
	tokens        adapters.Tokens
}

// readFile reads a session's file.
func readFile(ctx context.Context, path string, skipped map[string]int) (*file, error) {
	f := &file{path: path}
	err := records(ctx, path, skipped, f.take)
	return f, err
}

func (f *file) take(r *record) {
	f.at = r.At
	switch r.Type {
	case "session":
		f.id = r.ID
		f.cwd = r.CWD
		f.started = r.At
	case "process":
		f.process, f.fresh = proc.Identity{PID: r.PID, Start: r.Start}, true
	case "prompt":
		f.last = r.Type
		f.fresh = false
		f.turnAt = r.At
		f.prompts = append(f.prompts[:min(1, len(f.prompts))], r.Text)
	case "answer":
		f.tokens.Input += r.In
		f.tokens.Output += r.Out
		f.last = r.Type
	case "ask":
		f.last = r.Type
	}
}

// session derives the state of a session from its file and the processes. running is
// nil when the processes are not known.
func (a *Adapter) session(f *file, running map[int]proc.Process) adapters.Session {
	s := adapters.Session{
		ID: f.id, Agent: Name, CWD: f.cwd, Tokens: &f.tokens, StartedAt: f.started, LastActivityAt: f.at, TurnStartedAt: f.turnAt, Files: []string{f.path},
	}
	if n := len(f.prompts); n > 0 {
		s.FirstPrompt, s.LastPrompt = f.prompts[0], f.prompts[n-1]
	}
	record := fmt.Sprintf("last record %q, %s ago", f.last, kit.Span(a.now().Sub(f.at)))
	p, there := running[f.process.PID]
	var v kit.Verdict
	switch {
	case running == nil:
		v = kit.Unknown(record + "; the processes could not be read")
	case f.process.IsZero():
		v = kit.Unknown(record + "; the file names no process")
	case !there || p.Start != f.process.Start: // a pid alone proves nothing
		v = kit.Stopped(f.outcome(), fmt.Sprintf("%s; process %d is gone", record, f.process.PID))
	default:
		s.Process = p.Identity
		v = f.now(fmt.Sprintf("%s; process %d", record, p.PID))
	}
	s.Status = v.Status
	s.WaitingFor = v.WaitingFor
	s.Outcome = v.Outcome
	s.Evidence = v.Evidence
	return s
}

// outcome returns the outcome of a session whose process has ended.
func (f *file) outcome() adapters.Outcome {
	switch f.last {
	case "answer":
		return adapters.Completed
	case "":
		return ""
	}
	return adapters.Died
}

// now returns the verdict on a session whose process is alive.
func (f *file) now(evidence string) kit.Verdict {
	switch {
	case f.last == "answer":
		return kit.Idle(adapters.Completed, evidence)
	case f.fresh: // an earlier open turn belongs to another process
		return kit.Idle("", evidence)
	case f.last == "ask":
		return kit.Waiting(adapters.ForPermission, evidence)
	}
	return kit.Working(evidence)
}
