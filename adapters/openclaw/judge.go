package openclaw

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"rollcall/adapters"
)

// view is what one gateway's sessions are judged by.
type view struct {
	target     *target
	hello      *hello
	now        time.Time
	pending    map[string]request // by session key: what waits for the user
	blind      string             // why that could not be seen
	runs       func(key string) (run, bool)
	alive      func(writeLock) bool // may be nil
	ends       *ends                // may be nil
	workspaces map[string]string
}

// request waits for the user.
type request struct {
	what adapters.WaitingFor
	text string
	more int // others of the same session
}

// session makes a session of a row.
func (v *view) session(r *row, id string) adapters.Session {
	d := v.judge(r)
	d.rest(v.now.Sub(r.lastActivity()), r.lastActivity().IsZero())
	s := adapters.Session{
		ID: id, Agent: adapters.OpenClaw, Status: d.status, WaitingFor: d.waiting, Outcome: d.outcome,
		Evidence: d.evidence, Remote: v.target.name, Version: v.hello.version(),
		CWD: first(r.cwd(), v.workspaces[r.agent()]), Model: first(r.ActiveName, r.Model), Title: r.title(),
		StartedAt: r.Created.time(), LastActivityAt: r.lastActivity(),
		Context: adapters.Context{Used: r.Total.count(), Window: r.Window.count()},
	}
	if r.TotalFresh != nil && !*r.TotalFresh {
		s.Context.Used = 0
	}
	return s
}

// restAfter is when a session without a run counts as over. A gateway keeps its
// sessions for ever, and each could be taken up again: as with other agents, those
// that nobody has open are not live.
const restAfter = 24 * time.Hour

// rest makes an idle session, or one of which nothing was heard, a stopped one
// when nothing happened in it for long.
func (d *verdict) rest(age time.Duration, never bool) {
	if never || age < restAfter || d.status != adapters.Idle && d.status != adapters.Unknown {
		return
	}
	d.status = adapters.Stopped
	d.evidence += "; nothing happened in it for " + ago(age) + ", so it counts as over"
}

// version is that of the gateway. 2026.2.26 says "dev" when it wasn't started by npm.
func (h *hello) version() string {
	if h.Server.Version == "dev" || h.Server.Version == "unknown" {
		return ""
	}
	return h.Server.Version
}

// title is the name that the user gave, or what the gateway derived from the first
// words.
func (r *row) title() string {
	derived := said(r.Derived)
	if noTitle.MatchString(derived) {
		derived = ""
	}
	display := strings.TrimSpace(r.Display)
	if _, made, ok := strings.Cut(display, ":g-"); ok && made == strings.ReplaceAll(r.Key, ":", "-") {
		display = "" // of the key (2026.5.18): that is no name
	}
	return first(strings.TrimSpace(r.Label), derived, display)
}

// noTitle is what 2026.2.26 derives from an id and a date while nothing was said.
var noTitle = regexp.MustCompile(`^[0-9a-f]{8} \(\d{4}-\d{2}-\d{2}\)$`)

func (r *row) lastActivity() time.Time {
	last := r.Updated.time()
	for _, n := range []number{r.Started, r.Ended, r.Interaction} {
		if at := n.time(); at.After(last) {
			last = at
		}
	}
	return last
}

// verdict is a status with what goes with it.
type verdict struct {
	status   adapters.Status
	waiting  adapters.WaitingFor
	outcome  adapters.Outcome
	evidence string
}

// judge says what a session does.
func (v *view) judge(r *row) verdict {
	if w, ok := v.pending[r.Key]; ok && (r.Active == nil || *r.Active) {
		return verdict{status: adapters.Waiting, waiting: w.what, evidence: v.says("a run is active and waits: " + w.String())}
	}
	if heard, _ := v.heard(r.Key); v.blind != "" && heard.waits && r.Active != nil && *r.Active {
		return verdict{status: adapters.Waiting, waiting: adapters.ForPermission,
			evidence: v.says("a run is active, and waited for an approval " + ago(v.now.Sub(heard.at)) + " ago")}
	}
	switch {
	case r.stored:
		return v.judgeStored(r)
	case r.Active == nil:
		return v.judgeEvents(r)
	case *r.Active:
		text := "hasActiveRun" + v.since(r.Started, ", since ")
		if v.blind != "" {
			text += "; whether it waits for a permission can't be seen: " + v.blind
		}
		return verdict{status: adapters.Working, evidence: v.says(text)}
	}
	d := verdict{status: adapters.Idle, outcome: r.outcome()}
	switch {
	case r.Status == "running":
		d.evidence = v.says("no active run, though the row still says running")
	case r.Status == "" && !r.Aborted:
		d.evidence = v.says("no active run; how the last one ended is not recorded")
	case d.outcome == "" && r.Status == "timeout":
		d.evidence = v.says("no active run; the last one timed out or was aborted" + v.since(r.Ended, ", "))
		if heard, ok := v.heard(r.Key); ok && !heard.open && heard.outcome == adapters.Interrupted {
			d.outcome = heard.outcome
		}
	default:
		d.evidence = v.says("no active run; the last one: " + plain(first(r.Status, "aborted")) + v.since(r.Ended, ", "))
		if r.RunError != "" && d.outcome == adapters.Failed {
			d.evidence += ": " + plain(r.RunError)
		}
	}
	return d
}

// outcome is how the last run ended.
func (r *row) outcome() adapters.Outcome {
	switch r.Status {
	case "done":
		return adapters.Completed
	case "failed":
		return adapters.Failed
	case "timeout": // also what the user aborted, in a version that names no run (2026.5.18)
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

// judgeEvents judges by the events of an open connection what a gateway (2026.2.26)
// doesn't tell in its list.
func (v *view) judgeEvents(r *row) verdict {
	if d, ok := v.judgeStatus(r); ok {
		return d
	}
	seen, ok := v.heard(r.Key)
	if d, ok := v.judgeLock(r); ok {
		if d.status == adapters.Idle && d.outcome == "" && !seen.open {
			d.outcome = seen.outcome
		}
		return d
	}
	switch {
	case ok && seen.open:
		return verdict{status: adapters.Working, evidence: v.says(fmt.Sprintf("its run began %s ago and no end was told%s",
			ago(v.now.Sub(seen.at)), maybeWaits))}
	case ok:
		return verdict{status: adapters.Idle, outcome: seen.outcome,
			evidence: v.says(fmt.Sprintf("its run ended %s ago", ago(v.now.Sub(seen.at))))}
	}
	return verdict{status: adapters.Unknown,
		evidence: v.says("this OpenClaw doesn't tell whether a run is active, and none began or ended while Rollcall listened")}
}

// heard is what events told of a session's run.
func (v *view) heard(key string) (run, bool) {
	if v.runs == nil {
		return run{}, false
	}
	return v.runs(key)
}

func (v *view) says(text string) string { return "gateway " + v.target.name + ": " + text }

func (v *view) since(n number, before string) string {
	at := n.time()
	if at.IsZero() {
		return ""
	}
	return before + ago(v.now.Sub(at)) + " ago"
}

// ago is a duration in its largest unit.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func (w request) String() string {
	s := "for an answer"
	if w.what == adapters.ForPermission {
		s = "for the permission to run"
	}
	if w.text != "" {
		s += " " + plain(w.text)
	}
	if w.more > 0 {
		s += fmt.Sprintf(", and %d more", w.more)
	}
	return s
}

func anyActive(rows []row) bool {
	for i := range rows {
		if rows[i].Active != nil && *rows[i].Active {
			return true
		}
	}
	return false
}
