package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// gatewaySteps are the steps of a plot for the gateway's sessions.
var gatewaySteps = map[string]func(*lane) error{
	"gateway": (*lane).gatewaySession,
	"short":   func(l *lane) error { return l.runs("", completed) },
	"medium":  func(l *lane) error { return l.runs("[[delay 12]]", completed) },
	"long":    func(l *lane) error { return l.runs(longDelay, inTurn) },
	"fail":    func(l *lane) error { return l.runs("[[fail 400]]", failed) },
	"abort":   (*lane).abort,
}

// gatewaySession begins a session of OpenClaw's gateway.
func (l *lane) gatewaySession() error {
	l.st.happens(l.x, "a session of the gateway")
	l.st.mu.Lock()
	defer l.st.mu.Unlock()
	l.x.remote = true
	return nil
}

// gatewayCall makes one request.
func (st *storm) gatewayCall(method string, params any) (json.RawMessage, error) {
	client, err := st.gateway.dial(st.t.Context())
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	defer client.close()
	return client.call(st.t.Context(), method, params)
}

func (l *lane) gatewayKey() string { return "agent:main:" + l.x.mark }

// sends gives the session of the gateway a prompt.
func (l *lane) sends(directives string) (time.Time, error) {
	prompt := l.prompt(directives)
	began := l.st.happens(l.x, "prompt: %s", prompt)
	_, err := l.st.gatewayCall("chat.send", map[string]any{"sessionKey": l.gatewayKey(), "message": prompt, "idempotencyKey": uuid(l.st.t)})
	if err != nil {
		return began, err
	}
	asked, err := l.asked(l.x.prompts, began)
	if err != nil {
		return asked, err
	}
	return asked, l.gatewayID()
}

// gatewayID learns the session's id from the gateway.
func (l *lane) gatewayID() error {
	return until(stepLimit, "listed by the gateway", func() bool {
		row, err := l.gatewayRow()
		if err != nil || row.SessionID == "" {
			return false
		}
		l.st.mu.Lock()
		l.x.id = row.SessionID
		l.st.mu.Unlock()
		return true
	})
}

// stormRow is what the gateway says of a session.
type stormRow struct {
	Key          string
	SessionID    string `json:"sessionId"`
	HasActiveRun bool
}

// gatewayRows are the sessions that the gateway says it has.
func (st *storm) gatewayRows() ([]stormRow, error) {
	answer, err := st.gatewayCall("sessions.list", map[string]any{})
	if err != nil {
		return nil, err
	}
	var list struct{ Sessions []stormRow }
	return list.Sessions, json.Unmarshal(answer, &list)
}

// gatewayHas reports whether the gateway says that it has a session: it makes some of
// its own accord.
func (st *storm) gatewayHas(id string) bool {
	if st.gateway == nil {
		return false
	}
	rows, err := st.gatewayRows()
	return err == nil && slices.ContainsFunc(rows, func(r stormRow) bool { return r.SessionID == id })
}

func (l *lane) gatewayRow() (stormRow, error) {
	rows, err := l.st.gatewayRows()
	if err != nil {
		return stormRow{}, err
	}
	for _, r := range rows {
		if r.Key == l.gatewayKey() {
			return r, nil
		}
	}
	return stormRow{}, errors.New("not listed")
}

// runs gives a prompt to the gateway's session, and waits for the run's end
// unless it is long.
func (l *lane) runs(directives string, after turn) error {
	if _, err := l.sends(directives); err != nil {
		return err
	}
	if after != inTurn {
		if err := l.runOver(); err != nil {
			return err
		}
	}
	l.st.holds(l.x, func() { l.x.turn = after })
	return nil
}

// runOver waits until the gateway says that the run has ended.
func (l *lane) runOver() error {
	return until(stepLimit, "over for the gateway", func() bool {
		row, err := l.gatewayRow()
		return err == nil && !row.HasActiveRun
	})
}

// abort stops the run.
func (l *lane) abort() error {
	l.st.happens(l.x, "aborts the run")
	if _, err := l.st.gatewayCall("chat.abort", map[string]any{"sessionKey": l.gatewayKey()}); err != nil {
		return err
	}
	if err := l.runOver(); err != nil {
		return err
	}
	l.st.holds(l.x, func() { l.x.turn = interrupted })
	return nil
}
