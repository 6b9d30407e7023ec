package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/proc"
)

// Answer is the answer of one adapter to one question.
type Answer struct {
	At       time.Time
	Sessions []adapters.Session
	// Err describes what is missing; nil or adapters.ErrAbsent: Sessions is complete.
	Err error
	// IDs are the sessions that the question was about; nil: all.
	IDs []string
	// Remotes are the machines and gateways that answered in full.
	Remotes []string
}

// complete reports whether a session that the answer does not list does not exist.
func (a *Answer) complete() bool { return a.Err == nil || isAbsent(a.Err) }

// lacksRemote reports whether x, which the answer does not list, is a session of a machine
// or gateway that answered in full, and so no longer exists there.
func (a *Answer) lacksRemote(x *adapters.Session) bool {
	return x.Remote != "" && a.asked(x.ID) && slices.Contains(a.Remotes, x.Remote)
}

// asked reports whether the question was about this session.
func (a *Answer) asked(id string) bool { return a.IDs == nil || slices.Contains(a.IDs, id) }

// listed returns the ids of the sessions in the answer.
func (a *Answer) listed() map[string]bool {
	ids := make(map[string]bool, len(a.Sessions))
	for i := range a.Sessions {
		ids[a.Sessions[i].ID] = true
	}
	return ids
}

// Input contains all that Reconcile depends on.
type Input struct {
	Before []Session // what was shown of this adapter
	Answer Answer
	Alive  func(proc.Identity) bool
}

// Reconcile returns what is shown of one adapter's sessions, one row per id, in no particular order. It depends on
// nothing but in. addProcessState adds the other facts of the process table, such as a suspended process.
//
//	answered  session listed         process       shown
//	yes       working/waiting        alive         as listed
//	yes       working/waiting        gone          stopped, died: process truth wins
//	yes       idle/unknown           gone          stopped, with the listed outcome
//	yes       a process alone        gone          not at all
//	yes       a process alone        has a session not at all: the session is shown
//	yes       live                   none (remote) as listed
//	yes       no                     any           not at all
//	failed    seen before            alive/unknown last status, stale and why
//	failed    seen before            gone          stopped, stale and why; how an open turn ended is unknown
//	partly    some                   as above      listed ones fresh, the others stale
//	partly    no, its gateway did    none (remote) not at all
//	about others, not about this one               as before, stopped if gone
func Reconcile(in Input) []Session {
	listed := onePerID(in.Answer.Sessions, in.Alive)
	out := make([]Session, 0, len(listed))
	fresh := make(map[string]bool, len(listed))
	for _, s := range listed {
		fresh[s.ID] = true
		out = append(out, applyProcess(Session{Session: *s}, &in))
	}
	for _, b := range in.Before {
		if fresh[b.ID] {
			continue
		}
		if !in.Answer.asked(b.ID) {
			out = append(out, keepUnread(b, &in, "its files were not read since"))
		} else if !in.Answer.complete() && !in.Answer.lacksRemote(&b.Session) {
			out = append(out, keepStale(b, in, listed))
		}
	}
	return withoutEmptyProcesses(out)
}

// withoutEmptyProcesses leaves out the rows of processes without a session
// (adapters.ProcessSession) whose process has ended, or has a session in rows.
func withoutEmptyProcesses(rows []Session) []Session {
	if !slices.ContainsFunc(rows, func(x Session) bool { return x.IsProcess() }) {
		return rows
	}
	hosts := map[proc.Identity]bool{}
	for i := range rows {
		if x := &rows[i]; x.Live() && !x.IsProcess() {
			hosts[x.Process] = true
		}
	}
	return slices.DeleteFunc(rows, func(x Session) bool { return x.IsProcess() && (!x.Live() || hosts[x.Process]) })
}

// onePerID returns the best row of each session: one conversation can be open in two
// processes.
func onePerID(list []adapters.Session, alive func(proc.Identity) bool) []*adapters.Session {
	out := make([]*adapters.Session, 0, len(list))
	at := make(map[string]int, len(list))
	for i := range list {
		s := &list[i]
		j, dup := at[s.ID]
		switch {
		case !dup:
			at[s.ID] = len(out)
			out = append(out, s)
		case better(s, out[j], alive):
			out[j] = s
		}
	}
	return out
}

// better reports whether a is a better row than b of the same session.
func better(a, b *adapters.Session, alive func(proc.Identity) bool) bool {
	ra, rb := Rank(a.Status), Rank(b.Status)
	if gone(a, alive) {
		ra = Rank(adapters.Stopped)
	}
	if gone(b, alive) {
		rb = Rank(adapters.Stopped)
	}
	if ra != rb {
		return ra < rb
	}
	return a.LastActivityAt.After(b.LastActivityAt)
}

// gone reports whether a session is listed as live in a process of this machine that has
// ended.
func gone(s *adapters.Session, alive func(proc.Identity) bool) bool {
	return s.Live() && s.Remote == "" && !s.Process.IsZero() && !alive(s.Process)
}

// applyProcess returns s as it is shown in view of the state of its process.
func applyProcess(s Session, in *Input) Session {
	if gone(&s.Session, in.Alive) {
		return stoppedSession(s)
	}
	return s
}

// stoppedSession returns s as it is shown after the end of its process. The files of a container can't be read without a
// process in it, so how an open turn ended there is not known. It is also not known for a launch that its agent has not
// listed, which counts as working.
func stoppedSession(s Session) Session {
	inTurn := s.InTurn() && (s.Launch == nil || !s.Launch.Unlisted)
	s.Become(adapters.Stopped, fmt.Sprintf("process %d is gone; before: ", s.Process.PID))
	switch {
	case inTurn && s.Container != "":
		s.Evidence = "how its last turn ended is not known: the files of its container can't be read without its process; " + s.Evidence
	case inTurn && s.Unstored:
		s.Evidence = "how it ended is not known: its agent stores nothing of it; " + s.Evidence
	case inTurn:
		s.Outcome = adapters.Died
	}
	s.Process, s.Shared = proc.Identity{}, false
	return s
}

// keepUnread returns a session that the answer does not contain, as stopped if its process has ended. It leaves open how an
// open turn ended, since the agent's files, which contain that, were not read since.
func keepUnread(b Session, in *Input, why string) Session {
	open := gone(&b.Session, in.Alive) && b.InTurn()
	b = applyProcess(b, in)
	if open && b.Outcome == adapters.Died {
		b.Outcome = ""
		b.Evidence = "how its last turn ended is not known: " + why + "; " + b.Evidence
	}
	return b
}

// keepStale returns a session that its adapter should have listed and could not read, marked as stale.
func keepStale(b Session, in Input, listed []*adapters.Session) Session {
	since := in.Answer.At
	if b.Stale != nil {
		since = b.Stale.Since
	}
	b.Stale = &Stale{Since: since, Reason: Reason(in.Answer.Err)}
	if gone(&b.Session, in.Alive) {
		return keepUnread(b, &in, b.Stale.Reason)
	}
	if successor := successorOf(&b.Session, listed); successor != "" {
		b.Become(adapters.Stopped, fmt.Sprintf("process %d now has session %s; before: ", b.Process.PID, successor))
		b.Process = proc.Identity{}
	}
	return b
}

// successorOf returns the id of the session that now runs in the process of s, or "" if there is none. A process that isn't
// shared has one conversation, besides its sub-agents.
func successorOf(s *adapters.Session, listed []*adapters.Session) string {
	if !s.Live() || s.Shared || s.Process.IsZero() || s.Parent != "" {
		return ""
	}
	for _, o := range listed {
		if o.Process == s.Process && o.Live() && o.Parent == "" && !o.IsProcess() {
			return o.ID
		}
	}
	return ""
}

// isAbsent reports whether err consists of adapters.ErrAbsent alone.
func isAbsent(err error) bool {
	return errors.Is(err, adapters.ErrAbsent) &&
		!slices.ContainsFunc(adapters.Problems(err), func(p error) bool { return !errors.Is(p, adapters.ErrAbsent) })
}

// Reason returns in one line why an adapter did not answer: the first problem, and how
// many more there are.
func Reason(err error) string {
	ps := adapters.Problems(err)
	switch len(ps) {
	case 0:
		return ""
	case 1:
		return ps[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", ps[0], len(ps)-1)
}
