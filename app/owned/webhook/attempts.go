package webhook

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"rollcall/app"
	"rollcall/app/present"
	"rollcall/app/store/fault"
)

// startDue starts the attempts that are due and returns the time until the next one.
func (s *Sender) startDue(now time.Time) time.Duration {
	var list []*message
	next := restPause
	for _, m := range s.messages {
		if now.Sub(m.At) >= Keep && !m.sending {
			s.cfg.Log.Warn("webhook message dropped: it was not delivered in 24 hours", "session", m.Payload.SessionID, "error", s.lastError)
			s.drop(m)
			s.show()
			continue
		}
		next = min(next, max(Keep-now.Sub(m.At), 0))
		if m.sending || s.closing && !m.last {
			continue
		}
		if left := m.next.Sub(now); left > 0 {
			next = min(next, left)
			continue
		}
		list = append(list, m)
	}
	if len(list) == 0 || s.sending == maxSending {
		return max(next, time.Millisecond)
	}
	to, err := s.cfg.Target()
	if to.URL == "" {
		if err != nil {
			s.lastError = err
		}
		if s.closing {
			s.giveUp(list)
			return time.Millisecond
		}
		return min(next, s.cfg.Pauses[len(s.cfg.Pauses)-1])
	}
	// A new message is sent before one that has failed often.
	slices.SortFunc(list, func(a, b *message) int { return cmp.Or(a.tries-b.tries, a.At.Compare(b.At)) })
	for _, m := range list[:min(len(list), maxSending-s.sending)] {
		m.sending = true
		s.sending++
		s.working.Go(func() {
			status, err := send(s.ctx, s.client, to, &m.Payload)
			select {
			case s.results <- result{m, status, err}:
			case <-s.ctx.Done():
			}
		})
	}
	return max(next, time.Millisecond)
}

// giveUp stores the messages that cannot be sent before Run ends. It drops those that cannot be stored either, since Run
// would wait for them.
func (s *Sender) giveUp(list []*message) {
	s.writing.Succeeded() // tries once more, whatever failed before
	for _, m := range list {
		if s.store(m); m.stored {
			m.last = false
			continue
		}
		s.cfg.Log.Warn("webhook message dropped: it can be neither sent nor stored", "session", m.Payload.SessionID, "error", s.lastError)
		s.drop(m)
	}
	s.show()
}

// tried records the result of an attempt.
func (s *Sender) tried(r result) {
	m := r.message
	m.sending = false
	s.sending--
	if r.err == nil {
		fault.Point("webhook.sent")
	}
	again := r.status == 0 || r.status >= 500 || r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout
	switch {
	case r.err == nil:
		s.drop(m)
	case !again || m.last:
		s.cfg.Log.Warn("webhook message not sent", "session", m.Payload.SessionID, "error", r.err)
		s.drop(m)
	default:
		s.lastError = r.err
		m.next = fault.Now().Add(s.cfg.Pauses[min(m.tries, len(s.cfg.Pauses)-1)])
		if m.tries++; m.tries >= shownFrom {
			s.log(time.Hour, "webhook message not sent yet", "session", m.Payload.SessionID, "attempts", m.tries, "error", r.err)
		}
		s.store(m)
	}
	s.show()
}

func (s *Sender) payload(ctx context.Context, e *app.Event) Payload {
	p := s.payloadOf(ctx, &e.Session)
	p.Timestamp = e.At.UTC()
	if took, ok := e.TurnLength(); ok {
		p.DurationSeconds = int64(took.Seconds())
	}
	return p
}

// payloadOf returns a message with the fields that come from the session.
func (s *Sender) payloadOf(ctx context.Context, x *app.Session) Payload {
	p := Payload{HookType: "session.stopped", SessionID: x.ID, Agent: x.Agent, CWD: x.CWD, Outcome: x.Outcome,
		Summary: present.Cut(present.Line(present.Topic(x.Topic)), summary)}
	if s.cfg.ExitCode != nil {
		p.ExitStatus = s.cfg.ExitCode(ctx, x)
	}
	p.Meta = metaOf(x)
	return p
}
