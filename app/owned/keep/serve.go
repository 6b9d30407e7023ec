package keep

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"rollcall/app/self/instance"
	"rollcall/proc"
)

// errNotStarter is the answer to a process that asks for the start of a launch that it has not recorded itself: it could have another
// program started in its place. Where the system does not report who asks, only the user is checked.
var errNotStarter = errors.New("a launch can only be started for the process that has recorded it")

func (k *keeper) handle(r *instance.Request) {
	var q request
	if err := json.Unmarshal(r.Line, &q); err != nil {
		_ = r.Answer(answer{Error: "the keeper cannot read the request"})
		return
	}
	if s := q.Start; s != nil && !r.Process.IsZero() && r.Process.Identity != s.Starter {
		r.Refuse(errNotStarter)
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
		k.yields.Set()
		return answer{Status: k.status()}
	}
	return answer{Error: "the keeper does not know this request: it is another version of Rollcall"}
}

func (k *keeper) putOff() {
	k.mu.Lock()
	k.asked = time.Now()
	k.mu.Unlock()
}

// attend sends the status to a process until that process ends.
func (k *keeper) attend(r *instance.Request, webhook *webhookRequest) {
	k.ending.RLock()
	over := k.over
	if !over {
		k.join(r, webhook)
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

func (k *keeper) join(r *instance.Request, webhook *webhookRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.attending = append(k.attending, attendant{r, webhook})
	k.asked = time.Now()
}

func (k *keeper) leave(r *instance.Request) {
	k.mu.Lock()
	k.attending = slices.DeleteFunc(k.attending, func(a attendant) bool { return a.request == r })
	k.mu.Unlock()
	k.wake.Set()
}

// show sends the status to every process that attends: the troubles have changed.
func (k *keeper) show(troubles []string) {
	k.mu.Lock()
	k.shown = troubles
	var list []*instance.Request
	for _, a := range k.attending {
		list = append(list, a.request)
	}
	k.mu.Unlock()
	if len(list) == 0 {
		return
	}
	go func() { // a process that does not read must not block the keeper
		for _, r := range list {
			_ = r.Answer(answer{Status: k.status()})
		}
	}()
}

func (k *keeper) status() *Status {
	kept, _ := k.kept()
	k.mu.Lock()
	defer k.mu.Unlock()
	return &Status{PID: os.Getpid(), Version: k.Version, Since: k.since, Replaced: k.program.Replaced(), Surroundings: k.around, Kept: kept, Troubles: k.shown}
}
