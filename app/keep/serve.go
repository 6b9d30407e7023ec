package keep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"time"

	"rollcall/app/instance"
	"rollcall/app/settings"
	"rollcall/proc"
)

// handle answers one request.
func (k *keeper) handle(r *instance.Request) {
	var q request
	if err := json.Unmarshal(r.Line, &q); err != nil {
		_ = r.Answer(answer{Error: "the keeper does not understand what is asked of it"})
		return
	}
	if q.Verb == verbAttend {
		k.attend(r, q.Webhook)
		return
	}
	k.ending.RLock()
	defer k.ending.RUnlock()
	_ = r.Answer(k.answer(&q))
}

// answer carries out a request. The caller holds k.ending.
func (k *keeper) answer(q *request) answer {
	if k.over {
		return answer{Ending: true}
	}
	switch q.Verb {
	case verbStatus:
		return answer{Status: k.status()}
	case verbHold:
		k.putOff()
		return answer{Status: k.status()}
	case verbStart:
		if q.Start == nil {
			break
		}
		k.putOff()
		start := func(c proc.Command) (*proc.Child, error) { return startWithUmask(c, q.Start.Umask) }
		pid, err := k.launched.Start(context.Background(), q.Start.ID, q.Start.Starter, q.Start.command(), start)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{PID: pid}
	case verbYield:
		select {
		case k.yields <- struct{}{}:
		default:
		}
		return answer{Status: k.status()}
	}
	return answer{Error: "the keeper does not know what is asked of it: it is another version"}
}

// putOff puts off the end of the keeper.
func (k *keeper) putOff() {
	k.mu.Lock()
	k.asked = time.Now()
	k.mu.Unlock()
}

// attend sends the status to a process until that process ends.
func (k *keeper) attend(r *instance.Request, webhook string) {
	k.ending.RLock()
	over := k.over || k.isOutdated(webhook)
	if !over {
		k.join(r, webhook != "")
		_ = r.Answer(answer{Status: k.status()})
	}
	k.ending.RUnlock()
	if over {
		_ = r.Answer(answer{Ending: true})
		return
	}
	r.Hold()
	k.leave(r)
}

// isOutdated makes way for a keeper with the webhook of a process that attends, if nobody else has this one's.
func (k *keeper) isOutdated(webhook string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if webhook == "" || webhook == WebhookID(k.Webhook) || k.webhooks > 0 {
		return false
	}
	select {
	case k.yields <- struct{}{}:
	default:
	}
	return true
}

// WebhookID tells webhooks apart. It is empty if there is none.
func WebhookID(w settings.Webhook) string {
	if w.URL == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(w.URL + "\x00" + w.Secret))
	return hex.EncodeToString(sum[:8])
}

func (k *keeper) join(r *instance.Request, webhook bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	webhook = webhook && k.Webhook.URL != ""
	k.attending[r] = webhook
	k.asked = time.Now()
	if webhook {
		k.webhooks++
	}
}

func (k *keeper) leave(r *instance.Request) {
	k.mu.Lock()
	if k.attending[r] {
		k.webhooks--
	}
	delete(k.attending, r)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// show sends the status to every process that attends: the troubles have changed.
func (k *keeper) show(troubles []string) {
	k.mu.Lock()
	k.shown = troubles
	var list []*instance.Request
	for r := range k.attending {
		list = append(list, r)
	}
	k.mu.Unlock()
	if len(list) == 0 {
		return
	}
	go func() { // a process that does not read must not hold up the keeper
		for _, r := range list {
			_ = r.Answer(answer{Status: k.status()})
		}
	}()
}

func (k *keeper) status() *Status {
	kept, _ := k.kept()
	k.mu.Lock()
	defer k.mu.Unlock()
	return &Status{PID: os.Getpid(), Version: k.Version, Since: k.since, Replaced: k.program.replaced(), Kept: kept, Troubles: k.shown}
}
