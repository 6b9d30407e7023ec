package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/machine"
	"rollcall/app/present"
	"rollcall/proc"
)

// The events of watch --snapshot that other calls of watch do not print.
const (
	streamHello     = "hello"     // the first line: version and host of the writer
	streamSession   = "session"   // a row is new or has changed
	streamRemoved   = "removed"   // a row was removed
	streamAdapter   = "adapter"   // how an adapter answered is new or has changed
	streamRoll      = "roll"      // every adapter has answered or failed: the rows so far are complete
	streamHeartbeat = "heartbeat" // nothing happened; the writer still runs
)

// streamOptions are the flags of watch that make a stream for another Rollcall.
type streamOptions struct {
	snapshot     bool
	endWithStdin bool
	heartbeat    time.Duration
	sinceFlag    string
	since        time.Duration
}

// flags adds the flags.
func (o *streamOptions) flags(cmd *cobra.Command) {
	o.heartbeat = 15 * time.Second
	command(cmd,
		withFlag(&o.snapshot, "snapshot", "with --json: begin with all sessions, then print each change"),
		withFlag(&o.sinceFlag, "since", "with --snapshot: also print stopped sessions, how far back: 12h, 7d, 4w, all"),
		withFlag(&o.heartbeat, "heartbeat", "with --snapshot: how often a heartbeat is printed, from 1s to 10m"),
		withFlag(&o.endWithStdin, "end-with-stdin", "end when the standard input is closed"),
	)
}

// check returns an error for flags that contradict each other or need another flag. It also sets since.
func (o *streamOptions) check(asJSON bool) (err error) {
	switch {
	case o.snapshot && !asJSON:
		return usageError("--snapshot needs --json")
	case !o.snapshot && o.sinceFlag != "":
		return usageError("--since needs --snapshot: without it watch prints only what happens from now on")
	case o.heartbeat < time.Second || o.heartbeat > 10*time.Minute:
		return usageError("--heartbeat must be from 1s to 10m, not %s", o.heartbeat)
	case o.sinceFlag != "":
		o.since, err = parseSince(o.sinceFlag)
	}
	return err
}

// streamTo prints all sessions, and then each change, until ctx is done. An event is printed before the rows that changed with it.
func (c *watchCommand) streamTo(ctx context.Context, core *app.Core, events *app.Events, emit func(eventJSON)) {
	host, _ := os.Hostname()
	hello := streamLine(streamHello)
	hello.Hello = &machine.HelloJSON{Version: c.deps.Version.Version, Host: host, Heartbeat: int(c.stream.heartbeat / time.Second)}
	emit(hello)
	changed := app.NewWakeup()
	changed.Set()
	defer core.Subscribe(func(*app.Snapshot) { changed.Set() })()
	beat := time.NewTicker(c.stream.heartbeat)
	defer beat.Stop()
	s := newStreamState()
	drained, cancel := context.WithCancel(ctx)
	cancel() // so that Next returns queued events and never waits
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			emit(streamLine(streamHeartbeat))
			continue
		case <-changed:
		}
		snap := core.Snapshot()
		for e, err := events.Next(drained); err == nil; e, err = events.Next(drained) {
			emit(streamEvent(&e))
		}
		for _, l := range s.changes(snap) {
			emit(l)
		}
	}
}

func streamLine(event string) eventJSON {
	return eventJSON{Schema: schema, Event: event, At: timestamp(time.Now())}
}

// streamEvent returns the line of an event. Unlike the line of a plain watch, it contains the whole session as it was before the event.
func streamEvent(e *app.Event) eventJSON {
	s := streamedSession(&e.Session)
	j := eventAsJSON(e)
	j.Session, j.Process = &s, processKey(e.Process)
	if e.Before.ID != "" {
		was := streamedSession(&e.Before)
		j.Was = &was
	}
	return j
}

// processKey returns a text that identifies a process among all processes of a machine; empty for a zero p.
func processKey(p proc.Identity) string {
	if p.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d-%d-%s", p.PID, p.Start, p.Boot)
}

// streamedSession returns a session with its long texts cut, so that a line stays short.
func streamedSession(s *app.Session) machine.SessionJSON {
	j := sessionAsJSON(s)
	for _, text := range []*string{&j.FirstPrompt, &j.LastPrompt, &j.Doing, &j.Title, &j.Evidence, &j.CWD, &j.Branch, &j.Model} {
		*text = present.Head(*text)
	}
	return j
}

// streamState holds what a stream has reported so far.
type streamState struct {
	list     []app.Session // of the last snapshot
	sessions map[machine.RemovedJSON][]byte
	adapters map[adapters.Name]machine.AdapterJSON
	rolled   bool
}

func newStreamState() *streamState {
	return &streamState{sessions: map[machine.RemovedJSON][]byte{}, adapters: map[adapters.Name]machine.AdapterJSON{}}
}

// changes returns the lines for the differences between snap and what was reported before.
func (s *streamState) changes(snap *app.Snapshot) []eventJSON {
	var out []eventJSON
	if list := snap.Sessions(); !sameList(s.list, list) {
		out = s.sessionLines(list)
		s.list = list
	}
	out = append(out, s.adapterLines(snap)...) // after the lines of its sessions: an agent that has answered has all of them reported
	if !s.rolled && !snap.Refreshing && len(s.adapters) == len(snap.Adapters) {
		s.rolled = true
		out = append(out, streamLine(streamRoll))
	}
	return out
}

// sameList reports whether a and b are the same list. Snapshots share a list that has not changed.
func sameList(a, b []app.Session) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (s *streamState) sessionLines(list []app.Session) (out []eventJSON) {
	listed := make(map[machine.RemovedJSON]bool, len(list))
	for i := range list {
		x := streamedSession(&list[i])
		key := machine.RemovedJSON{Agent: x.Agent, ID: x.ID}
		listed[key] = true
		text, err := json.Marshal(x)
		if err == nil && bytes.Equal(text, s.sessions[key]) {
			continue
		}
		s.sessions[key] = text
		l := streamLine(streamSession)
		l.Session = &x
		out = append(out, l)
	}
	for key := range s.sessions {
		if !listed[key] {
			delete(s.sessions, key)
			l := streamLine(streamRemoved)
			l.Removed = &key
			out = append(out, l)
		}
	}
	return out
}

func (s *streamState) adapterLines(snap *app.Snapshot) (out []eventJSON) {
	for _, h := range snap.Adapters {
		if h.State == app.Pending {
			continue
		}
		a := adapterAsJSON(&h)
		a.LookedIn, a.ElapsedMS = nil, 0
		before, said := s.adapters[h.Name]
		if said && before.State == a.State && before.Error == a.Error {
			continue
		}
		s.adapters[h.Name] = a
		l := streamLine(streamAdapter)
		l.Adapter = &a
		out = append(out, l)
	}
	return out
}
