package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"rollcall/app/self/instance"
	"rollcall/proc"
)

// Host is the user's keeper, as seen by the process that launches.
type Host interface {
	// Ready starts the keeper if none runs. It returns once a keeper runs that will not end within the next minute.
	Ready(ctx context.Context) error
	// Hold does what Ready does. apart has in words how the surroundings of this process, such as the network, differ from
	// the keeper's.
	Hold(ctx context.Context) (apart []string, err error)
	// Start has the keeper start the process of a launch, and returns the pid. The keeper takes the record over from
	// starter. The error wraps instance.ErrUnanswered or instance.ErrNotRunning if it is not known what the keeper did.
	Start(ctx context.Context, id string, starter proc.Identity, c proc.Command) (pid int, err error)
}

// KeptBy makes the user's keeper the parent of the processes that Start starts. It must be called before every other method.
// Without it, the process that calls Start is the parent.
func (l *Launches) KeptBy(h Host) { l.host = h }

// errApart is wrapped by a warning: see Started.Warnings.
var errApart = errors.New("its exit code is known only to a command that waits for it (--wait), and its hooks run in the keeper's environment")

// ready starts the keeper for a launch with these hooks. It returns an error if the hooks would not run. unkept is the
// reason why this process must start the agent itself: no keeper runs, or an agent that the keeper started would be in
// another network, or see other files.
func (l *Launches) ready(ctx context.Context, hooks []Hook) (unkept, err error) {
	if l.host == nil {
		return nil, nil
	}
	apart, unkept := l.host.Hold(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case unkept != nil && len(hooks) > 0:
		return nil, fmt.Errorf("nothing was started, because nothing would run its hooks: %w", unkept)
	case unkept == nil && len(apart) > 0:
		unkept = fmt.Errorf("this command started the agent itself, because it does not share the keeper's %s: %w", strings.Join(apart, ", "), errApart)
	}
	return unkept, nil
}

// handOverTries is how many times a launch is handed to a keeper. A keeper that is killed meanwhile is replaced by another.
const handOverTries = 3

// startKept has the keeper start the process of a launch whose record is written.
func (l *Launches) startKept(ctx context.Context, r Record, c proc.Command) (*Started, error) {
	for try := 1; ; try++ {
		pid, err := l.host.Start(ctx, r.ID, r.Starter, c)
		if err == nil {
			return l.startedBy(r, pid, nil), nil
		}
		refused := !errors.Is(err, instance.ErrUnanswered) && !errors.Is(err, instance.ErrNotRunning)
		now, readErr := l.record(r.ID)
		switch {
		case refused && (errors.Is(readErr, fs.ErrNotExist) || readErr == nil && now.Starter == r.Starter):
			return nil, errors.Join(err, l.undo(ctx, r.ID))
		case readErr != nil:
			return nil, errors.Join(err, readErr)
		case !now.Process.IsZero():
			return l.startedBy(now, now.Process.PID, err), nil
		case now.Starter == r.Starter && try < handOverTries && l.host.Ready(ctx) == nil:
			continue
		case now.Starter == r.Starter && l.takeBack(ctx, r.ID, r.Starter):
			return nil, errors.Join(fmt.Errorf("nothing was started: %w", err), l.undo(ctx, r.ID))
		}
		if process, ok := l.survivor(&now); ok {
			return l.startedBy(now, process.PID, err), nil // the next keeper stores the process
		}
		return nil, fmt.Errorf("it is not known whether the agent was started; its log is %s: %w", r.Log, err)
	}
}

// takeBack marks the record of a launch that no keeper has taken over as ended, so that no keeper takes it over later. It
// reports whether it did so.
func (l *Launches) takeBack(ctx context.Context, id string, starter proc.Identity) bool {
	done := false
	_, err := l.update(context.WithoutCancel(ctx), id, func(r *Record) bool {
		if r.Starter == starter && r.Process.IsZero() && !r.Ended() {
			r.EndedAt, done = l.now(), true
		}
		return done
	})
	return err == nil && done
}

// startedBy returns a launch that a keeper has started. lost is the error with which the connection to the keeper ended.
func (l *Launches) startedBy(r Record, pid int, lost error) *Started {
	s := &Started{Record: r, PID: pid}
	now, err := l.record(r.ID)
	if err != nil {
		s.Warnings = append(s.Warnings, err)
	} else {
		s.Record = now
	}
	s.First = s.Record.Process
	if len(s.Record.Former) > 0 {
		s.First = s.Record.Former[0]
	}
	if lost != nil {
		s.Warnings = append(s.Warnings, fmt.Errorf("the agent was started, but its exit code will not be known: %w", lost))
	}
	return s
}
