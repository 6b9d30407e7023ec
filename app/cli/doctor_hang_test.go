package cli

import (
	"context"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/bounded"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// silentOwner is an adapter whose judgement of a process never returns.
type silentOwner struct{ end chan struct{} }

func (silentOwner) Name() adapters.Name { return agentname.Pi }

func (silentOwner) Discover(context.Context, adapters.Query) (adapters.Roll, error) {
	return adapters.Roll{}, nil
}

func (d silentOwner) OwnsProcess(proc.Process) bool { <-d.end; return true }

// sureOwner owns every process.
type sureOwner struct{ silentOwner }

func (sureOwner) Name() adapters.Name { return agentname.Codex }

func (sureOwner) OwnsProcess(proc.Process) bool { return true }

// What doctor says of processes does not wait for an adapter that does not answer,
// and hears the others.
func TestJudgementThatNeverComes(t *testing.T) {
	d := silentOwner{make(chan struct{})}
	defer close(d.end)
	calls := &bounded.Calls{}
	calls.Begin()
	defer calls.End()
	done := make(chan string, 1)
	go func() {
		done <- programOf(proc.Process{Identity: proc.Identity{PID: 1, Start: 2}, Comm: "x"}, []adapters.Adapter{d, sureOwner{d}}, calls)
	}()
	select {
	case got := <-done:
		if got != string(agentname.Codex) {
			t.Errorf("the program is %q", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for ever")
	}
}
