package app

import (
	"context"
	"testing"
	"time"

	"rollcall/adapters"
)

// asking is a launch whose process has asked, where kind is set.
type asking struct {
	oneLaunch
	adapters.Conversant
	kind *adapters.RequestKind
}

type askingLaunches struct{ asking }

func (l askingLaunches) Conversant(adapters.Adapter, *Session) adapters.Conversant { return l.asking }

func (a asking) Pending(context.Context, adapters.Session) ([]adapters.Request, error) {
	if *a.kind == "" {
		return nil, nil
	}
	return []adapters.Request{{Kind: *a.kind}}, nil
}

// telling is a launch whose process tells the state of its turn.
type telling struct {
	asking
	open  *bool
	ended adapters.Outcome
	at    time.Time
}

type tellingLaunches struct{ telling }

func (l tellingLaunches) Conversant(adapters.Adapter, *Session) adapters.Conversant { return l.telling }

func (a telling) Turn(context.Context) (bool, adapters.Outcome, time.Time, bool) {
	return *a.open, a.ended, a.at, true
}

// TestTellingProcess: what a process tells of its turn counts where its agent does not know that, and for a turn that it interrupted without a record.
func TestTellingProcess(t *testing.T) {
	kind := adapters.RequestKind("")
	open := false
	told := time.Now()
	playWith(t, tellingLaunches{telling{asking{kind: &kind}, &open, adapters.Interrupted, told}}, nil, func(s *scene) {
		s.machine.start(pid(2))
		check := func(said, status adapters.Status, what adapters.Outcome, change func(*adapters.Session)) {
			s.Helper()
			s.agent.says(nil, changed(on("a", said, 2), change))
			s.refresh()
			if x := s.core.Snapshot().Sessions()[0]; x.Status != status || x.Outcome != what || x.MayAsk {
				s.Errorf("%s is shown as %s %s, want %s %s: %s", said, x.Status, x.Outcome, status, what, x.Evidence)
			}
		}
		at := func(at time.Time) func(*adapters.Session) {
			return func(x *adapters.Session) { x.LastActivityAt = at }
		}
		mayAsk := func(x *adapters.Session) { x.MayAsk = true }
		check(adapters.Working, adapters.Idle, adapters.Interrupted, at(told.Add(-time.Second)))
		check(adapters.Working, adapters.Working, "", at(told.Add(time.Second)))
		check(adapters.Unknown, adapters.Idle, adapters.Interrupted, at(told))
		check(adapters.Idle, adapters.Idle, adapters.Interrupted, mayAsk)
		check(adapters.Idle, adapters.Idle, adapters.Interrupted, at(told)) // how the turn ended is not recorded
		check(adapters.Idle, adapters.Idle, "", at(told.Add(time.Second)))
		late := func(x *adapters.Session) { // the turn's own last record comes after the word
			x.TurnStartedAt = told.Add(-time.Second)
			x.LastActivityAt = told.Add(time.Second)
		}
		check(adapters.Idle, adapters.Idle, adapters.Interrupted, late)
		check(adapters.Working, adapters.Idle, adapters.Interrupted, late)
		check(adapters.Working, adapters.Working, "", func(x *adapters.Session) { // the agent went on by itself
			late(x)
			x.LastActivityAt = told.Add(time.Minute)
		})
		open = true
		check(adapters.Waiting, adapters.Working, "", at(told)) // the request was answered
		check(adapters.Unknown, adapters.Working, "", at(told))
		check(adapters.Idle, adapters.Working, "", mayAsk)
	})
}

// TestAskingProcess: a session whose process has asked Rollcall waits, unless its agent knows better.
func TestAskingProcess(t *testing.T) {
	kind := adapters.RequestKind("")
	playWith(t, askingLaunches{asking{kind: &kind}}, nil, func(s *scene) {
		s.machine.start(pid(2))
		check := func(said, status adapters.Status, what adapters.WaitingFor) {
			s.Helper()
			s.agent.says(nil, on("a", said, 2))
			s.refresh()
			if x := s.core.Snapshot().Sessions()[0]; x.Status != status || x.WaitingFor != what || x.Evidence == "" {
				s.Errorf("%s is shown as %s %s, want %s %s: %s", said, x.Status, x.WaitingFor, status, what, x.Evidence)
			}
		}
		check(adapters.Unknown, adapters.Unknown, "")
		kind = adapters.AsksCommand
		check(adapters.Unknown, adapters.Waiting, adapters.ForPermission)
		check(adapters.Idle, adapters.Waiting, adapters.ForPermission)
		check(adapters.Working, adapters.Waiting, adapters.ForPermission) // the request is not recorded yet (Qwen Code 0.24.4)
		kind = adapters.AsksQuestion
		check(adapters.Unknown, adapters.Waiting, adapters.ForQuestion)
		kind = ""
		check(adapters.Idle, adapters.Idle, "")
	})
}
