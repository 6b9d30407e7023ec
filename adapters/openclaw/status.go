package openclaw

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
)

// gatewayView holds what is needed to derive the status of the sessions of one gateway.
type gatewayView struct {
	target            *target
	hello             *hello
	now               time.Time
	pending           map[string]request // by session key: the request that waits for the user
	whyPendingUnknown string             // why pending requests are not known
	refused           string             // why the sessions were read from the gateway's state folder while it runs
	workspaces        map[string]string
}

// request is a request that waits for the user.
type request struct {
	what adapters.WaitingFor
	text string
	more int // others of the same session
}

// session returns the session for a row.
func (v *gatewayView) session(r *row, id string) adapters.Session {
	d := v.decide(r)
	stopIfQuiet(&d, v.now.Sub(r.lastActivity()), r.lastActivity().IsZero())
	s := adapters.Session{
		ID: id, Agent: Name, Version: v.hello.version(), Model: cmp.Or(r.ActiveName, r.Model),
		State: d,
		Place: adapters.Place{Remote: v.target.name, Home: v.target.stateDir, CWD: cmp.Or(r.cwd(), v.workspaces[r.agent()])},
		Topic: adapters.Topic{Title: r.title()},
		Spent: adapters.Spent{Context: adapters.Context{Used: r.Total.count(), Window: r.Window.count()}},
		Times: adapters.Times{StartedAt: r.Created.time(), LastActivityAt: r.lastActivity()},
	}
	if r.TotalFresh != nil && !*r.TotalFresh {
		s.Context.Used = 0
	}
	return s
}

// quietLimit is the time after which a session without a run counts as stopped. A gateway keeps
// its sessions forever, and each could be continued; like those of other agents, a session that
// is not open is not live.
const quietLimit = 24 * time.Hour

// stopIfQuiet turns the state of an idle or unknown session into stopped when nothing
// happened in it for quietLimit. never reports that the time of its last activity is
// not known.
func stopIfQuiet(d *adapters.State, age time.Duration, never bool) {
	if never || age < quietLimit || d.Status != adapters.Idle && d.Status != adapters.Unknown {
		return
	}
	d.Status = adapters.Stopped
	d.Evidence += "; no activity for " + kit.Span(age) + ", so it counts as stopped"
}

// version returns the version of the gateway, or "".
func (h *hello) version() string {
	if h.Server.Version == "unknown" {
		return ""
	}
	return h.Server.Version
}

// title returns the name that the user gave, or the one that the gateway derived from
// the first words.
func (r *row) title() string {
	display := strings.TrimSpace(r.Display)
	if _, made, ok := strings.Cut(display, ":g-"); ok && made == strings.ReplaceAll(r.Key, ":", "-") {
		display = "" // derived from the key (2026.5.18), so not a name
	}
	return cmp.Or(strings.TrimSpace(r.Label), userText(r.Derived), display)
}

func (r *row) lastActivity() time.Time {
	last := r.Updated.time()
	for _, n := range []number{r.Started, r.Ended, r.Interaction} {
		if at := n.time(); at.After(last) {
			last = at
		}
	}
	return last
}

// decide returns the state of a session.
func (v *gatewayView) decide(r *row) adapters.State {
	if w, ok := v.pending[r.Key]; ok && r.isActive() {
		return kit.Waiting(w.what, v.says("a run is active and waits: "+w.String()))
	}
	switch {
	case r.stored:
		return v.decideStored(r)
	case r.Active == nil && r.outcome() == "":
		return kit.Unknown(v.says("OpenClaw " + cmp.Or(v.hello.version(), "of this version") + " does not report whether a run is active; 2026.6 and later do"))
	case r.Active == nil:
		return kit.Idle(r.outcome(), v.says("the last run: "+oneLine(cmp.Or(r.Status, "aborted"))+v.since(r.Ended, ", ")))
	case r.isActive():
		text := "hasActiveRun" + v.since(r.Started, ", since ")
		if v.whyPendingUnknown != "" {
			text += "; whether it waits for a permission can't be seen: " + v.whyPendingUnknown
		}
		return kit.Working(v.says(text))
	}
	d := adapters.State{Status: adapters.Idle, Outcome: r.outcome()}
	switch {
	case r.Status == "running":
		d.Evidence = v.says("no active run, though the row still says running")
	case r.Status == "" && !r.Aborted:
		d.Evidence = v.says("no active run; how the last one ended is not recorded")
	case d.Outcome == "" && r.Status == "timeout":
		d.Evidence = v.says("no active run; the last one timed out or was aborted" + v.since(r.Ended, ", "))
	default:
		d.Evidence = v.says("no active run; the last one: " + oneLine(cmp.Or(r.Status, "aborted")) + v.since(r.Ended, ", "))
		if r.RunError != "" && d.Outcome == adapters.Failed {
			d.Evidence += ": " + oneLine(r.RunError)
		}
	}
	return d
}

// outcome returns how the last run ended.
func (r *row) outcome() adapters.Outcome {
	switch r.Status {
	case "done":
		return adapters.Completed
	case "failed":
		return adapters.Failed
	case "timeout": // also for a run that the user aborted, in a version that names no run (2026.5.18)
		if r.RunID != "" {
			return adapters.Failed
		}
	case "killed":
		return adapters.Interrupted
	case "":
		if r.Aborted {
			return adapters.Interrupted
		}
	}
	return ""
}

func (v *gatewayView) says(text string) string { return "gateway " + v.target.name + ": " + text }

func (v *gatewayView) since(n number, before string) string {
	at := n.time()
	if at.IsZero() {
		return ""
	}
	return before + kit.Span(v.now.Sub(at)) + " ago"
}

func (w request) String() string {
	s := "for an answer"
	if w.what == adapters.ForPermission {
		s = "for the permission to run"
	}
	if w.text != "" {
		s += " " + oneLine(w.text)
	}
	if w.more > 0 {
		s += fmt.Sprintf(", and %d more", w.more)
	}
	return s
}

// isActive reports whether the gateway says that a run of the session is active.
func (r row) isActive() bool { return r.Active != nil && *r.Active }
