package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/namespaces"
	"rollcall/textmatch"
)

// TestOneAnswer compares what a core answers that has run since the beginning with what one answers that begins now, in all
// fields, and both with the truth. It does so after every step of an agent: before each comparison, some of the agents take one
// step each. The core that begins now is in this process; at every freshEvery-th comparison another process, which begins now, must
// answer the same, so that what is kept between the questions of a process is compared too.
func TestOneAnswer(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("ROLLCALL_ONE_ANSWER"))
	if steps == 0 {
		t.Skip("ROLLCALL_ONE_ANSWER does not say how many steps: see make one-answer")
	}
	if os.Getenv(stageKey) != asTest { // a gateway's port is looked up among all processes
		namespaces.Enter(t, stageKey+"="+asOneAnswer, workKey+"="+t.TempDir())
		return
	}
	world := scene.New(t)
	h := &harness{T: t, seed: seedOf(t), script: newScript(world, seedOf(t), standIns(world)), launched: map[string]*launched{}, did: map[string]int{}, stepsOf: map[string]int{},
		unknown: map[string]map[string]bool{}}
	h.script.share = true
	d := &differences{harness: h, examples: map[string]string{}, count: map[string]int{}, ends: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	old, done := newCore(world.Home, world.Table, app.All), make(chan error, 1)
	go func() { done <- old.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	d.begin(old)
	for h.script.steps < steps {
		d.steps()
		d.end(old)
		h.damaged(old)
		d.interrupted(old)
		d.compare(old)
		d.tell()
	}
	t.Logf("seed %d: %d steps, %d comparisons, %d of them with a process, %d sessions begun, damage %v, ends %v",
		h.seed, h.script.steps, d.comparisons, d.comparisons/freshEvery, h.script.begun, h.did, d.ends)
	d.report()
}

// differences are those of a run, by agent and field.
type differences struct {
	*harness
	examples map[string]string // the first of each kind
	count    map[string]int    // of steps
	ends     map[string]int    // how many steps of end were taken
	last     int               // the latest step that had one

	comparisons int
	n           int
	told        int // how many times the progress was told
}

// begin starts a session of each agent, and waits until the old core asks for exact tokens: its first answers leave them out.
func (d *differences) begin(old *app.Core) {
	d.Helper()
	w := d.script.world
	for _, troop := range d.script.troops {
		d.stepOf(troop)
	}
	eventually.True(d.T, "the old core asks for exact tokens", func() bool {
		theirs := byKey(d.refreshAll(old))
		for key, y := range byKey(newCore(w.Home, w.Table, app.All).Refresh(d.Context())) {
			if x := theirs[key]; len(x.Usage) != len(y.Usage) || (x.Tokens == nil) != (y.Tokens == nil) {
				return false
			}
		}
		return true
	})
}

// steps has one agent or more take a step, each agent one: the sessions of two agents do not meet.
func (d *differences) steps() {
	s := d.script
	for _, i := range s.rng.Perm(len(s.troops))[:1+s.rng.IntN(len(s.troops))] {
		d.stepOf(s.troops[i])
	}
}

// end now and then takes a step that few agents' players can: a session is opened again without a prompt, its process gets SIGTERM in mid-turn, or it
// drops its claim a moment before it exits. Between the claim and the exit nobody knows what is true, but all must say the same.
func (d *differences) end(old *app.Core) {
	d.Helper()
	s := d.script
	troop := s.troops[s.rng.IntN(len(s.troops))]
	if n := len(troop.stopped); n > 0 && s.chance(50) {
		d.open(troop, s.rng.IntN(n))
	}
	if len(troop.live) == 0 {
		return
	}
	i := s.rng.IntN(len(troop.live))
	switch x := troop.live[i]; {
	case x.IsSuspended() || x.Remote:
	case x.Truth().Status == adapters.Working && s.chance(50):
		if x.Terminate() {
			d.harness.end(troop, i, func() {}, "SIGTERM in mid-turn")
			d.ends["SIGTERM"]++
		}
	case x.Truth().Status == adapters.Idle && x.Drop():
		s.did(x, "drops its claim")
		s.frozen[troop.agent.Name()] = true
		d.compare(old)
		delete(s.frozen, troop.agent.Name())
		d.harness.end(troop, i, x.Exit, "exits after that")
		d.ends["claim dropped"]++
	}
}

// open opens a stopped session again, without a prompt.
func (d *differences) open(troop *troop, i int) {
	x := troop.stopped[i]
	if d.script.full(troop) || !x.Open() {
		return
	}
	troop.stopped = append(troop.stopped[:i:i], troop.stopped[i+1:]...)
	troop.live = append(troop.live, x)
	d.script.did(x, "is opened again as process %d, without a prompt", x.Process.PID)
	d.ends["opened"]++
}

// interrupted now and then asks the old core questions that end before their answers are complete.
func (d *differences) interrupted(old *app.Core) {
	if !d.script.chance(50) {
		return
	}
	ctx, cancel := context.WithTimeout(d.Context(), time.Duration(d.script.rng.IntN(10_000))*time.Microsecond)
	defer cancel()
	for _, troop := range d.script.troops {
		go old.RefreshOne(ctx, troop.agent.Name())
	}
	<-ctx.Done()
}

// compare asks all of them at the same time.
func (d *differences) compare(old *app.Core) {
	d.Helper()
	d.comparisons++
	w := d.script.world
	var fresh, live *app.Snapshot
	var process map[string]app.Session
	var problem error
	var asked sync.WaitGroup
	asked.Go(func() { fresh = newCore(w.Home, w.Table, app.All).Refresh(d.Context()) })
	asked.Go(func() { live = newCore(w.Home, w.Table, 0).Refresh(d.Context()) })
	if d.comparisons%freshEvery == 0 {
		asked.Go(func() { process, problem = askProcess(d.Context(), w) })
	}
	eventually.True(d.T, "the old core's questions are answered", func() bool { return !old.Snapshot().Refreshing })
	before := byKey(old.Snapshot())
	var first, last *app.Snapshot
	if d.comparisons%2 == 0 {
		first = old.RefreshLive(d.Context())
		last = old.Refresh(d.Context()) // joins the question about all that RefreshLive has begun
	} else { // the one about all is the first question after the steps
		last = d.refreshAll(old)
	}
	asked.Wait()
	must.Do(d.T, problem)
	if first != nil {
		d.liveFirst(before, first, fresh)
	}
	d.between("old", byKey(last), byKey(fresh))
	d.whole("old", last, fresh)
	d.conversation(old, last)
	d.between("live alone", liveByKey(live, nil), liveByKey(fresh, nil))
	if process != nil {
		d.between("process", process, asSent(d.T, fresh))
	}
	for _, wrong := range d.wrongList(listedOf(fresh)) {
		d.differ("truth: "+identifiers.ReplaceAllString(wrong, "…"), wrong)
	}
}

// conversation compares the last messages of one session: of the old core and a new one, and of a question for a few and one for many.
func (d *differences) conversation(old *app.Core, s *app.Snapshot) {
	if len(s.Own) == 0 {
		return
	}
	x := s.Own[d.script.rng.IntN(len(s.Own))]
	n := 1 + d.script.rng.IntN(6)
	few, err := old.Peek(d.Context(), x, n)
	if errors.Is(err, app.ErrNoPeek) {
		return
	}
	many, problem := newCore(d.script.world.Home, d.script.world.Table, app.All).Peek(d.Context(), x, 1000)
	end := many[max(0, len(many)-n):]
	if fmt.Sprint(err) != fmt.Sprint(problem) || fmt.Sprintf("%+v", few) != fmt.Sprintf("%+v", end) {
		d.differ(string(x.Agent)+" conversation", fmt.Sprintf("%s: %v: %+v\n      new, many %v: %+v", x.ID, err, few, problem, end))
	}
	if len(many) > 0 {
		d.searched(old, &x, &many[d.script.rng.IntN(len(many))])
	}
}

// searched checks that what was said is found.
func (d *differences) searched(old *app.Core, x *app.Session, m *adapters.Message) {
	if m.Role != adapters.FromUser && m.Role != adapters.FromAgent {
		return
	}
	pattern, err := textmatch.Text(m.Text)
	must.Do(d.T, err)
	found := false
	_, err = old.Search(d.Context(), app.SearchQuery{SearchQuery: adapters.SearchQuery{Pattern: pattern}}, func(h app.SearchHit) bool {
		found = found || h.Agent == x.Agent && h.Session == x.ID && h.Key == m.Key
		return true
	}, nil)
	if err != nil || !found {
		d.differ(string(x.Agent)+" search", fmt.Sprintf("%s: %+v: %v", x.ID, m, err))
		return
	}
	around, err := old.Around(d.Context(), x.Agent, x.ID, m.Key)
	if err != nil || around.At < 0 || around.Messages[around.At].Text != m.Text {
		d.differ(string(x.Agent)+" around", fmt.Sprintf("%s: %+v: %v, %d of %d", x.ID, m, err, around.At, len(around.Messages)))
	}
}

// refreshAll asks a core for all sessions. Unlike Core.Refresh it joins no question that began before the steps.
func (d *differences) refreshAll(c *app.Core) *app.Snapshot {
	var asked sync.WaitGroup
	for _, troop := range d.script.troops {
		asked.Go(func() { c.RefreshOne(d.Context(), troop.agent.Name()) })
	}
	asked.Wait()
	return c.Snapshot()
}

// between notes in which fields the answer of who and that of a fresh core differ.
func (d *differences) between(who string, theirs, fresh map[string]app.Session) {
	for key, x := range theirs {
		y, listed := fresh[key]
		if !listed {
			d.differ(fmt.Sprintf("%s only by %s", x.Agent, who), fmt.Sprintf("%s: %s, %s", key, scene.TruthOf(&x.Session), x.Evidence))
			continue
		}
		if earlier := earlierOf(x.AskAgain, y.AskAgain); !earlier.IsZero() && earlier.Before(time.Now()) { // it came between the two questions
			x.AskAgain, y.AskAgain = earlier, earlier
		}
		d.fields(x.Agent, who, key, x.Session, y.Session)
		if (x.Stale == nil) != (y.Stale == nil) {
			d.differ(fmt.Sprintf("%s Stale (%s)", x.Agent, who), fmt.Sprintf("%s: %s %+v, fresh %+v", key, who, x.Stale, y.Stale))
		}
	}
	for key, y := range fresh {
		if _, listed := theirs[key]; !listed {
			d.differ(fmt.Sprintf("%s not by %s", y.Agent, who), fmt.Sprintf("%s: %s, %s", key, scene.TruthOf(&y.Session), y.Evidence))
		}
	}
}

// earlierOf returns the earlier of two times; zero counts as none.
func earlierOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// fields notes which fields of two values of one type differ, but for some.
func (d *differences) fields(agent adapters.Name, who, key string, theirs, fresh any, but ...string) {
	a, b := reflect.ValueOf(theirs), reflect.ValueOf(fresh)
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if slices.Contains(but, field.Name) {
			continue
		}
		if field.Anonymous {
			d.fields(agent, who, key, a.Field(i).Interface(), b.Field(i).Interface(), but...)
			continue
		}
		if one, other := show(a.Field(i)), show(b.Field(i)); one != other {
			d.differ(fmt.Sprintf("%s %s (%s)", agent, field.Name, who), fmt.Sprintf("%s: %s %s, fresh %s", key, who, one, other))
		}
	}
}

// show returns a field in words, without ages.
func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return ages.ReplaceAllString(fmt.Sprintf("%+v", v.Interface()), "")
}

// whole compares what is said of the agents, and the order of the sessions.
func (d *differences) whole(who string, theirs, fresh *app.Snapshot) {
	for i, h := range theirs.Adapters {
		d.fields(h.Name, who, "its health", h, fresh.Adapters[i], "Elapsed", "Answered", "Asking")
	}
	if one, other := order(theirs), order(fresh); one != other {
		d.differ("order ("+who+")", fmt.Sprintf("%s\n%s\nfresh\n%s", who, one, other))
	}
}

func order(s *app.Snapshot) string {
	var keys []string
	for x := range s.All() {
		keys = append(keys, keyOf(x))
	}
	return strings.Join(keys, "\n")
}

// tell says every 500 steps how far the run has come.
func (d *differences) tell() {
	if steps := d.script.steps / 500; steps > d.told {
		d.told = steps
		d.Logf("seed %d: %d steps, %d of them differ", d.seed, d.script.steps, d.n)
	}
}

func (d *differences) differ(kind, example string) {
	d.count[kind]++
	if d.last != d.script.steps {
		d.last, d.n = d.script.steps, d.n+1
	}
	if d.examples[kind] == "" {
		d.examples[kind] = fmt.Sprintf("step %d: %s", d.script.steps, example)
		for _, x := range d.script.lives() {
			if strings.Contains(example, x.ID) {
				d.examples[kind] += "\n      " + strings.Join(x.history[max(0, len(x.history)-6):], "; ")
			}
		}
		d.Logf("%s: %s", kind, d.examples[kind])
	}
}

func (d *differences) report() {
	d.Helper()
	var kinds []string
	for kind := range d.count {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return d.count[b] - d.count[a] })
	for _, kind := range kinds {
		d.Errorf("%d times %s\n   %s", d.count[kind], kind, d.examples[kind])
	}
	if len(kinds) > 0 {
		d.Errorf("seed %d: %d of %d steps differ; again: make one-answer SEED=%d STEPS=%d", d.seed, d.n, d.script.steps, d.seed, d.script.steps)
	}
}

func keyOf(x *app.Session) string { return string(x.Agent) + " " + x.ID }

func byKey(s *app.Snapshot) map[string]app.Session {
	out := map[string]app.Session{}
	for x := range s.All() {
		out[keyOf(x)] = *x
	}
	return out
}

// liveFirst compares what the old core shows when it has asked for the live sessions, and not yet for the others: the live ones and those
// that were live before are the same, and of those that it showed before none has vanished that still exists.
func (d *differences) liveFirst(before map[string]app.Session, first, fresh *app.Snapshot) {
	d.between("old, live alone", liveByKey(first, before), liveByKey(fresh, before))
	shown := byKey(first)
	for key, x := range byKey(fresh) {
		_, was := before[key]
		if now, is := shown[key]; was && !is {
			d.differ(string(x.Agent)+" vanished", key)
		} else if was && now.Live() != x.Live() {
			d.differ(string(x.Agent)+" live", fmt.Sprintf("%s: old %s, fresh %s", key, now.Status, x.Status))
		}
	}
}

// liveByKey returns the sessions that are live, or were before. They are the same whatever else was asked for, but for Usage, which
// counts an answer that several sessions hold for one of those that are asked for.
func liveByKey(s *app.Snapshot, before map[string]app.Session) map[string]app.Session {
	out := map[string]app.Session{}
	for key, x := range byKey(s) {
		if was, listed := before[key]; x.Live() || listed && was.Live() {
			x.Usage = nil
			out[key] = x
		}
	}
	return out
}

// listedOf is what list --json would print, as far as it is looked at.
func listedOf(s *app.Snapshot) (l listed) {
	for x := range s.All() {
		r := row{ID: x.ID, Agent: string(x.Agent), Status: string(x.Status), Outcome: string(x.Outcome), Evidence: x.Evidence, CWD: x.CWD,
			Parent: x.Parent, WaitingFor: string(x.WaitingFor), Suspended: x.Suspended, PID: x.Process.PID, MayAsk: x.MayAsk}
		if x.Stale != nil {
			r.Stale = &struct{ Reason string }{x.Stale.Reason}
		}
		l.Sessions = append(l.Sessions, r)
	}
	for _, a := range s.Adapters {
		h := struct{ Name, State, Error string }{Name: string(a.Name), State: string(a.State)}
		if len(a.Problems) > 0 {
			h.Error = fmt.Sprint(a.Problems)
		}
		l.Adapters = append(l.Adapters, h)
	}
	return l
}

// damaged now and then damages a store, lets the old core look at it, and mends it: what it has seen must not last.
func (t *harness) damaged(old *app.Core) {
	t.Helper()
	if !t.script.chance(25) {
		return
	}
	kinds := []func() *damage{t.renamed, t.truncated}
	if t.script.chance(10) { // seldom: Claude Code's adapter waits a second for the rest of an entry
		kinds = []func() *damage{t.entryTruncated}
	}
	d := kinds[t.script.rng.IntN(len(kinds))]()
	if d == nil {
		return
	}
	t.did[strings.Fields(d.name)[0]]++
	d.begin()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range d.agents {
		old.RefreshOne(ctx, name)
	}
	d.end()
	for _, x := range t.script.lives() {
		if slices.Contains(d.agents, adapters.Name(x.Agent)) {
			x.history = append(x.history, d.name+", and mended")
		}
	}
}
