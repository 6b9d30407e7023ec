package cline

import (
	"strings"
	"testing"

	"rollcall/adapters"
)

// A session that another program runs has no terminal to which the user could be sent.
func TestQuestionUnderAHost(t *testing.T) {
	for host, want := range map[string]string{"": "in its terminal only", "Zed": "in Zed only"} {
		_, err := new(Adapter).Pending(t.Context(), adapters.Session{
			State: adapters.State{Status: adapters.Waiting, WaitingFor: adapters.ForQuestion},
			Owner: adapters.Owner{Host: host},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("host %q: %v, want %q", host, err, want)
		}
	}
}
