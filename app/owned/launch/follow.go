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
// sessions of one agent, and report on its own goroutine. It reads the record, which the keeper updates. If this process is
// the parent of the started process, Follow stores the exit code. It then does not report the end of an agent that outlives
// the started process.
func (l *Launches) Follow(ctx context.Context, s *Started, ask func(context.Context, adapters.Name) *app.Snapshot, report func(Progress)) {
	// A missed change only costs time, because the record is also read after each pause.
	changes, _ := l.records.Changes(ctx)
	ended := s.exitCode()
	r, pause := s.Record, firstPause
	f := following{started: s, report: report, late: r.LaunchedAt.Add(Grace)}
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
		if !l.goesOn(&f, &r) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case code := <-ended:
			f.reaped = true
			r, err = l.reaped(ctx, r, exit{s.First, code, s.Child.Signal()}, ask(ctx, r.Agent), report)
			if err != nil {
				report(l.over(r, err))
				return
			}
		case <-next.C:
			if l.host != nil && s.Child == nil && !r.Ended() && !l.isAlive(&r, l.now()) {
				_ = l.host.Ready(ctx) // only a keeper records the end, and the last one may have been killed
			}
			if !f.listed {
				r = l.learn(ctx, r, ask(ctx, r.Agent), report)
			}
			next.Reset(pause)
			pause = min(pause*3/2, lastPause)
		}
	}
}

// following is what Follow has reported of a launch.
type following struct {
	started           *Started
	report            func(Progress)
	listed, continues bool
	reaped            bool      // the end of the started process is stored
	late              time.Time // when a launch without a session is reported, again
}

// goesOn reports the stage that a launch has reached, if that is new. It returns false if no further stage follows.
func (l *Launches) goesOn(f *following, r *Record) bool {
	first := f.started.First
	switch {
	case r.Ended() && !l.codeIsDue(r):
		f.report(l.over(*r, nil))
		return false
	case f.listed:
		return !f.reaped
	case r.Seen:
		f.listed = true
		f.report(Progress{Stage: Listed, Record: *r})
		return !f.reaped
	case !f.continues && !first.IsZero() && r.Process != first && !l.table.Alive(first):
		f.continues = true
		f.report(Progress{Stage: Continues, Record: *r})
	case time.Now().After(f.late):
		f.late = f.late.Add(Keep)
		f.report(Progress{Stage: Unlisted, Record: *r})
	}
	return true
}

// exitCode returns a channel that receives the exit code of the started process, if this process is its parent.
func (s *Started) exitCode() <-chan int {
	ended := make(chan int, 1)
	if s.Child != nil {
		go func() {
			if code, err := s.Child.Wait(); err == nil { // Wait also removes the process from the process table
				ended <- code
			}
		}()
	}
	return ended
}

// learn calls Learn for Follow and reports its errors.
func (l *Launches) learn(ctx context.Context, r Record, snap *app.Snapshot, report func(Progress)) Record {
	now, err := l.Learn(ctx, r, snap)
	if err == nil {
		return now
	}
	if ctx.Err() == nil {
		report(Progress{Stage: Problem, Record: r, Err: err})
	}
	return r
}

// reaped stores the end of the started process. With an error the returned record has the exit code nevertheless.
func (l *Launches) reaped(ctx context.Context, r Record, e exit, snap *app.Snapshot, report func(Progress)) (Record, error) {
	r = l.learn(ctx, r, snap, report)
	if ctx.Err() != nil {
		return r, nil
	}
	err := l.storeExit(context.WithoutCancel(ctx), r.ID, e, snap)
	if err != nil {
		r.ExitCode, r.Signal = &e.code, e.signal
	}
	return r, err
}

// over returns the last stage of a launch. err is why its end could not be stored.
func (l *Launches) over(r Record, err error) Progress {
	out, outErr := l.Output(r.ID, outputShown)
	p := Progress{Stage: Over, Record: r, Signal: r.Signal, Unknown: r.ExitCode == nil, Output: out, Err: errors.Join(outErr, err)}
	if r.ExitCode != nil {
		p.Code = *r.ExitCode
	}
	return p
}
