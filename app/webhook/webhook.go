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
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// Config configures a Sender.
type Config struct {
	URL    string // http:// or https://
	Secret string // key of the signature; empty: messages are not signed
	// ExitCode returns the exit code of a session's process, or nil if it is unknown. It may wait for the code. ExitCode
	// may be nil.
	ExitCode func(ctx context.Context, s *app.Session) *int
	// Later allows an empty URL: nothing is sent until Set.
	Later bool
	Log   *slog.Logger
	// Pauses are the pauses before the second and each further attempt; nil: 1 s, 5 s, 25 s.
	Pauses []time.Duration
}

const (
	limit      = 10 * time.Second // for one attempt
	summary    = 200              // characters
	maxPending = 100              // messages that wait for a server
)

var pauses = []time.Duration{time.Second, 5 * time.Second, 25 * time.Second}

// Payload is the JSON body of a message. docs/json.md describes it. Empty fields are left out. ExitStatus is absent if
// it is unknown; it is never 0 instead.
type Payload struct {
	HookType        string            `json:"hook_type"` // session.stopped
	SessionID       string            `json:"session_id"`
	Agent           adapters.Name     `json:"agent"`
	CWD             string            `json:"cwd,omitempty"`
	Outcome         adapters.Outcome  `json:"outcome,omitempty"`
	DurationSeconds int64             `json:"duration_seconds,omitempty"` // of the last turn
	ExitStatus      *int              `json:"exit_status,omitempty"`
	Summary         string            `json:"summary,omitempty"` // the title or prompt, 200 characters at most
	Meta            map[string]string `json:"meta,omitempty"`    // launch, group, spec, branch, model
	Timestamp       time.Time         `json:"timestamp"`
}

// Sender posts a message for each session that ends. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
	slots  chan struct{}

	mu          sync.Mutex
	url, secret string
}

// CheckURL returns an error if address is not a URL that a webhook can have. The error does not contain the address,
// which may hold a secret.
func CheckURL(address string) error {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the URL of a webhook must begin with http:// or https://, followed by a host name")
	}
	return nil
}

// New returns a sender.
func New(cfg Config) (*Sender, error) {
	if err := CheckURL(cfg.URL); err != nil && (!cfg.Later || cfg.URL != "") {
		return nil, err
	}
	if cfg.Pauses == nil {
		cfg.Pauses = pauses
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Sender{cfg: cfg, client: Client(limit), slots: make(chan struct{}, maxPending), url: cfg.URL, secret: cfg.Secret}, nil
}

// Set replaces the address and the secret for the messages that follow. With an empty address Run sends nothing.
func (s *Sender) Set(address, secret string) error {
	if address != "" {
		if err := CheckURL(address); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url, s.secret = address, secret
	return nil
}

func (s *Sender) target() (address, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url, s.secret
}

// Client returns an HTTP client for webhooks. It does not follow redirects: a redirected request would lose its body or
// carry it to a server that the user did not name. Post reports a redirect as an error.
func Client(limit time.Duration) *http.Client {
	return &http.Client{Timeout: limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Run posts a message for each session that ends, until ctx is done. Messages do not wait for each other. Run cancels
// the messages that are on their way when ctx ends.
func (s *Sender) Run(ctx context.Context, events *app.Events) error {
	var sending sync.WaitGroup
	defer s.client.CloseIdleConnections()
	defer sending.Wait()
	for {
		e, err := events.Next(ctx)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, app.ErrClosed) {
				return nil
			}
			return err
		}
		if address, _ := s.target(); address == "" || e.Kind != app.Ended || e.Session.Parent != "" || e.Session.IsEmptyProcess() {
			continue
		}
		select {
		case s.slots <- struct{}{}:
		default:
			s.cfg.Log.Warn("webhook message dropped: too many wait for the server already", "session", e.Session.ID, "waiting", maxPending)
			continue
		}
		sending.Go(func() {
			defer func() { <-s.slots }()
			if err := s.Send(ctx, s.payload(ctx, &e)); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("webhook message not sent", "session", e.Session.ID, "error", err)
			}
		})
	}
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

// Waiting returns the message that a session waits for the user.
func Waiting(x *app.Session, at time.Time) WaitingPayload {
	return WaitingPayload{
		HookType: "session.waiting", SessionID: x.ID, Agent: x.Agent, CWD: x.CWD, WaitingFor: x.WaitingFor,
		Summary: present.Cut(present.Line(present.Topic(x.Session)), summary), Timestamp: at.UTC(), Meta: metaOf(x),
	}
}

func (s *Sender) payload(ctx context.Context, e *app.Event) Payload {
	x := &e.Session
	p := Payload{
		HookType: "session.stopped", SessionID: x.ID, Agent: x.Agent, CWD: x.CWD, Outcome: x.Outcome,
		Summary: present.Cut(present.Line(present.Topic(x.Session)), summary), Timestamp: e.At.UTC(),
	}
	if took, ok := e.TurnLength(); ok {
		p.DurationSeconds = int64(took.Seconds())
	}
	if s.cfg.ExitCode != nil {
		p.ExitStatus = s.cfg.ExitCode(ctx, x)
	}
	p.Meta = metaOf(x)
	return p
}

func metaOf(x *app.Session) map[string]string {
	meta := map[string]string{"branch": x.Branch, "model": x.Model}
	if l := x.Launch; l != nil {
		meta["launch"], meta["group"], meta["spec"] = l.ID, l.Group, l.Spec
	}
	maps.DeleteFunc(meta, func(_, value string) bool { return value == "" })
	return meta
}

// Send posts one payload, a Payload or a WaitingPayload. It tries again after each pause while the server cannot be reached or answers with status 429
// or 5xx.
func (s *Sender) Send(ctx context.Context, p any) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	address, secret := s.target()
	header := map[string]string{"User-Agent": "rollcall"}
	if secret != "" {
		signature := "sha256=" + Sign(secret, body)
		header["X-Signature"], header["X-Hub-Signature-256"] = signature, signature
	}
	for i := 0; ; i++ {
		status, err := Post(ctx, s.client, address, body, header)
		again := status == 0 || status >= 500 || status == http.StatusTooManyRequests
		if err == nil || !again || i == len(s.cfg.Pauses) {
			return err
		}
		select {
		case <-time.After(s.cfg.Pauses[i]):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return 0, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		err = fmt.Errorf("the webhook answered %s", resp.Status)
	}
	return resp.StatusCode, err
}

// Sign returns the HMAC-SHA256 of a body, in hexadecimal digits.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
