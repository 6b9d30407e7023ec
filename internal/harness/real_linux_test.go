package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/agents"
	"rollcall/internal/eventually"
	"rollcall/internal/harness/screen"
	"rollcall/internal/modelserver"
	"rollcall/internal/must"
	"rollcall/proc"
)

// realLimit is after how long the list must show what a real agent did.
const realLimit = 15 * time.Second

// storesWithin is how long after an agent has shown something it has stored it. Until then what is stored when it is killed or suspended is
// a matter of chance.
const storesWithin = time.Second

// mostFolders is how many sessions a run with real agents begins at most: their folders are trusted beforehand.
const mostFolders = 400

func areReal() bool { return os.Getenv("ROLLCALL_HARNESS_AGENTS") == "real" }

// realAgent plays an agent by the agent itself: in a terminal, and against a model that answers when the script says so.
type realAgent struct {
	world     *scene.Environment
	box       *agents.Sandbox
	name      adapters.Name
	release   agents.Release
	comm      string // of its process
	argument  string // of its process, the innermost one; empty: comm is enough
	daemon    string // in the command line of its daemon, which would host the next session
	titles    bool   // its terminal's title shows what it does
	ready     string // its screen takes prompts
	exit      string // the command that ends it
	begin     func(id string) []string
	reopen    func(id string) []string
	asks      string // the screen that asks for a permission; empty: it never asks
	question  string // the screen with a question of the model; empty: none is known
	command   string // directives of a command that must be permitted
	permit    string // the key that does so
	choice    string // the screen on which that key permits: Tab leads there; empty: at once
	escapes   bool   // a key interrupts it
	escape    string // the key, if it is not Escape
	suggests  bool   // behind a turn it asks the model again, for what the user could say next
	dies      bool   // a turn that SIGTERM or a closed terminal ends has died, as by SIGKILL
	killed    int
	hidden    bool                         // its terminal has no title: see hiddenAgents
	first     string                       // what it says before each second call that asks
	plans     string                       // the screen that asks what becomes of a plan; empty: it proposes none
	inUse     string                       // the screen that warns of a session that another terminal has; empty: there is none
	latent    bool                         // a session is recorded with its first answer
	argv      func(args []string) []string // its command line, if it is not that of the release
	trust     func(folder string)          // has it ask nothing about a folder; may be nil
	takesBack bool                         // which takes the prompt back into the input
	asksAgain bool                         // which ends no turn after a tool's result: the agent asks the model again
	chooses   bool                         // the caller chooses the session's id
	once      bool                         // a session is resumed once
	identify  func(agent adapters.Name, prompt string) string
	signs     *screen.Signs // of its screen
	witnesses map[*scene.Session]witness
	terminals map[string]*agents.Terminal // by the folder
	asked     int
	resumed   map[string]bool // by the session's id
}

// Name, Store, Install and Start implement scene.Agent.
func (r *realAgent) Name() adapters.Name { return r.name }
func (r *realAgent) Store() string       { return "" }
func (r *realAgent) Install()            {}

func (r *realAgent) Start(cwd, prompt string) *scene.Session {
	id := must.Get(os.ReadFile("/proc/sys/kernel/random/uuid"))(r.world)
	s := scene.Played(r.name, strings.TrimSpace(string(id)), cwd, r)
	r.witnesses[s] = r
	s.Process = r.run(s, r.begin(s.ID))
	r.Prompt(s, prompt)
	if r.latent {
		r.Answer(s, "answer to "+prompt)
	}
	if !r.chooses {
		s.ID = r.identify(r.name, prompt)
	}
	if r.latent {
		r.Prompt(s, prompt+", once more")
	}
	return s
}

// run opens a terminal for the session, and returns the agent's own process in it.
func (r *realAgent) run(s *scene.Session, args []string) proc.Identity {
	terminal := r.open(s, args)
	terminal.Shows(r.ready)
	return r.process(terminal.PID())
}

// open opens a terminal for the session. A shell starts the agent: tmux would let its own child go on when it is suspended.
func (r *realAgent) open(s *scene.Session, args []string) *agents.Terminal {
	r.endDaemon()
	open := r.box.Open
	if r.titles {
		open = r.box.OpenInTmux
	}
	if r.trust != nil {
		r.trust(s.CWD)
	}
	argv := r.box.Argv(r.release, args...)
	if r.argv != nil {
		argv = r.argv(args)
	}
	terminal := open(slices.Concat([]string{"sh", "-c", `"$@"; :`, "sh", "env", "-C", s.CWD}, argv)...)
	r.terminals[s.CWD] = terminal
	return terminal
}

// permits presses the key that permits a call until the question is gone, or the agent goes on: Claude Code 2.1.332 may leave lines of the question
// on its screen.
func (r *realAgent) permits(s *scene.Session) {
	terminal, asked := r.terminals[s.CWD], r.lastRequest(s)
	var pressed time.Time
	eventually.True(r.world, "the call is permitted", func() bool {
		screen := terminal.Screen()
		if !strings.Contains(screen, r.asks) || r.lastRequest(s).At != asked.At {
			return true
		}
		if time.Since(pressed) > time.Second {
			key := r.permit
			if !strings.Contains(screen, r.choice) {
				key = "Tab"
			}
			terminal.Press(key)
			pressed = time.Now()
		}
		return false
	})
}

// endDaemon ends the daemon that the session before has left.
func (r *realAgent) endDaemon() {
	for _, p := range r.box.Processes() {
		if r.daemon != "" && slices.Contains(p.Args, r.daemon) {
			r.box.Signal(p, unix.SIGKILL)
			r.box.Gone(p)
		}
	}
}

// process returns the agent's own process at or below pid.
func (r *realAgent) process(pid int) proc.Identity {
	own := agents.Process{}
	if r.argument != "" {
		own = r.box.Innermost(pid, r.argument)
	} else {
		own = r.box.Descendant(pid, r.comm)
	}
	p := must.Get(r.world.Table.Find(own.PID))(r.world)
	return p.Identity
}

// held is the name of the session's answers.
func held(s *scene.Session) string { return filepath.Base(s.CWD) }

// Prompt and the following implement scene.Steps.
func (r *realAgent) Prompt(s *scene.Session, text string) {
	terminal := r.terminals[s.CWD]
	if s.Before().Status == adapters.Waiting {
		r.permits(s)
		return
	}
	terminal.Prompt(fmt.Sprintf("%s [[hold %s]]", text, held(s)))
	time.Sleep(storesWithin)
}

func (r *realAgent) Answer(s *scene.Session, text string) {
	r.answerWith(s, "[[say "+text+"]]")
	r.terminals[s.CWD].Shows(text)
	time.Sleep(storesWithin)
	if r.suggests {
		ctx, cancel := context.WithTimeout(context.Background(), suggestsWithin)
		defer cancel()
		_ = r.box.Server.Release(ctx, held(s), "[[say go on]]") // it need not ask
	}
}

// suggestsWithin is how long after an answer an agent asks the model what the user could say next.
const suggestsWithin = 5 * time.Second

func (r *realAgent) Ask(s *scene.Session) {
	r.asked++
	text := ""
	if r.asked%2 == 1 {
		text = r.first
	}
	r.answerWith(s, text+fmt.Sprintf(r.command, "asked-"+strconv.Itoa(r.asked)))
	r.terminals[s.CWD].Shows(r.asks)
	time.Sleep(storesWithin)
}

func (r *realAgent) WaitsFor() adapters.WaitingFor {
	if r.asks == "" {
		return ""
	}
	return adapters.ForPermission
}

func (r *realAgent) Interrupts(s *scene.Session) bool {
	return r.escapes && (!r.asksAgain || !r.lastRequest(s).Tool)
}

func (r *realAgent) TakesBack() bool { return r.takesBack }

// Interrupt presses a key until the agent has hung up on the model: some want it twice, and two keys at once are one.
func (r *realAgent) Interrupt(s *scene.Session) {
	var pressed time.Time
	eventually.True(r.world, held(s)+" to hang up on the model", func() bool {
		if time.Since(pressed) > 2*time.Second && !r.hungUp(s) {
			r.terminals[s.CWD].Press(cmp.Or(r.escape, "Escape"))
			pressed = time.Now()
		}
		return r.hungUp(s)
	})
	if r.takesBack {
		r.terminals[s.CWD].Press("C-u")
	}
	time.Sleep(storesWithin)
}

// asksModel, hangsUp and screen implement witness.
func (r *realAgent) asksModel(s *scene.Session) bool {
	q := r.lastRequest(s)
	suggests := r.suggests && q.Own // later than Answer waits for it on a busy machine
	return !q.At.IsZero() && q.Status == 0 && !q.Left && !suggests
}

func (r *realAgent) hangsUp(s *scene.Session, after time.Time) bool {
	return slices.ContainsFunc(r.box.Server.Requests(), func(q modelserver.Request) bool {
		return q.Left && !q.Side && q.At.After(after) && strings.Contains(q.Prompt, "[[hold "+held(s)+"]]")
	})
}

func (r *realAgent) screen(s *scene.Session) (text string, signs *screen.Signs) {
	terminal := r.terminals[s.CWD]
	if terminal == nil {
		return "", nil
	}
	return terminal.Screen(), r.signs
}

// hungUp reports whether the agent has given up the last request of a session.
func (r *realAgent) hungUp(s *scene.Session) bool { return r.lastRequest(s).Left }

func (r *realAgent) lastRequest(s *scene.Session) modelserver.Request {
	for _, q := range slices.Backward(r.box.Server.Requests()) {
		if !q.Side && strings.Contains(q.Prompt, "[[hold "+held(s)+"]]") {
			return q
		}
	}
	return modelserver.Request{}
}

func (r *realAgent) Exit(s *scene.Session) {
	r.terminals[s.CWD].Leave(r.exit, agents.Process{PID: s.Process.PID})
}

func (r *realAgent) Kill(s *scene.Session) {
	p := agents.Process{PID: s.Process.PID}
	r.killed++
	dies := r.dies && s.Before().Status == adapters.Working
	switch {
	case dies && r.killed%3 == 1:
		r.box.Signal(p, unix.SIGTERM)
	case dies && r.killed%3 == 2:
		r.terminals[s.CWD].Close()
	default:
		r.box.Signal(p, unix.SIGKILL)
	}
	r.box.Gone(p)
}

func (r *realAgent) Resumes(s *scene.Session, _ int) bool { return !r.once || !r.resumed[s.ID] }

func (r *realAgent) Resume(s *scene.Session, prompt string) {
	r.resumed[s.ID] = true
	s.Process = r.run(s, r.reopen(s.ID))
	r.Prompt(s, fmt.Sprintf("%s, %d", prompt, len(r.box.Server.Requests())))
}

// answerWith lets the model answer the session's request.
func (r *realAgent) answerWith(s *scene.Session, directives string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must.Do(r.world, r.box.Server.Release(ctx, held(s), directives))
}

// identify returns the id of the session of a prompt as Rollcall lists it: the agent chooses it.
func (t *harness) identify(agent adapters.Name, prompt string) (id string) {
	t.Helper()
	t.until("a new session is not listed", realLimit, func() []string {
		for _, x := range t.rollcall.list().Sessions {
			if x.Agent == string(agent) && strings.HasPrefix(x.FirstPrompt, prompt+" [[hold") {
				id = x.ID
				return nil
			}
		}
		return []string{string(agent) + ": " + prompt}
	})
	return id
}
