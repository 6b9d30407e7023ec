package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// longDelay holds a turn open for as long as a storm lasts.
const longDelay = "[[delay 7200]]"

// longSleep is how long the command of the step tool would run.
const longSleep = "3001"

// stormSteps are the steps of a plot.
var stormSteps map[string]func(*lane) error

func init() {
	stormSteps = map[string]func(*lane) error{
		"open":       (*lane).opened,
		"resume":     (*lane).resume,
		"resumelong": (*lane).resumeLong,
		"run":        func(l *lane) error { l.another(); return l.headless("[[delay 8]]", false) },
		"runlong":    func(l *lane) error { l.another(); return l.headless(longDelay, false) },
		"rerun":      func(l *lane) error { return l.headless("[[delay 8]]", true) },
		"rerunlong":  func(l *lane) error { return l.headless(longDelay, true) },
		"short":      func(l *lane) error { return l.answered("") },
		"medium":     func(l *lane) error { return l.answered("[[delay 12]]") },
		"long":       func(l *lane) error { return l.works(longDelay) },
		"slow":       func(l *lane) error { return l.works("[[delay 25]]") },
		"fail":       (*lane).fails,
		"tool":       (*lane).tool,
		"wait":       func(l *lane) error { return l.waits(l.kind.permission) },
		"ask":        func(l *lane) error { return l.waits(l.kind.question) },
		"answer":     (*lane).answer,
		"refuse":     (*lane).refuse,
		"esc":        (*lane).escape,
		"dialog":     (*lane).dialog,
		"new":        (*lane).newInProcess,
		"stop":       (*lane).suspend,
		"cont":       (*lane).resumeProcess,
		"kill":       func(l *lane) error { return l.end(unix.SIGKILL) },
		"term":       func(l *lane) error { return l.end(unix.SIGTERM) },
		"int":        func(l *lane) error { return l.end(unix.SIGINT) },
		"close":      (*lane).hangUp,
		"exit":       func(l *lane) error { return l.exits(l.kind.exit) },
		"ctrlc":      func(l *lane) error { return l.exits("C-c") },
		"ctrld":      func(l *lane) error { return l.exits("C-d") },
		"await":      (*lane).await,
		"killdaemon": (*lane).killDaemon,
		"move":       func(l *lane) error { return l.st.moveFolder(l.release.Agent, true) },
		"link":       func(l *lane) error { return l.st.moveFolder(l.release.Agent, false) },
	}
}

// another has the lane begin another session in the same place, if it had one.
func (l *lane) another() {
	if x := l.x; len(x.steps) > 0 {
		l.x = l.st.newSession(&stormSession{kind: x.kind, release: x.release, folder: x.folder, home: x.home, plot: x.plot,
			alone: x.alone, ephemeral: x.ephemeral})
	}
}

func (l *lane) opened() error {
	l.another()
	if err := l.openTerminal(l.kind.open(l.x), ""); err != nil {
		return err
	}
	l.st.holds(l.x, func() {})
	return nil
}

// resume opens the ended session again, without a prompt.
func (l *lane) resume() error {
	if err := l.learnID(); err != nil {
		return err
	}
	if err := l.openTerminal(l.kind.resume(l.x, ""), ""); err != nil {
		return err
	}
	l.x.setDaemon(l.st)
	l.st.holds(l.x, func() { l.x.hidden = l.kind.resumeHidden })
	return nil
}

// resumeLong opens it again with a prompt.
func (l *lane) resumeLong() error {
	if err := l.learnID(); err != nil {
		return err
	}
	prompt := l.prompt(longDelay)
	if err := l.openTerminal(l.kind.resume(l.x, prompt), prompt); err != nil {
		return err
	}
	l.x.setDaemon(l.st)
	l.st.holds(l.x, func() { l.x.turn, l.x.hidden = inTurn, false })
	return nil
}

// learnID finds the id under which the agent takes the session up again. It asks
// Rollcall: a wrong id would show, as another conversation's marks.
func (l *lane) learnID() error {
	if l.x.id != "" {
		return nil
	}
	return until(stepLimit, "listed, to be resumed", func() bool {
		roll, err := l.st.s.List("--all", "--agent", l.release.Agent)
		if err != nil {
			return false
		}
		for i := range roll.Sessions {
			if markOf(&roll.Sessions[i]) == l.x.mark && roll.Sessions[i].Parent == "" {
				l.st.mu.Lock()
				l.x.id = roll.Sessions[i].ID
				l.st.mu.Unlock()
				return true
			}
		}
		return false
	})
}

// remember learns the id of a session in a home of its own while its process names
// that home: later nothing does.
func (l *lane) remember() {
	again := strings.Contains(l.plot, "resume") || strings.Contains(l.plot, "rerun")
	if again && l.x.home != "" && l.x.id == "" && l.x.prompts > 0 {
		_ = l.learnID() // the step that needs it says so
	}
}

// prompt is the next prompt's text.
func (l *lane) prompt(directives string) string {
	l.st.mu.Lock()
	defer l.st.mu.Unlock()
	l.x.prompts++
	return strings.TrimSpace(fmt.Sprintf("%s p%d go %s [[title %s]]", l.x.mark, l.x.prompts, directives, l.x.mark))
}

// headless runs the agent without a terminal.
func (l *lane) headless(directives string, again bool) error {
	st, x := l.st, l.x
	if again {
		if err := l.learnID(); err != nil {
			return err
		}
	}
	if err := st.apart(l.ctx, x); err != nil {
		return err
	}
	prompt := l.prompt(directives)
	args := l.kind.run(x, prompt, again)
	began := st.happens(x, "runs without a terminal: %s %s", l.release, strings.Join(args, " "))
	wrapper, err := l.detach(st.s.Argv(l.release, args...))
	if err != nil {
		return err
	}
	l.terminal = nil
	asked, err := l.asked(x.prompts, began)
	if err != nil {
		return err
	}
	agent := st.topmost(wrapper, l.kind.comm)
	if agent.PID == 0 {
		return fmt.Errorf("no process %s", l.kind.comm)
	}
	if err := l.took(agent); err != nil {
		return err
	}
	if directives == longDelay {
		st.holds(x, func() { x.turn, x.hidden = inTurn, false })
		return nil
	}
	st.holds(x, func() { x.turn, x.hidden, x.until = inTurn, false, asked.Add(7*time.Second) })
	if err := until(stepLimit, "over", func() bool { return !alive(agent.PID) }); err != nil {
		return err
	}
	gone := time.Now()
	st.happens(x, "ended by itself")
	st.owes(x, endedKind, asked, gone, completed)
	st.holds(x, func() { x.turn, x.running = completed, false })
	return nil
}

// detach starts a program without a terminal, in the session's folder.
func (l *lane) detach(argv []string) (pid int, err error) {
	log, err := os.Create(l.st.logPath())
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command("sh", append([]string{"-c", `setsid "$@" </dev/null & wait`, "wrapper"}, argv...)...)
	cmd.Dir, cmd.Env = l.x.folder, append(l.st.s.Env(), l.env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // ended by the storm or with it
	return cmd.Process.Pid, nil
}

// enter types a prompt and sends it; it returns when the agent has asked the model.
func (l *lane) enter(directives, why string) (time.Time, error) {
	st, x := l.st, l.x
	prompt := l.prompt(directives)
	began := st.happens(x, "%s: %s", why, prompt)
	if err := l.types(prompt); err != nil {
		return time.Time{}, err
	}
	var pressed, at time.Time
	err := until(stepLimit, "asked "+prompt, func() bool {
		if at, _, _ = l.request(x.prompts, began); !at.IsZero() {
			return true
		}
		if time.Since(pressed) > 6*time.Second { // agents drop keys while they start
			l.press("Enter")
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		return at, fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	x.setDaemon(st)
	return at, nil
}

// setDaemon notes the process that has the session, where it is not the one in
// the terminal.
func (x *stormSession) setDaemon(st *storm) {
	if !x.daemon {
		return
	}
	if p, err := st.daemonOf(x); err == nil {
		st.mu.Lock()
		x.pid = p.PID
		st.mu.Unlock()
	}
}

func (l *lane) press(keys ...string) {
	_, _ = l.st.s.tryTmux(append([]string{"send-keys", "-t", l.terminal.pane()}, keys...)...) // the terminal may be closed by now
}

// works gives a prompt that is not answered soon.
func (l *lane) works(directives string) error {
	asked, err := l.enter(directives, "prompt")
	if err != nil {
		return err
	}
	l.st.holds(l.x, func() {
		l.x.turn, l.x.hidden, l.x.due = inTurn, false, time.Time{}
		if directives != longDelay {
			l.x.due = asked.Add(20 * time.Second)
		}
		l.x.until = l.x.due
	})
	return nil
}

// answered gives a prompt and waits for its answer.
func (l *lane) answered(directives string) error {
	asked, err := l.enter(directives, "prompt")
	if err != nil {
		return err
	}
	if directives != "" {
		l.st.holds(l.x, func() { l.x.turn, l.x.hidden, l.x.until = inTurn, false, asked.Add(11*time.Second) })
	}
	return l.isAnswered(asked)
}

func (l *lane) isAnswered(asked time.Time) error {
	key := fmt.Sprintf("Mock answer to: %s p%d", l.x.mark, l.x.prompts)
	err := until(stepLimit, "answered", func() bool {
		_, status, _ := l.request(l.x.prompts, asked)
		return status == 200
	})
	if err != nil {
		return err
	}
	l.st.happens(l.x, "the model answered")
	if err := l.shows("shown the answer", key); err != nil {
		return err
	}
	l.st.holds(l.x, func() { l.x.turn, l.x.hidden = completed, false })
	return nil
}

func (l *lane) fails() error {
	asked, err := l.enter("[[fail 400]]", "prompt that fails")
	if err != nil {
		return err
	}
	err = until(stepLimit, "failed", func() bool {
		_, status, _ := l.request(l.x.prompts, asked)
		return status == 400
	})
	if err != nil {
		return err
	}
	if err := l.shows("failed", "mock failure 400"); err != nil {
		return err
	}
	l.st.holds(l.x, func() { l.x.turn, l.x.hidden = failed, false })
	return nil
}

// tool has the agent run a command that takes long.
func (l *lane) tool() error {
	if _, err := l.enter("[[bash "+l.st.longJob()+"]]", "command that runs long"); err != nil {
		return err
	}
	if err := until(stepLimit, "running its command", func() bool { return l.sleeper().PID != 0 }); err != nil {
		return fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	l.st.holds(l.x, func() { l.x.turn, l.x.hidden = inTurn, false })
	return nil
}

// waits brings the agent to ask the user.
func (l *lane) waits(d *stormDialog) error {
	if d == nil {
		return errors.New("this agent does not ask")
	}
	directive := strings.ReplaceAll(d.directive, "%s", fmt.Sprintf("%s-%d", l.x.mark, l.x.prompts+1))
	asked, err := l.enter(directive, "prompt that asks the user")
	if err != nil {
		return err
	}
	if err := l.shows("asking", d.shows); err != nil {
		return err
	}
	l.st.owes(l.x, waitKind, asked, time.Now(), d.turn)
	l.st.holds(l.x, func() { l.x.turn, l.x.hidden = d.turn, false })
	return nil
}

// askedFile is what a permitted command makes.
func (l *lane) askedFile() string {
	name := fmt.Sprintf("asked-%s-%d.txt", l.x.mark, l.x.prompts)
	if l.release.Agent == CodexNewest.Agent {
		return filepath.Join(filepath.Dir(l.x.folder), name)
	}
	return filepath.Join(l.x.folder, name)
}
