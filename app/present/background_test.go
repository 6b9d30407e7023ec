package present

import (
	"testing"
	"time"

	"rollcall/adapters"
)

func TestBackground(t *testing.T) {
	at := time.Date(2026, 11, 28, 14, 30, 0, 0, time.Local)
	command, wake := adapters.Background{Kind: adapters.Running}, adapters.Background{Kind: adapters.WakeUp, At: at}
	later := adapters.Background{Kind: adapters.WakeUp, At: at.Add(time.Hour)}
	for want, s := range map[string]adapters.Session{
		"working, no sign of life for 12 min":            {State: adapters.State{Status: adapters.Working, Quiet: 12*time.Minute + 59*time.Second}},
		"working, no sign of life for 40 s":              {State: adapters.State{Status: adapters.Working, Quiet: 40 * time.Second}},
		"idle":                                           {State: adapters.State{Status: adapters.Idle}},
		"idle · 1 command runs":                          {State: adapters.State{Status: adapters.Idle, Background: []adapters.Background{command}}},
		"idle · wakes at 14:30":                          {State: adapters.State{Status: adapters.Idle, Background: []adapters.Background{later, wake}}},
		"idle, failed · 2 commands run · wakes at 14:30": {State: adapters.State{Status: adapters.Idle, Outcome: adapters.Failed, Background: []adapters.Background{command, wake, command}}},
	} {
		if got := Status(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
