// Package webhook tells an address of the user's when a session's process really
// ended. It is off unless the settings name an address.
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
	"net/http"
	"net/url"
	"sync"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// Config says whom to tell.
type Config struct {
	URL    string // http:// or https://
	Secret string // signs what is told; empty: it isn't signed
	// ExitCode returns the exit code of a session's process where it is known;
	// nil: it never is.
	ExitCode func(s *app.Session) *int
	Log      *slog.Logger
	// Pauses are those before each further attempt; nil: 1 s, 5 s, 25 s.
	Pauses []time.Duration
}

const (
	limit   = 10 * time.Second // of one attempt
	summary = 200              // characters
	// most bounds what waits for an address that does not answer.
	most = 100
)

var pauses = []time.Duration{time.Second, 5 * time.Second, 25 * time.Second}

// Payload is what is told. Empty fields are left out; ExitStatus is absent where
// nobody knows it, never 0 instead.
type Payload struct {
	HookType        string            `json:"hook_type"` // session.stopped
	SessionID       string            `json:"session_id"`
	Agent           adapters.Name     `json:"agent"`
	CWD             string            `json:"cwd,omitempty"`
	Outcome         adapters.Outcome  `json:"outcome,omitempty"`
	DurationSeconds int64             `json:"duration_seconds,omitempty"`
	ExitStatus      *int              `json:"exit_status,omitempty"`
	Summary         string            `json:"summary,omitempty"` // the title or prompt, 200 characters at most
	Meta            map[string]string `json:"meta,omitempty"`    // launch, group, spec, branch, model
	Timestamp       time.Time         `json:"timestamp"`
}

// Sender tells of ends. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
	slots  chan struct{}
}

// New makes a sender.
func New(cfg Config) (*Sender, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the webhook's url must begin with http:// or https://")
	}
	if cfg.Pauses == nil {
		cfg.Pauses = pauses
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Sender{cfg: cfg, client: Client(limit), slots: make(chan struct{}, most)}, nil
}

// Client is one for webhooks. It follows no redirection: on the way the request
// would lose its body, or take what it tells to a place that nobody named. The
// answer then is the redirection, which is no success.
func Client(limit time.Duration) *http.Client {
	return &http.Client{Timeout: limit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Run tells of the ends among events until ctx is done. Each is told on its own,
// so that a slow address holds none up; what is under way when ctx ends is given
// up.
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
		if e.Kind != app.Ended || e.Session.Parent != "" {
			continue
		}
		select {
		case s.slots <- struct{}{}:
		default:
			s.cfg.Log.Warn("an end was not told: too many wait for the webhook already", "session", e.Session.ID)
			continue
		}
		sending.Go(func() {
			defer func() { <-s.slots }()
			if err := s.Send(ctx, s.payload(&e)); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("an end was not told", "session", e.Session.ID, "error", err)
			}
		})
	}
}

func (s *Sender) payload(e *app.Event) Payload {
	x := &e.Session
	p := Payload{
		HookType: "session.stopped", SessionID: x.ID, Agent: x.Agent, CWD: x.CWD, Outcome: x.Outcome,
		Summary: present.Cut(present.Line(present.Topic(x.Session)), summary), Timestamp: e.At.UTC(),
	}
	if !x.StartedAt.IsZero() && e.At.After(x.StartedAt) {
		p.DurationSeconds = int64(e.At.Sub(x.StartedAt).Seconds())
	}
	if s.cfg.ExitCode != nil {
		p.ExitStatus = s.cfg.ExitCode(x)
	}
	meta := map[string]string{"branch": x.Branch, "model": x.Model}
	if l := x.Launch; l != nil {
		meta["launch"], meta["group"], meta["spec"] = l.ID, l.Group, l.Spec
	}
	for k, v := range meta {
		if v == "" {
			delete(meta, k)
		}
	}
	if len(meta) > 0 {
		p.Meta = meta
	}
	return p
}

// Send posts one payload, again after each pause while the address is not
// reached or answers that it can't now (429, 5xx).
func (s *Sender) Send(ctx context.Context, p Payload) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		again, err := s.post(ctx, body)
		if err == nil || !again || i == len(s.cfg.Pauses) {
			return err
		}
		t := time.NewTimer(s.cfg.Pauses[i])
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// post makes one attempt; again says whether another makes sense.
func (s *Sender) post(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "rollcall")
	if s.cfg.Secret != "" {
		signature := "sha256=" + Sign(s.cfg.Secret, body)
		req.Header.Set("X-Signature", signature)
		req.Header.Set("X-Hub-Signature-256", signature)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var u *url.Error // its text has the address, which may hold a secret
		if errors.As(err, &u) {
			err = u.Err
		}
		return true, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
	return again, fmt.Errorf("the webhook answered %s", resp.Status)
}

// Sign is the HMAC-SHA256 of a body, in hexadecimal digits.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
