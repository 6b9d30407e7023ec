package harness

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/pressure"
)

// relaxed returns the agents whose stores are damaged: what is shown of them is not
// compared.
func (t *harness) relaxed(name string) bool { return t.script.frozen[adapters.Name(name)] }

// wantedRows returns how the row of a live session may begin: a request whose text is known is shown with it,
// and where it is long without the agent's name.
func (t *harness) wantedRows(x *life) []string {
	truth, _ := t.truth(x)
	mark := map[adapters.Status]string{adapters.Waiting: "◆ ", adapters.Working: "◐ ", adapters.Idle: "○ "}[truth.Status]
	begin := mark + x.project + " · " + agentNames[x.Agent] + " · "
	rows := []string{begin}
	switch truth.WaitingFor {
	case adapters.ForPermission:
		rows = []string{begin + "needs permission", mark + x.project + " · needs permission", begin + "wants to run: ", mark + x.project + " · wants to run: "}
	case adapters.ForQuestion:
		rows = []string{begin + "asks you", mark + x.project + " · asks you"}
	}
	if x.Agent == gemini && t.hidden(x) != nil && truth.Status == adapters.Waiting {
		rows = append(rows, "○ "+x.project+" · "+agentNames[x.Agent]+" · ")
	}
	if x.IsSuspended() {
		words := map[bool]string{true: ", suspended", false: "suspended"}[truth.Status == adapters.Waiting]
		for i := range rows {
			rows[i] += words
		}
	}
	if t.gaveUp(x) {
		rows = append(rows, "◐ "+x.project+" · ", "○ "+x.project+" · ", "? "+x.project+" · ")
	}
	if t.mayBeUnknown(x) {
		rows = append(rows, "? "+x.project+" · ")
	}
	return rows
}

// wrongRows compares the rows of the menu with the truth; empty: they are right.
func (t *harness) wrongRows(rows []string) (wrong []string) {
	rest := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return !strings.ContainsAny(row[:min(4, len(row))], "◆◐○?⚠") })
	for _, troop := range t.script.troops {
		name := troop.agent.Name()
		if t.relaxed(string(name)) {
			rest = slices.DeleteFunc(rest, func(row string) bool {
				return strings.Contains(row, " · "+agentNames[name]+" · ") || strings.HasPrefix(row, "⚠ "+agentNames[name]+":")
			})
			continue
		}
		for _, x := range troop.live {
			want := t.wantedRows(x)
			i := slices.IndexFunc(rest, func(row string) bool {
				return slices.ContainsFunc(want, func(begin string) bool { return strings.HasPrefix(row, begin) }) && strings.Contains(row, "suspended") == x.IsSuspended() &&
					!strings.Contains(row, " · seen ") && !strings.Contains(row, "open, no session yet")
			})
			if i < 0 {
				wrong = append(wrong, fmt.Sprintf("no row %q (session %s)", want, x.ID))
				t.suspect = x
				continue
			}
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, row := range rest {
		if !t.diskFull || !strings.HasPrefix(row, "⚠ Rollcall:") {
			wrong = append(wrong, fmt.Sprintf("row %q, which nothing explains", row))
		}
	}
	return wrong
}

// wrongList compares what list --all --json prints with the truth.
func (t *harness) wrongList(l listed) (wrong []string) {
	late, truth := map[string]bool{}, map[string]*life{}
	for _, x := range t.script.lives() {
		truth[string(x.Agent)+" "+x.ID] = x
	}
	for _, a := range l.Adapters {
		if t.isLate(a.Error) {
			late[a.Name] = true
			continue
		}
		if !t.relaxed(a.Name) && (a.State != "ok" || a.Error != "") && t.installed(a.Name) {
			wrong = append(wrong, fmt.Sprintf("%s is %s: %s", a.Name, a.State, a.Error))
		}
	}
	for i := range l.Sessions {
		r := &l.Sessions[i]
		key := r.Agent + " " + r.ID
		x := truth[key]
		delete(truth, key)
		if late[r.Agent] || t.relaxed(r.Agent) || x != nil && t.script.shared(x) || x == nil && t.script.share && strings.HasPrefix(r.ID, "process-") {
			continue
		}
		if problem := t.wrongRow(x, r); problem != "" {
			wrong = append(wrong, key+" "+problem+": "+r.Evidence)
			t.suspect = x
		}
	}
	for key, x := range truth {
		if !late[string(x.Agent)] && !t.relaxed(string(x.Agent)) && !t.script.shared(x) {
			wrong = append(wrong, fmt.Sprintf("%s (%s) is missing", key, x.Truth()))
			t.suspect = x
		}
	}
	return wrong
}

// isLate reports whether an adapter says that it did not answer in time while the programs of this machine wait most of the time for a
// processor. Each such answer is counted.
func (t *harness) isLate(problem string) bool {
	late := t.real && strings.Contains(problem, "no answer") && pressure.StalledSince(time.Now().Add(-stalledFor)) > stalledFor*3/4
	if late {
		t.lates++
	}
	return late
}

// stalledFor is how long an answer takes that comes too late.
const stalledFor = 6 * time.Second

// identifiers are what differs between two cases of the same kind.
var identifiers = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]+|ses_\w+|\d+`)

// ages are for how long, and how long ago, something was: they grow between two answers.
var ages = regexp.MustCompile(`\b(for )?\d+(\.\d+)? (ms|s|min|h|days?)( ago)?\b|just now`)

// countUnknown books what a list does not know of the agents whose stores are whole.
func (t *harness) countUnknown(l listed) {
	for _, r := range l.Sessions {
		if r.Status != string(adapters.Unknown) || t.relaxed(r.Agent) {
			continue
		}
		t.bookUnknown(&r)
	}
}

// bookUnknown books a row with the reason that it gives.
func (t *harness) bookUnknown(r *row) {
	reason := r.Agent + ": " + ages.ReplaceAllString(identifiers.ReplaceAllString(r.Evidence, "…"), "…")
	if t.unknown[reason] == nil {
		t.unknown[reason] = map[string]bool{}
	}
	t.unknown[reason][r.ID] = true
}

// wrongRow compares a session of the list with the truth, nil: there is none; empty: it is right.
func (t *harness) wrongRow(x *life, r *row) string {
	got := scene.Truth{Status: adapters.Status(r.Status), WaitingFor: adapters.WaitingFor(r.WaitingFor), Outcome: adapters.Outcome(r.Outcome)}
	want := scene.Truth{}
	if x != nil {
		want = t.wanted(x, got)
	}
	if t.needNotBeKnown(x, got, want, r) {
		return ""
	}
	switch {
	case x == nil && r.Launch != nil && got.Status == adapters.Stopped && t.launched[r.CWD] != nil && t.launched[r.CWD].over:
		return "" // A launch stays listed until its record goes, also where its agent has nothing of it.
	case x == nil:
		return fmt.Sprintf("(%s, process %d, in %s) isn't there", got, r.PID, r.CWD)
	case got != want, r.Suspended != x.IsSuspended(), r.Stale != nil:
		_, why := t.outside(x)
		return fmt.Sprintf("is %s, suspended %v, want %s, suspended %v; %s", got, r.Suspended, want, x.IsSuspended(), why)
	case want.Status != adapters.Stopped && !x.Remote && r.PID != x.Process.PID:
		return fmt.Sprintf("has process %d, want %d", r.PID, x.Process.PID)
	case t.machine != nil && want.Status != adapters.Stopped && !x.Remote && r.Host != t.host(x):
		return fmt.Sprintf("has the host %q, want %q", r.Host, t.host(x))
	case t.lacksDecision(x, r):
		return "has a plan for the user's decision on its screen, which the row does not say"
	case x.hook != "" && want.Status != adapters.Stopped && r.Launch == nil:
		return "is not shown as launched by Rollcall"
	}
	return t.falseAlarm(x, r)
}

// needNotBeKnown reports whether a row differs from the truth in what no file, process or title tells.
func (t *harness) needNotBeKnown(x *life, got, want scene.Truth, r *row) bool {
	switch {
	case t.script.share && (got.Status == adapters.Unknown || r.PID == 0 && x != nil && got == want):
		return true // of a session in a folder that another one had
	case x == nil:
		return false
	case t.real && t.hidesEnd(x, got, r), t.mayHaveFailed(x, got, want), got.Status == adapters.Unknown && t.mayBeUnknown(x):
		return true
	}
	asks := t.mayAsk(x, r) || t.mayHaveAsked(x, r)
	if asks {
		t.bookUnknown(r)
	}
	return asks
}

// wanted returns what the list must say of a session that it shows as got.
func (t *harness) wanted(x *life, got scene.Truth) scene.Truth {
	want, known := t.truth(x)
	if !known || x.Agent == gemini && want.Status == adapters.Idle && got.Outcome == "" {
		want.Outcome = got.Outcome // Gemini CLI does not record whether it answered or asks for something
	}
	return want
}

// host returns the program in which a session runs. A Claude Code that was started with -p, as Rollcall launches it, has a script as its host.
func (t *harness) host(x *life) string {
	host := t.machine.host(x.Process.PID)
	if host == "" && x.Agent == agentname.ClaudeCode {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", x.Process.PID))
		if strings.Contains(string(line), "\x00-p\x00") {
			return "a script"
		}
	}
	return host
}

// mayBeUnknown reports whether a session says of some turns neither in a file nor in a title what it does: a real one of oh-my-pi, one of Qwen Code
// without a title, whose prompt may have been taken back before the first word, and one of Gemini CLI in another folder than the process that hosts it: no file names
// that process. Each such row is counted with its reason.
func (t *harness) mayBeUnknown(x *life) bool {
	shared, _ := t.witnesses[x.Session].(*sharedAgent)
	if t.real {
		return x.Agent == omp || shared != nil && (x.Agent == qwen || shared.isForeign(x.Session)) || x.Agent == qwen && t.hidden(x) != nil
	}
	return x.Agent == qwen && time.Since(x.wrote) > firstWordWithin
}

// firstWordWithin is after how long without a word it is not known of Qwen Code whether its user took the prompt back.
const firstWordWithin = 20 * time.Second

// hidesEnd reports whether a row differs from the truth only in how the last turn ended, which the real agent does not record.
func (t *harness) hidesEnd(x *life, got scene.Truth, r *row) bool {
	truth := x.Truth()
	switch {
	case got.Status != adapters.Stopped || truth.Status != adapters.Stopped:
		return false
	case x.Agent == qwen && t.hidden(x) != nil: // a prompt that was taken back is no turn that died
		return truth.Outcome == adapters.Died && got.Outcome == ""
	case x.Agent == qwen: // no file tells whether the last prompt was taken back, or waited for its first word
		return truth.Outcome == "" && got.Outcome == adapters.Died || truth.Outcome == adapters.Died && got.Outcome == ""
	}
	return x.Agent == cline && got.Outcome == "" && strings.Contains(r.Evidence, "a hub found") // it marks sessions whose process was killed, in a turn or not
}

// installed reports whether an agent has begun a session.
func (t *harness) installed(name string) bool {
	return slices.ContainsFunc(t.script.lives(), func(x *life) bool { return string(x.Agent) == name })
}

// hear books the notifications that have come. What can't be explained is a
// difference.
func (t *harness) hear() {
	t.Helper()
	for _, n := range t.desktop.news() {
		if strings.Contains(n.title, "while Rollcall was off") {
			t.hearMissed(n)
			continue
		}
		if strings.HasSuffix(n.title, " sessions need you") { // what waited while it was not to disturb
			for line := range strings.Lines(n.body) {
				who, _, _ := strings.Cut(line, ": ")
				x := t.told(n, who)
				if x == nil {
					continue
				}
				x.shown = append(x.shown, n)
				t.book(x, n, &x.waits, "waits")
			}
			continue
		}
		if strings.Contains(n.title, " ended with ") { // the process of several
			t.hearTogether(n)
			continue
		}
		x := t.told(n, n.title)
		if x == nil {
			continue
		}
		if strings.HasPrefix(n.title, agentNames[x.Agent]+" failed in ") { // a turn; the session goes on
			continue
		}
		mayAsk := strings.HasPrefix(n.title, agentNames[x.Agent]+" answered, or asks you in ") || strings.HasPrefix(n.title, agentNames[x.Agent]+" may ask you in ")
		if x.Agent == gemini && mayAsk && x.Truth().Status != adapters.Waiting {
			continue // it does not record which
		}
		kind, of := &x.waits, "waits"
		switch {
		case strings.HasPrefix(n.title, agentNames[x.Agent]+" has a plan for your decision"):
		case t.hidden(x) != nil && mayAsk:
			x.excused = true // it stays: it is a reply, too
		case strings.HasPrefix(n.title, agentNames[x.Agent]+" ended"):
			kind, of = &x.ends, "ends"
			t.hearOutcome(x, n)
		case strings.HasPrefix(n.title, agentNames[x.Agent]+" needs permission"), strings.HasPrefix(n.title, agentNames[x.Agent]+" asks you"),
			mayAsk, strings.HasPrefix(n.title, agentNames[x.Agent]+" wants to run a command"):
			x.shown = append(x.shown, n)
		default:
			t.differs(x, "a notification that nothing explains: %q %q", n.title, n.body)
		}
		t.book(x, n, kind, of)
	}
}

// hearTogether books the ends of the sessions of one process, a line each, as "PROJECT: turn complete".
func (t *harness) hearTogether(n *notice) {
	t.Helper()
	for line := range strings.Lines(n.body) {
		project, how, _ := strings.Cut(strings.TrimSpace(line), ": ")
		x := t.byProject(project)
		if x == nil {
			t.differs(nil, "a notification of no session: %q %q", n.title, n.body)
			continue
		}
		one := *n
		one.body = how
		t.hearOutcome(x, &one)
		t.book(x, n, &x.ends, "ends")
	}
}

// told returns the session that a notification names, as "Codex needs permission in PROJECT" does.
func (t *harness) told(n *notice, text string) *life {
	t.Helper()
	_, project, _ := strings.Cut(text, " in ")
	x := t.byProject(project)
	if x == nil {
		t.differs(nil, "a notification of no session: %q %q", n.title, n.body)
	}
	return x
}

// book counts what a notification tells.
func (t *harness) book(x *life, n *notice, kind *account, of string) {
	t.Helper()
	if t.forbids(of, x) && n.at.After(t.obeyedFrom) {
		t.differs(x, "told although the settings forbid it: %q %q", n.title, n.body)
	}
	if n.update { // its text or its buttons have become known
		return
	}
	if kind.told++; kind.told > kind.may {
		t.differs(x, "told %d times, which happened %d times: %q %q", kind.told, kind.may, n.title, n.body)
	}
}

// hearOutcome compares how an end is told with how it was.
func (t *harness) hearOutcome(x *life, n *notice) {
	t.Helper()
	said := strings.ToLower(n.body)
	if x.gaveUp {
		return
	}
	died, completed := strings.Contains(said, "died in mid-turn"), strings.Contains(said, "turn complete")
	if truth := x.Truth(); truth.Status == adapters.Stopped && x.ends.may == 1 &&
		(died && truth.Outcome == adapters.Completed || completed && truth.Outcome == adapters.Died) {
		t.differs(x, "its end is told as %q", n.body)
	}
}

// hearMissed books the summary of the launches that ended while no tray ran.
func (t *harness) hearMissed(n *notice) {
	t.Helper()
	for line := range strings.Lines(n.body) {
		_, rest, found := strings.Cut(strings.TrimSpace(line), " in ")
		project, _, _ := strings.Cut(rest, ":")
		x := t.byProject(project)
		switch {
		case strings.HasPrefix(line, "and "): // more than are listed: each of them
			for _, l := range t.launched {
				l.life.ends.told = max(l.life.ends.told, l.life.ends.due)
			}
		case !found || x == nil:
			t.differs(nil, "missed, and no session: %q in %q", line, n.body)
		default:
			if x.ends.told++; x.ends.told > x.ends.may {
				t.differs(x, "its end is told again: %q", n.body)
			}
		}
	}
}

func (t *harness) byProject(project string) *life {
	for _, list := range [][]*life{t.script.lives(), t.forgotten} {
		for _, x := range list {
			if x.project == project {
				return x
			}
		}
	}
	return nil
}

// untold returns what must have been told by now, and what must have left the screen.
func (t *harness) untold() (wrong []string) {
	t.hear()
	for _, x := range append(t.script.lives(), t.forgotten...) {
		shared, _ := t.witnesses[x.Session].(*sharedAgent)
		if x.ends.told < x.ends.due && !t.forbids("ends", x) && (shared == nil || !shared.isForeign(x.Session)) {
			wrong = append(wrong, fmt.Sprintf("the end of %s (%s) is not told", x.ID, x.project))
			t.suspect = x
		}
		if problem := t.wrongScreen(x); problem != "" {
			wrong = append(wrong, fmt.Sprintf("%s (%s) %s", x.ID, x.project, problem))
			t.suspect = x
		}
	}
	return wrong
}

// wrongScreen compares what the screen says of a session's wait with the truth;
// empty: it is right. Of a wait from before the tray was there nothing is told; but
// one that was told stays on the screen until it is over, whatever happens to the
// tray and to who shows notifications. A wait that follows another between two
// comparisons goes with that one: the tray may have seen nothing but one wait.
func (t *harness) wrongScreen(x *life) string {
	if t.relaxed(string(x.Agent)) {
		return ""
	}
	began := x.asked
	if !x.unbroken.IsZero() {
		began = x.unbroken
	}
	switch on := slices.ContainsFunc(x.shown, t.desktop.onScreen); {
	case x.asked.IsZero() && on:
		return "waits no more, and its notification stays"
	case x.asked.IsZero(), t.forbids("waits", x), x.excused:
	case on:
		x.told = true
	case x.told:
		return "waits, which was told, and its notification is gone"
	case !t.trayReady.IsZero() && began.After(t.trayReady):
		return "waits, and it is not told"
	}
	return ""
}

// isKnown reports whether a difference has been counted.
func (t *harness) isKnown(text string) bool { return t.counts && t.found[about(text)] != "" }

// until waits until nothing is wrong. limit is for an idle machine.
func (t *harness) until(what string, limit time.Duration, wrong func() []string) time.Duration {
	t.Helper()
	begun := time.Now()
	t.script.note("compares: %s", what)
	for {
		list := slices.DeleteFunc(wrong(), t.isKnown)
		took := time.Since(begun)
		switch {
		case len(list) == 0:
			return took
		case limit == 0, took > limit+min(pressure.StalledSince(begun), mostStalled):
			if !t.counts {
				t.differs(t.suspect, "%s, %v after the last step: %s", what, took.Round(time.Millisecond), strings.Join(list, "\n      "))
			}
			for _, one := range list {
				t.count(nil, one)
			}
			return took
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// settle waits until the tray shows the truth, and compares everything with it.
func (t *harness) settle() {
	t.Helper()
	t.rounds++
	t.suspect = nil
	t.script.untilSeen()
	if t.trayUp {
		t.timed("menu", t.settleMenu)
	}
	limit := time.Duration(0)
	if t.real { // an agent shows its answer up to a second before it stores it
		limit = realLimit
	}
	t.timed("listings", func() { t.compareListings(false) })
	t.timed("list", func() {
		t.until("the list is wrong", limit+t.late(), func() []string {
			l := t.rollcall.list()
			t.countUnknown(l)
			return t.wrongList(l)
		})
	})
	if t.trayUp {
		t.timed("screen", func() { t.until("untold", tellLimit+t.late(), t.untold) })
		if t.trayReady.IsZero() {
			t.trayReady = time.Now()
		}
	}
	if t.trayUp && !t.diskFull {
		t.timed("files", func() { t.until("Rollcall's own files are wrong", keptLimit, t.kept) })
	}
	for _, x := range t.script.lives() {
		if x.asked.IsZero() || x.unbroken.IsZero() {
			x.unbroken = x.asked
		}
	}
	t.forgotten = slices.DeleteFunc(t.forgotten, func(x *life) bool { return time.Since(x.endedAt) > time.Minute })
}

// recordsWithin is how long after a tool's command has ended a busy Qwen Code 0.24.4 records the result: 14 s were seen. Until then nothing but a title tells
// that from a wait for the user.
const recordsWithin = 15 * time.Second

// late returns how much later than others the wait of a session of Qwen Code may be seen, if one waits.
func (t *harness) late() (longest time.Duration) {
	for _, x := range t.script.lives() {
		if t.takenBack(x) {
			longest = max(longest, time.Until(x.interrupted.Add(takenBackWithin)))
		}
		if x.Agent == qwen && !x.asked.IsZero() {
			longest = max(longest, min(recordsWithin, pressure.StalledSince(x.asked)+pressure.StalledSince(time.Now().Add(-recordsWithin))))
		}
	}
	return longest
}

// settleMenu waits until the menu is right.
func (t *harness) settleMenu() {
	t.Helper()
	limit := trayLimit
	if t.trayReady.IsZero() {
		limit = startLimit
	}
	took := t.until("the tray is wrong", limit+t.late(), func() []string {
		rows, err := t.desktop.rows()
		if err != nil {
			return []string{err.Error()}
		}
		return t.wrongRows(rows)
	})
	t.lags = append(t.lags, took)
	for _, troop := range t.script.troops {
		for _, x := range troop.live {
			x.seen = x.seen || !t.relaxed(string(x.Agent))
		}
	}
}

// timed books how long f takes.
func (t *harness) timed(what string, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	t.spent[what] += time.Since(begun)
}
