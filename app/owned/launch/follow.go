package launch

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"rollcall/adapters"
	"rollcall/app"
)

// Stage is a stage of a launch.
type Stage int

// The stages. The last stage of a launch is Over, unless the context of Follow is done before.
const (
	Listed    Stage = iota // the agent lists the session Record.Session
	Unlisted               // the launch is older than Grace, and the agent lists no session of it
	Continues              // the process that was started has ended, and the agent continues as Record.Process
	Over                   // the launch ended with the exit code Code, unless that is Unknown
	Problem                // Err reports what could not be stored; Follow tries again
)

// Progress is one report of Follow.
type Progress struct {
	Stage  Stage
	Record Record
	Code   int    // for Over: the exit code; 128 + its number for a signal
	Signal string // for Over: the name of the signal that ended it, or empty
	// Unknown reports for Over that the exit code is not known: the process that was the agent's parent has ended, or
	// the agent has outlived the process that was started.
	Unknown bool
	Output  string // for Over: the end of its output
	Err     error  // what could not be read or stored
}

// The shortest and the longest pause between two questions of Follow to the agent.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 3 * time.Second
)

// outputShown is the length of the reported output in bytes.
const outputShown = 16 << 10

// Follow reports the stages of a launch that Start started, until the launch is over or ctx is done. It calls ask for the
// sessions of one agent, and report on its own goroutine. Without a keeper it does not report the end of an agent that
// outlives the started process, since this process is not the agent's parent.
func (l *Launches) Follow(ctx context.Context, s *Started, ask func(context.Context, adapters.Name) *app.Snapshot, report func(Progress)) {
	if s.Child == nil {
		l.followKept(ctx, s, ask, report)
		return
	}
	ended := make(chan int, 1)
	go func() {
		if code, err := s.Child.Wait(); err == nil { // Wait also removes the process from the process table
			ended <- code
		}
	}()
	r, first, listed := s.Record, s.Child.Identity, false
	late, pause := r.LaunchedAt.Add(Grace), firstPause
	next := time.NewTimer(pause)
	defer next.Stop()
	for !listed || ended != nil {
		select {
		case <-ctx.Done():
			return
		case code := <-ended:
			ended = nil
			if r.Process == first {
				r = l.learn(ctx, r, ask(ctx, r.Agent), true, report)
			}
			switch {
			case ctx.Err() != nil:
				return
			case r.Process == first:
				report(l.over(ctx, r, code, s.Child.Signal()))
				return
			}
			if !listed {
				report(Progress{Stage: Continues, Record: r})
			}
		case <-next.C:
			r = l.learn(ctx, r, ask(ctx, r.Agent), false, report)
		}
		switch {
		case listed || ctx.Err() != nil:
			continue // only the end remains to be reported
		case r.Seen:
			listed = true
			report(Progress{Stage: Listed, Record: r})
			continue
		case time.Now().After(late):
			late = late.Add(Keep)
			report(Progress{Stage: Unlisted, Record: r})
		}
		next.Reset(pause)
		pause = min(pause*3/2, lastPause)
	}
}

// learn calls Learn for Follow and reports its errors. With ended it also finds a process of the agent that the agent
// does not list yet.
func (l *Launches) learn(ctx context.Context, r Record, snap *app.Snapshot, ended bool, report func(Progress)) Record {
	now, err := l.Learn(ctx, r, snap)
	if err == nil && ended && now.Process == r.Process {
		if successor, ok := l.Successor(snap)(now); ok {
			now, err = l.Move(ctx, r.ID, successor, "")
		}
	}
	if err == nil {
		return now
	}
	if ctx.Err() == nil {
		report(Progress{Stage: Problem, Record: r, Err: err})
	}
	return r
}

// over stores the end of a launch and returns the last stage.
func (l *Launches) over(ctx context.Context, r Record, code int, signal string) Progress {
	out, err := l.Output(r.ID, outputShown)
	_, _, endErr := l.endWith(context.WithoutCancel(ctx), r.ID, &code, signal)
	return Progress{Stage: Over, Record: r, Code: code, Signal: signal, Output: out, Err: errors.Join(err, endErr)}
}

// followKept is Follow for a launch whose process the keeper started. It reads the record, which the keeper updates.
func (l *Launches) followKept(ctx context.Context, s *Started, ask func(context.Context, adapters.Name) *app.Snapshot, report func(Progress)) {
	// A missed change only costs time, because the record is also read after each pause.
	changes, _ := l.records.Changes(ctx)
	r, listed, continues := s.Record, false, false
	late, pause := r.LaunchedAt.Add(Grace), firstPause
	next := time.NewTimer(pause)
	defer next.Stop()
	for {
		now, err := l.record(r.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist): // the record was removed: by the user, or because the clock was changed
			report(Progress{Stage: Over, Record: r, Unknown: true})
			return
		case err != nil:
			report(Progress{Stage: Problem, Record: r, Err: err})
		default:
			r = now
		}
		if r.Ended() && !l.codeIsDue(&r) {
			report(l.overKept(r))
			return
		}
		switch {
		case listed:
		case r.Seen:
			listed = true
			report(Progress{Stage: Listed, Record: r})
		case !continues && !s.First.IsZero() && r.Process != s.First && !l.table.Alive(s.First):
			continues = true
			report(Progress{Stage: Continues, Record: r})
		case time.Now().After(late):
			late = late.Add(Keep)
			report(Progress{Stage: Unlisted, Record: r})
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-next.C:
			if l.host != nil && !r.Ended() && !l.isAlive(&r, l.now()) {
				_ = l.host.Ready(ctx) // only a keeper records the end, and the last one may have been killed
			}
			if !listed {
				r = l.learn(ctx, r, ask(ctx, r.Agent), false, report)
			}
			next.Reset(pause)
			pause = min(pause*3/2, lastPause)
		}
	}
}

// overKept returns the last stage of a launch whose end the keeper has stored.
func (l *Launches) overKept(r Record) Progress {
	out, err := l.Output(r.ID, outputShown)
	p := Progress{Stage: Over, Record: r, Signal: r.Signal, Unknown: r.ExitCode == nil, Output: out, Err: err}
	if r.ExitCode != nil {
		p.Code = *r.ExitCode
	}
	return p
}
