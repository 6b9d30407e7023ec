package app

import (
	"context"
	"testing"

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
		check(adapters.Working, adapters.Working, "")
		kind = adapters.AsksQuestion
		check(adapters.Unknown, adapters.Waiting, adapters.ForQuestion)
		kind = ""
		check(adapters.Idle, adapters.Idle, "")
	})
}
