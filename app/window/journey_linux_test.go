//go:build !headless

package window

import (
	"context"
	"fmt"
	"time"

	"rollcall/adapters"
)

// journeyVariable is a folder: the window process then has an agent with requests and a long conversation, which can be launched.
const journeyVariable = "ROLLCALL_WINDOW_TEST_JOURNEY"

// journeyAgent is a walkAgent with two sessions that ask for a command, and one with a conversation of 5,000 messages. What is launched makes a file.
type journeyAgent struct {
	*walkAgent
	asks   *askingAgent
	folder string
}

const (
	journeyTalk  = 5000
	journeyTitle = "Port the parser"
)

func newJourneyAgent(a *walkAgent, folder string) *journeyAgent {
	return &journeyAgent{a, newAskingAgent(&core{}), folder}
}

func (a *journeyAgent) Discover(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	roll, err := a.walkAgent.Discover(ctx, q)
	for _, s := range a.asks.snapshot().Sessions() {
		s.Process = a.process
		roll.Sessions = append(roll.Sessions, s.Session)
	}
	roll.Sessions = append(roll.Sessions, adapters.Session{
		ID: "long", Agent: a.Name(),
		State: adapters.State{Status: adapters.Idle, Evidence: "made up"},
		Owner: adapters.Owner{Process: a.process},
		Place: adapters.Place{CWD: "/home/dev/projects/parser"},
		Topic: adapters.Topic{Title: journeyTitle},
		Times: adapters.Times{LastActivityAt: time.Now().Add(-time.Hour)},
	})
	return roll, err
}

func (a *journeyAgent) Pending(ctx context.Context, s adapters.Session) ([]adapters.Request, error) {
	return a.asks.Pending(ctx, s)
}

func (a *journeyAgent) Answer(ctx context.Context, s adapters.Session, r adapters.Request, d adapters.Decision) (adapters.Result, error) {
	return a.asks.Answer(ctx, s, r, d)
}

func (a *journeyAgent) Peek(ctx context.Context, s adapters.Session, n int) ([]adapters.Message, error) {
	if s.ID != "long" {
		return a.walkAgent.Peek(ctx, s, n)
	}
	var list []adapters.Message
	for i := max(journeyTalk-n, 0); i < journeyTalk; i++ {
		text := fmt.Sprintf("Message %d says little.", i+1)
		if i%100 == 49 {
			text += " Here is a needle."
		}
		list = append(list, adapters.Message{Key: fmt.Sprint("m", i), Role: adapters.FromAgent, Text: text, At: time.Now()})
	}
	return list, nil
}

func (a *journeyAgent) Program(func(string) (string, error)) (string, error) { return "/bin/sh", nil }

func (a *journeyAgent) Modes() []adapters.Mode { return nil }

func (a *journeyAgent) Command(program string, t adapters.Task) (adapters.Command, error) {
	return adapters.Command{Path: program, Args: []string{"-c", "cat >launched", "sh"}, Stdin: t.Prompt}, nil
}
