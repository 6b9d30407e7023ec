package agents

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/internal/pressure"
)

// What must be told: the ends and the waits that were done, each once, by the
// tray's notifications and by `rollcall watch`.

type owedKind string

const (
	endedKind owedKind = "ended"
	waitKind  owedKind = "waiting"
)

const (
	// tellLimit is how soon something must be told; a busy machine gets up to
	// settleMore on top. What comes later is late, and missing after lateLimit.
	tellLimit = 5 * time.Second
	lateLimit = 30 * time.Second
	// seenFor is for how long a session must have been there, for its end to be
	// owed; and a wait must last.
	seenFor = 5 * time.Second
)

// owed is one thing to be told.
type owed struct {
	x        *stormSession
	kind     owedKind
	from, at time.Time // it happened between these
	over     time.Time // when a wait was over; zero: not
	optional string    // why it need not be told; empty: it must
	window   time.Duration
	turn     turn // how the session's last turn ended
	allowed  []string
	grace    time.Duration // for a busy machine
	told     map[string][]telling
}

// telling is a notification, or an event.
type telling struct {
	at      time.Time
	text    string
	kind    owedKind
	mark    string // of the session; empty where it has none in its texts
	id      string
	place   string // the folder's name
	agent   string
	outcome string
	gone    bool // withdrawn or closed
	// mayBeElse: it may be the end of a turn before the terminal was closed, or of a session
	// without a turn. Neither must be told.
	mayBeElse bool
}

// owes notes that something happened that must be told.
func (st *storm) owes(x *stormSession, kind owedKind, from, at time.Time, how turn) {
	st.mu.Lock()
	defer st.mu.Unlock()
	o := &owed{x: x, kind: kind, from: from, at: at, turn: how, window: tellLimit, told: map[string][]telling{}}
	ended := *x
	ended.turn = how
	ended.running = false
	for _, state := range ended.stoppedStates() {
		_, outcome, _ := strings.Cut(state, "/")
		o.allowed = append(o.allowed, outcome)
	}
	for _, state := range x.kind.vague[how] {
		if status, outcome, _ := strings.Cut(state, "/"); status == "stopped" {
			o.allowed = append(o.allowed, outcome)
		}
	}
	// A turn that an earlier process left open did not die again.
	if kind == endedKind && (x.turn == killedOpen || x.turn == cutOpen) {
		o.allowed = []string{"", "interrupted"}
	}
	seen := x.known
	if seen.IsZero() && x.running && x.prompts > 0 && !x.silentNow() && !x.hidden {
		seen = x.since
	}
	switch {
	case kind == waitKind && len(x.kind.vague[how]) > 0:
		o.optional = "the agent does not say that it waits"
	case kind == waitKind:
	case x.turn == noTurn && !x.kind.choosesID && !x.kind.storesEmpty:
		return // a process without a session: nothing is told
	case x.turn == noTurn:
		o.optional = "it had no conversation"
	case x.hidden, x.replaced:
		o.optional = "its process can't be told from one with a new session"
	case x.left: // the daemon finished without a terminal, and unloads it later
		o.window = 100 * time.Second
	case seen.IsZero() || at.Sub(seen) < seenFor+min(pressure.StalledSince(seen), settleMore):
		o.optional = "it was there too briefly"
	}
	st.owed = append(st.owed, o)
	time.AfterFunc(tellLimit+settleMore, func() { // while the pressure of that time is known
		st.mu.Lock()
		defer st.mu.Unlock()
		o.grace = min(pressure.StalledSince(at), settleMore)
	})
}

// mayEnd notes that Codex's daemon will unload an idle session without a terminal.
func (st *storm) mayEnd(x *stormSession, from time.Time) {
	st.owes(x, endedKind, from, time.Now(), x.turn)
	st.mu.Lock()
	defer st.mu.Unlock()
	last := st.owed[len(st.owed)-1]
	last.optional, last.window = "its terminal was closed while it was idle", time.Hour
}

// waitOver notes that the user's answer, or an end, made a wait superfluous.
func (st *storm) waitOver(x *stormSession, at time.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, o := range slices.Backward(st.owed) {
		if o.x == x && o.kind == waitKind && o.over.IsZero() {
			o.over = at
			if o.optional == "" && at.Sub(o.at) < seenFor {
				o.optional = "the wait was brief"
			}
			return
		}
	}
}

// notifications are what the tray told, since the storm began.
func (st *storm) notifications() []telling {
	var out []telling
	for _, n := range st.desktop.Notifications()[st.before:] {
		t := telling{at: n.At, text: n.Summary + " | " + n.Body, mark: markPattern.FindString(n.Body), kind: waitKind,
			gone: !n.Withdraw.IsZero() || !n.Closed.IsZero()}
		name, place, _ := strings.Cut(n.Summary, " in ")
		if strings.HasSuffix(name, " failed") { // a turn, which is owed nothing
			continue
		}
		t.place, t.agent = place, name
		if strings.Contains(name, " ended") || strings.Contains(name, " finished") { // Codex's daemon, without a terminal
			t.kind = endedKind
		}
		for phrase, outcome := range phrases {
			if strings.Contains(strings.ToLower(n.Body), phrase) {
				t.outcome = outcome
			}
		}
		out = append(out, t)
	}
	return out
}

// phrases are how a notification states an outcome.
var phrases = map[string]string{"turn complete": "completed", "stopped by you": "interrupted", "turn failed": "failed", "died in mid-turn": "died"}

// watched are the ends and waits that `rollcall watch` told.
func (st *storm) watched() []telling {
	var out []telling
	for i := range st.events {
		e := &st.events[i]
		s := &e.Session
		process := strings.HasPrefix(s.ID, "process-")
		if s.Parent != "" || process && e.Event != "ended" {
			continue
		}
		t := telling{at: e.at, text: e.Event + " " + s.String(), mark: markOf(s), id: s.ID, place: filepath.Base(s.CWD), outcome: s.Outcome, gone: true}
		if process { // of a run that stores nothing
			t.id, t.agent = "", agentNames[s.Agent]
		}
		switch {
		case e.Event == "ended":
			// watch prints the end of a session without any turn too, which Codex stores when it is left before a prompt.
			t.kind, t.mayBeElse = endedKind, t.mark == "" && s.LastPrompt == "" && s.Outcome == ""
		case s.Status == "waiting" && e.Before != "waiting":
			t.kind = waitKind
		case e.Before == "working" && s.Status != "working" && st.isLeft(&t): // its daemon goes on
			t.kind, t.mayBeElse = endedKind, true
		default:
			continue
		}
		out = append(out, t)
	}
	return out
}

// isLeft reports whether t is of a session that Codex's daemon has without a terminal.
func (st *storm) isLeft(t *telling) bool {
	x := st.sessionOf(t)
	return x != nil && x.left
}

// account is how one channel told what it owed.
type account struct {
	channel                              string
	due, told, optional                  int
	missing, double, strange, late, lies int
	standing                             int // notifications of waits that are over
	unwanted                             int // what the settings forbade
	delays                               []time.Duration
}

// settleAccounts matches what was told with what was owed.
func (st *storm) settleAccounts(channel string, told []telling) *account {
	a := &account{channel: channel}
	for i := range told {
		t := &told[i]
		o := st.creditor(channel, t)
		if o == nil {
			// The turn of a terminal that was closed ends in Codex's daemon, also after the storm.
			if x := st.lostSession(t); x != nil || t.mayBeElse || t.kind == endedKind && st.isLeft(t) {
				continue
			}
			a.strange++
			fmt.Printf("storm: WRONG %s: %s told what did not happen: %q\n", st.since(t.at), channel, t.text)
			if x := st.sessionOf(t); x != nil {
				fmt.Print(st.reproduction(x), st.seenBy(x))
			} else {
				fmt.Print(st.seenAround(t.at))
			}
			continue
		}
		o.told[channel] = append(o.told[channel], *t)
	}
	for _, o := range st.owed {
		if !o.x.lost {
			st.settleOne(a, o)
		}
	}
	slices.Sort(a.delays)
	return a
}

// settleOne judges how one thing was told.
func (st *storm) settleOne(a *account, o *owed) {
	complain := func(format string, args ...any) {
		fmt.Printf("storm: WRONG %s: %s: %s\n", st.since(o.at), a.channel, fmt.Sprintf(format, args...))
		fmt.Print(st.reproduction(o.x), st.seenBy(o.x))
	}
	told := o.told[a.channel]
	switch {
	case len(told) == 0 && o.optional != "":
		a.optional++
		return
	case len(told) == 0:
		a.due++
		a.missing++
		complain("%s of %s not told (%s)", o.kind, o.x.mark, o.turn)
		return
	case len(told) > 1:
		a.double++
		complain("%s of %s told %d times: %q and %q", o.kind, o.x.mark, len(told), told[0].text, told[1].text)
	}
	if o.optional == "" {
		a.due++
	}
	a.told++
	delay := max(0, told[0].at.Sub(o.at))
	if o.window == tellLimit {
		a.delays = append(a.delays, delay)
		if limit := tellLimit + o.grace; delay > limit {
			a.late++
			fmt.Printf("storm: late %s: %s: %s of %s told after %.1f s, not %.1f s\n%s", st.since(o.at), a.channel, o.kind, o.x.mark,
				delay.Seconds(), limit.Seconds(), st.reproduction(o.x))
		}
	}
	if o.kind == endedKind && told[0].outcome != "" && !slices.Contains(o.allowed, told[0].outcome) {
		a.lies++
		complain("end of %s told as %s, not %q: %q", o.x.mark, told[0].outcome, o.allowed, told[0].text)
	}
	if o.kind == waitKind && !o.over.IsZero() && !told[len(told)-1].gone {
		a.standing++
		complain("%s waits no more, and its notification stays", o.x.mark)
	}
}

// creditor is the owed thing that t tells; nil if there is none.
func (st *storm) creditor(channel string, t *telling) *owed {
	var matching []*owed
	for _, o := range st.owed {
		if o.kind == t.kind && o.x.isTold(t) && o.mayBeTold(t.at) {
			matching = append(matching, o)
		}
	}
	slices.SortFunc(matching, func(a, b *owed) int { // the latest, of those that had begun
		return cmp.Or(truth(a.from.After(t.at))-truth(b.from.After(t.at)), b.at.Compare(a.at))
	})
	for _, o := range matching {
		if len(o.told[channel]) == 0 {
			return o
		}
	}
	if len(matching) > 0 {
		return matching[0] // told again
	}
	return nil
}

// truth returns 1 for true.
func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// mayBeTold reports whether something told at that moment can be this.
func (o *owed) mayBeTold(at time.Time) bool {
	if o.kind == waitKind && !o.over.IsZero() && at.Sub(o.over) > tellLimit {
		return false // a wait that is over
	}
	return at.Sub(o.from) > -time.Second && at.Sub(o.at) < max(lateLimit, o.window)
}

func (x *stormSession) isTold(t *telling) bool {
	switch {
	case t.mark != "":
		return t.mark == x.mark
	case t.id != "":
		return t.id == x.id
	}
	return (x.prompts == 0 || x.ephemeral) && x.isOf(t)
}

// isOf reports whether a telling names the folder and the agent of a session.
func (x *stormSession) isOf(t *telling) bool {
	return t.place == filepath.Base(x.folder) && strings.HasPrefix(t.agent, agentNames[x.release.Agent])
}

// agentNames are how notifications call the agents.
var agentNames = map[string]string{"claude-code": "Claude Code", "codex": "Codex", "opencode": "OpenCode", "pi": "Pi", "openclaw": "OpenClaw"}

func (st *storm) sessionOf(t *telling) *stormSession {
	for _, x := range st.sessions {
		if x.isTold(t) {
			return x
		}
	}
	return nil
}

// lostSession is the session of t, if its driver lost it: what became of it is
// not known. It may have taken the command that was to end it for a prompt.
func (st *storm) lostSession(t *telling) *stormSession {
	for _, x := range st.sessions {
		exit := x.kind.exit != "" && t.mark == "" && t.id == "" && strings.Contains(t.text, "| "+x.kind.exit+"\n") && x.isOf(t)
		if x.lost && (x.isTold(t) || exit) {
			return x
		}
	}
	return nil
}

// seenAround is what `rollcall watch` said at about the same time.
func (st *storm) seenAround(at time.Time) string {
	var b strings.Builder
	for i := range st.events {
		if e := &st.events[i]; e.at.Sub(at).Abs() < 3*time.Second {
			fmt.Fprintf(&b, "      watch %s: %s, %s before: %.300s\n", st.since(e.at), e.Event, cmp.Or(e.Before, "nothing"), e.Session.String())
		}
	}
	return b.String()
}

// seenBy is what `rollcall watch` said of a session, and of the processes in its folder.
func (st *storm) seenBy(x *stormSession) string {
	var b strings.Builder
	for i := range st.events {
		e := &st.events[i]
		s := &e.Session
		if (x.id == "" || s.ID != x.id) && markOf(s) != x.mark && (s.CWD != x.folder || e.at.Before(x.began)) {
			continue
		}
		fmt.Fprintf(&b, "      watch %s: %s, %s before: %.300s\n", st.since(e.at), e.Event, cmp.Or(e.Before, "nothing"), s.String())
	}
	return b.String()
}
