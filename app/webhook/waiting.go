package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// WaitingPayload is the JSON body of the message that a session waits for the user. docs/json.md describes it.
type WaitingPayload struct {
	HookType   string              `json:"hook_type"` // session.waiting
	SessionID  string              `json:"session_id"`
	Agent      adapters.Name       `json:"agent"`
	CWD        string              `json:"cwd,omitempty"`
	WaitingFor adapters.WaitingFor `json:"waiting_for"`
	Summary    string              `json:"summary,omitempty"` // the title or prompt, 200 characters at most
	Meta       map[string]string   `json:"meta,omitempty"`    // launch, group, spec, branch, model
	Timestamp  time.Time           `json:"timestamp"`
}

// WaitingMessage returns the message that a session waits for the user.
func WaitingMessage(x *app.Session, at time.Time) WaitingPayload {
	return WaitingPayload{
		HookType: "session.waiting", SessionID: x.ID, Agent: x.Agent, CWD: x.CWD, WaitingFor: x.WaitingFor,
		Summary: present.Cut(present.Line(present.Topic(x.Session)), summary), Timestamp: at.UTC(), Meta: metaOf(x),
	}
}

// waitingPauses are the pauses before the second and each further attempt to send a WaitingPayload.
var waitingPauses = []time.Duration{time.Second, 5 * time.Second, 25 * time.Second}

// SendWaiting posts p. It tries again three times while the server cannot be reached or answers with status 429 or 5xx.
// Nothing is stored: a message about a wait is useless later.
func SendWaiting(ctx context.Context, to Target, p *WaitingPayload) error {
	client := Client(limit)
	for i := 0; ; i++ {
		status, err := send(ctx, client, to, p)
		again := status == 0 || status >= 500 || status == http.StatusTooManyRequests
		if err == nil || !again || i == len(waitingPauses) {
			return err
		}
		select {
		case <-time.After(waitingPauses[i]):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send posts a payload once, signed if there is a secret.
func send(ctx context.Context, client *http.Client, to Target, p any) (status int, err error) {
	body, err := json.Marshal(p)
	if err != nil {
		return 0, err
	}
	header := map[string]string{"User-Agent": "rollcall"}
	if to.Secret != "" {
		signature := "sha256=" + Sign(to.Secret, body)
		header["X-Signature"], header["X-Hub-Signature-256"] = signature, signature
	}
	return Post(ctx, client, to.URL, body, header)
}

// metaOf returns the Meta of a message: the launch, branch and model of a session, as far as they are known.
func metaOf(x *app.Session) map[string]string {
	meta := map[string]string{"branch": x.Branch, "model": x.Model}
	if l := x.Launch; l != nil {
		meta["launch"], meta["group"], meta["spec"] = l.ID, l.Group, l.Spec
	}
	maps.DeleteFunc(meta, func(_, value string) bool { return value == "" })
	return meta
}
