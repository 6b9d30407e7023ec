package harness

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/pressure"
)

// How many sessions of one agent there are.
var mostLive = map[adapters.Name]int{agentname.ClaudeCode: 4, agentname.Codex: 3, agentname.OpenCode: 2, agentname.OpenClaw: 2, agentname.Pi: 2, agentname.PiRust: 2,
	copilot: 2, cline: 2, gemini: 2, qwen: 2, agentname.Grok: 2, agentname.Kimi: 2, omp: 2}

const mostStopped = 6

// mostRows is how many live sessions fit into the menu.
const mostRows = 15

// seenAfter is after how long a wait can be seen, where that is later than at once: a call that is open may be about to run. An interruption of
// which no file tells can be seen after the same time, and is looked for now and then.
var seenAfter = map[adapters.Name]time.Duration{qwen: 2 * time.Second, gemini: 2 * time.Second, agentname.Grok: 2 * time.Second}

// agentNames are what the menu and notifications call the agents.
var agentNames = map[adapters.Name]string{agentname.ClaudeCode: "Claude Code", agentname.Codex: "Codex", agentname.OpenCode: "OpenCode",
	agentname.OpenClaw: "OpenClaw", agentname.Pi: "Pi", agentname.PiRust: "pi_agent_rust",
	copilot: "Copilot CLI", cline: "Cline", gemini: "Gemini CLI", qwen: "Qwen Code", agentname.Grok: "Grok Build", agentname.Kimi: "Kimi Code", omp: "oh-my-pi", kilo: "Kilo"}

// The agents that no other test but their own package's names.
const (
	copilot adapters.Name = "copilot"
	cline   adapters.Name = "cline"
	gemini  adapters.Name = "gemini"
	qwen    adapters.Name = "qwen"
	omp     adapters.Name = "omp"
	kilo    adapters.Name = "kilo"
)

// script takes steps, the same for the same seed.
type script struct {
	rng    *rand.Rand
	world  *scene.Environment
	troops []*troop
	frozen map[adapters.Name]bool // agents that take no step at the moment
	steps  int
	begun  int
	diary  []string // the latest of what happened, with the time
	share  bool     // several sessions of an agent may have the same folder
	most   int      // how many live sessions there may be; 0: any number
}

// troop are the sessions of one agent.
type troop struct {
	agent         scene.Agent
	most          int // how many live sessions there may be
	live, stopped []*life
}

// life is a session with what is owed for it.
type life struct {
	*scene.Session
	project string // the name of its folder, which is its own
	history []string
	began   time.Time // of its process
	seen    bool      // the tray has shown it since its process began
	hook    string    // the file that its launch's hook writes to; empty: it was not launched
	ends    account
	waits   account
	asked   time.Time // when the wait began that goes on; zero: there is none
	shown   []*notice // of its waits
	// interrupted and answered are when it was last.
	interrupted, answered time.Time
	excused               bool // the wait that goes on need not be told: the settings forbade it
	told                  bool // the wait that goes on: it is on the screen from now on
	// unbroken is when the wait began that the last comparison saw; zero: it saw none.
	unbroken time.Time
	endedAt  time.Time
	acted    time.Time // its last step
	stepped  time.Time // when that began
	prompted time.Time // when its last prompt began
	gaveUp   bool      // since that prompt: see harness.gaveUp
	children
}

// account is how often something must be told, may be told, and was told.
type account struct{ due, may, told int }

func newScript(w *scene.Environment, seed uint64, agents []scene.Agent) *script {
	s := &script{rng: rand.New(rand.NewPCG(seed, seed)), world: w, frozen: map[adapters.Name]bool{}}
	for _, one := range agents {
		most := mostLive[one.Name()]
		if _, shares := one.(*sharedAgent); shares {
			most = mostShared
		}
		s.troops = append(s.troops, &troop{agent: one, most: most})
	}
	return s
}

// standIns play every agent.
func standIns(w *scene.Environment) (all []scene.Agent) {
	for _, of := range []func(*scene.Environment) scene.Agent{scene.ClaudeCode, scene.Codex, scene.OpenCode, scene.OpenClaw, scene.Pi, scene.PiRust,
		scene.Copilot, scene.Cline, scene.Gemini, scene.Qwen, scene.Grok, scene.Kimi, scene.Omp} {
		all = append(all, of(w))
	}
	return all
}

func (s *script) chance(percent int) bool { return s.rng.IntN(100) < percent }

func (s *script) troop(name adapters.Name) *troop {
	for _, t := range s.troops {
		if t.agent.Name() == name {
			return t
		}
	}
	return nil
}

// lives returns all sessions, the live ones first.
func (s *script) lives() (all []*life) {
	for _, t := range s.troops {
		all = append(all, t.live...)
	}
	for _, t := range s.troops {
		all = append(all, t.stopped...)
	}
	return all
}

// folder makes the folder of a new session.
func (s *script) folder(name adapters.Name) string {
	s.begun++
	number := s.begun
	if s.share && s.chance(50) {
		number %= 3
	}
	dir := s.world.Path("work", fmt.Sprintf("%.2s%d", name, number))
	must.Do(s.world, os.MkdirAll(dir, 0o755))
	return dir
}

// shared reports whether another session of the agent has the same folder: what each of them does need not be known.
func (s *script) shared(x *life) bool {
	return s.share && slices.ContainsFunc(s.lives(), func(y *life) bool { return y != x && y.Agent == x.Agent && y.CWD == x.CWD })
}

func (s *script) did(x *life, format string, args ...any) {
	s.steps++
	x.acted = time.Now()
	what := fmt.Sprintf(format, args...)
	x.history = append(x.history, fmt.Sprintf("step %d: %s", s.steps, what))
	s.note("%s %s", x.project, what)
}

// recorded notes a step with which the agent records something.
func (s *script) recorded(x *life, format string, args ...any) {
	s.did(x, format, args...)
	x.wrote = x.acted
	x.wroteFrom = x.stepped
}

// note writes down what happens, for who looks into a difference.
func (s *script) note(format string, args ...any) {
	line := fmt.Sprintf("%s step %d: ", time.Now().Format("15:04:05.000"), s.steps) + fmt.Sprintf(format, args...)
	s.diary = append(s.diary, line)
	if os.Getenv("ROLLCALL_HARNESS_KEEP") != "" {
		fmt.Println(line)
	}
	if len(s.diary) > 400 {
		s.diary = s.diary[200:]
	}
}

// begin adds a session that has begun.
func (t *troop) begin(one *scene.Session) *life {
	x := &life{Session: one, project: filepath.Base(one.CWD), began: time.Now(), children: children{wrote: time.Now()}}
	t.live = append(t.live, x)
	return x
}

// full reports whether there may be no more live sessions of an agent, or of all.
func (s *script) full(t *troop) bool {
	live := 0
	for _, one := range s.troops {
		live += len(one.live)
	}
	return len(t.live) >= t.most || s.most > 0 && live >= s.most
}

// untilSeen waits until every wait that goes on, and every interruption, can be seen.
func (s *script) untilSeen() {
	for _, x := range s.lives() {
		after := seenAfter[x.Agent]
		if !x.asked.IsZero() {
			time.Sleep(time.Until(x.asked.Add(after)))
		}
		time.Sleep(time.Until(x.interrupted.Add(2 * after)))
		if x.Agent == gemini { // whose answer may go on with a call
			time.Sleep(time.Until(x.answered.Add(after)))
		}
	}
}

// step takes one step with one session; false: none can be taken.
func (t *harness) step() bool {
	return t.stepOf(t.script.troops[t.script.rng.IntN(len(t.script.troops))])
}

// stepOf takes one step with a session of one agent; false: none can be taken.
func (t *harness) stepOf(troop *troop) bool {
	s := t.script
	if s.frozen[troop.agent.Name()] {
		return false
	}
	switch {
	case len(troop.stopped) > mostStopped && !t.real:
		x := troop.stopped[0]
		x.Forget()
		troop.stopped = troop.stopped[1:]
		s.did(x, "the user deletes the session")
		t.forgotten = append(t.forgotten, x)
	case len(troop.live) == 0 && s.full(troop):
		return false
	case len(troop.live) == 0, !s.full(troop) && s.chance(25):
		t.begin(troop)
	case len(troop.stopped) > 0 && !s.full(troop) && s.chance(8):
		return t.resume(troop, s.rng.IntN(len(troop.stopped)))
	default:
		i := s.rng.IntN(len(troop.live))
		if !t.failed(troop.live[i]) {
			t.turn(troop, i)
		}
	}
	t.stepsOf[string(troop.agent.Name())]++
	return true
}

// begin starts a session, some through a wrapper.
func (t *harness) begin(troop *troop) {
	s := t.script
	wrapped := s.chance(25) && troop.agent.Name() != agentname.OpenClaw && t.machine != nil && !t.real
	hosted := !wrapped && s.chance(20) && troop.agent.Name() != agentname.OpenClaw && t.machine != nil && !t.real
	if t.machine != nil {
		t.machine.wrapped, t.machine.hosted = wrapped, hosted
	}
	begun := time.Now()
	x := troop.begin(troop.agent.Start(s.folder(troop.agent.Name()), fmt.Sprintf("prompt %d", s.begun)))
	x.stepped = begun
	if t.machine != nil {
		hosted = t.machine.host(x.Process.PID) != ""
	}
	s.recorded(x, "starts as process %d, wrapped: %v, in an editor: %v", x.Process.PID, wrapped, hosted)
}

func (t *harness) resume(troop *troop, i int) bool {
	x := troop.stopped[i]
	if !x.Resumes(1) {
		return false
	}
	troop.stopped = append(troop.stopped[:i:i], troop.stopped[i+1:]...)
	if x.ends.told < x.ends.due { // its end may be taken for a change of its process
		x.ends.due = x.ends.told
	}
	x.prompted = time.Now()
	x.stepped = x.prompted
	x.gaveUp = false
	x.Resume("once more")
	x.began = time.Now()
	x.seen = false
	x.hook = ""
	troop.live = append(troop.live, x)
	t.script.recorded(x, "is resumed as process %d", x.Process.PID)
	return true
}

// failed books that the turn of a session has failed, since its agent gave up its last request to the model by itself; false: it did not.
func (t *harness) failed(x *life) bool {
	if !t.gaveUp(x) || x.Truth().Status != adapters.Working || t.witnesses[x.Session].asksModel(x.Session) {
		return false
	}
	x.Became(scene.Truth{Status: adapters.Idle, Outcome: adapters.Failed})
	t.script.did(x, "has failed, since the model did not answer in time")
	return true
}

// turn takes a step of a live session.
func (t *harness) turn(troop *troop, i int) {
	s, x := t.script, troop.live[i]
	x.stepped = time.Now()
	truth := x.Truth()
	t.endCommand(x)
	switch {
	case x.IsSuspended() && s.chance(80):
		x.Continue(s.world.Procs)
		s.did(x, "SIGCONT")
	case x.IsSuspended():
		t.end(troop, i, x.Kill, "SIGKILL while it is suspended")
	case s.chance(6):
		t.leave(x)
		t.end(troop, i, x.Kill, "SIGKILL")
	case !x.Remote && s.chance(3) && t.machine != nil && !t.real:
		t.end(troop, i, x.Kill, "SIGKILL, and its pid goes to another program")
		t.machine.stranger(x.Process.PID)
	case troop.alone(x) && s.chance(6):
		x.Suspend(s.world.Procs)
		s.did(x, "SIGSTOP")
	case !x.Remote && s.chance(10) && t.machine != nil && t.machine.unwrap(x.Process.PID):
		s.did(x, "its wrapper is killed")
	case s.chance(4) && !t.real:
		for range 20 {
			x.Strange()
		}
		s.recorded(x, "its file grows by records of a kind that nobody knows")
	case s.chance(4) && t.replace(x):
		s.did(x, "its file is replaced by a copy")
	case truth.Status == adapters.Working:
		t.work(x)
	case t.real && truth.Status == adapters.Idle && s.chance(20) && t.propose(x):
	case truth.Status == adapters.Waiting, s.chance(60), slices.ContainsFunc(troop.peers(x), func(y *life) bool { return y.Truth().Status != adapters.Idle }):
		x.prompted = time.Now()
		x.gaveUp = false
		x.Prompt(fmt.Sprintf("prompt %d", s.steps))
		x.asked, x.told = time.Time{}, false
		s.recorded(x, "is prompted or answered")
	default:
		t.end(troop, i, x.Exit, exits)
	}
}

// work has a working session be interrupted, answer, ask or go on.
func (t *harness) work(x *life) {
	s := t.script
	switch {
	case s.chance(20) && t.command(x):
	case s.chance(15) && x.Interrupt():
		x.interrupted = time.Now()
		s.recorded(x, "is interrupted")
	case s.chance(70):
		x.Answer(fmt.Sprintf("answer %d", s.steps))
		x.answered = time.Now()
		s.recorded(x, "answers")
	case !t.asks(x):
		x.Strange() // a real agent has none
		if !t.real {
			s.recorded(x, "writes a record of an unknown kind")
		}
	}
}

// asks has a working session ask the user, if it can.
func (t *harness) asks(x *life) bool {
	isPrompt := time.Since(x.acted) < promptly
	if !x.Ask() {
		return false
	}
	x.asked = time.Now()
	x.told = false
	x.excused = isPrompt && t.hidden(x) != nil
	x.waits.may++
	t.script.recorded(x, "asks the user")
	return true
}

const exits = "exits"

// deletes reports whether a real agent deletes a session at its end: Gemini CLI 0.61.0 does so with one that has neither an answer nor a call
// when it exits.
func (t *harness) deletes(x *life, how string) bool {
	return t.real && x.Agent == agentname.Gemini && how == exits && !slices.ContainsFunc(x.Past(), func(was scene.Truth) bool {
		return was.Status == adapters.Waiting || was.Outcome == adapters.Completed
	})
}

// replace puts a copy in the place of a session's file, as an editor does.
func (t *harness) replace(x *life) bool {
	if t.real || x.Agent != agentname.ClaudeCode && x.Agent != agentname.Pi && x.Agent != agentname.PiRust {
		return false // the others hold it open
	}
	info := must.Get(os.Stat(x.File))(t)
	text := must.Get(os.ReadFile(x.File))(t)
	copied := filepath.Join(filepath.Dir(x.File), "."+strings.TrimSuffix(filepath.Base(x.File), ".jsonl")+".tmp")
	must.Do(t, os.WriteFile(copied, text, info.Mode()))
	must.Do(t, os.Chtimes(copied, time.Now(), info.ModTime()))
	must.Do(t, os.Rename(copied, x.File))
	return true
}

// end ends a session's process. Its end is owed if the tray has shown it, or had
// the time to.
func (t *harness) end(troop *troop, i int, how func(), what string) {
	x := troop.live[i]
	now := time.Now()
	peers := troop.peers(x)
	how()
	t.ended(troop, x, now, what)
	for _, y := range peers {
		was := y.Truth()
		over := scene.Truth{Status: adapters.Stopped, Outcome: adapters.Died}
		if was.Status == adapters.Idle {
			over.Outcome = was.Outcome
		}
		y.Became(over)
		t.ended(troop, y, now, what+", as its process held it too")
	}
}

// peers returns the other live sessions that the process of a session holds.
func (t *troop) peers(x *life) (all []*life) {
	for _, y := range t.live {
		if y != x && !x.Remote && y.Process == x.Process {
			all = append(all, y)
		}
	}
	return all
}

// alone reports whether a session has a process here that holds no other one.
func (t *troop) alone(x *life) bool { return !x.Remote && len(t.peers(x)) == 0 }

// ended books the end of a session's process at a time.
func (t *harness) ended(troop *troop, x *life, now time.Time, what string) {
	troop.live = slices.DeleteFunc(troop.live, func(y *life) bool { return y == x })
	x.ends.may++
	longEnough := t.trayUp && !t.trayReady.IsZero() && now.Sub(x.began) > aliveFor+pressure.StalledSince(x.began)
	if !x.Remote && (x.hook != "" || t.trayUp && x.seen || longEnough) {
		x.ends.due++
	}
	x.asked = time.Time{}
	x.told = false
	x.endedAt = time.Now()
	if x.Remote || t.deletes(x, what) {
		t.forgotten = append(t.forgotten, x)
	} else {
		troop.stopped = append(troop.stopped, x)
	}
	if x.hook != "" {
		t.launched[x.CWD].over = true
	}
	t.script.did(x, "%s", what)
}
