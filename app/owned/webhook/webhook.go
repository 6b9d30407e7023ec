// Package webhook posts a message to the user's URL when the process of a session has ended. It is off unless the
// settings name a URL.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
	"rollcall/bounded"
)

// Target is where messages go. Without a URL there is no webhook.
type Target struct {
	URL    string // http:// or https://
	Secret string // key of the signature; empty: messages are not signed
}

const (
	limit   = 10 * time.Second // for one attempt
	summary = 200              // characters
)

// Payload is the JSON body of a message. docs/json.md describes it. Empty fields are left out. ExitStatus is absent if
// it is unknown; it is never 0 instead.
type Payload struct {
	HookType string `json:"hook_type"` // session.stopped
	// DeliveryID is the same each time the message is sent.
	DeliveryID      string            `json:"delivery_id"`
	SessionID       string            `json:"session_id"`
	Agent           adapters.Name     `json:"agent"`
	CWD             string            `json:"cwd,omitempty"`
	Outcome         adapters.Outcome  `json:"outcome,omitempty"`
	DurationSeconds int64             `json:"duration_seconds,omitempty"` // of the last turn
	ExitStatus      *int              `json:"exit_status,omitempty"`
	Summary         string            `json:"summary,omitempty"` // the title or prompt, 200 characters at most
	Meta            map[string]string `json:"meta,omitempty"`    // launch, group, spec, branch, model
	// Late reports that no keeper ran when the process ended. Timestamp is then when the next one noticed it.
	Late      bool      `json:"late,omitempty"`
	Timestamp time.Time `json:"timestamp"`
}

// CheckURL returns an error if address is not a URL that a webhook can have. The error does not contain the address,
// which may hold a secret.
func CheckURL(address string) error {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the URL of a webhook must begin with http:// or https://, followed by a host name")
	}
	return nil
}

// Client returns an HTTP client for webhooks. It does not follow redirects: a redirected request would lose its body or
// carry it to a server that the user did not name. Post reports a redirect as an error.
func Client(limit time.Duration) *http.Client {
	// Messages are rare, so no connection is kept open for the next one.
	return &http.Client{Timeout: limit, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Post posts a JSON body once. It returns the status of the answer, or 0 if there was none, and an error unless the
// status is 2xx. The error does not contain the address, which may hold a secret.
func Post(ctx context.Context, client *http.Client, address string, body []byte, header map[string]string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, CheckURL(address)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return 0, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	switch resp.StatusCode / 100 {
	case 2:
	case 3:
		err = fmt.Errorf("the webhook answered %s, which is not followed: set the URL that it leads to", present.Line(resp.Status))
	default:
		err = fmt.Errorf("the webhook answered %s", present.Line(resp.Status))
	}
	return resp.StatusCode, err
}

// Sign returns the HMAC-SHA256 of a body, in hexadecimal digits.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

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
		Summary: present.Cut(present.Line(present.Topic(x.Topic)), summary), Timestamp: at.UTC(), Meta: metaOf(x),
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
		if err := bounded.Wait(ctx, waitingPauses[i]); err != nil {
			return err
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
		meta["launch"] = l.ID
		meta["group"] = l.Group
		meta["spec"] = l.Spec
	}
	maps.DeleteFunc(meta, func(_, value string) bool { return value == "" })
	return meta
}
