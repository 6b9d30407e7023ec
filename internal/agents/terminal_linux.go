package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/internal/modelserver"
	"rollcall/internal/pressure"
)

// Terminal is a terminal with a program in it, kept by a tmux server of the
// sandbox's own, which answers what programs ask of terminals.
type Terminal struct {
	escaped time.Time // when Escape was last pressed
	s       *Sandbox
	name    string
}

// Open starts a program in a new terminal, in the sandbox's project.
func (s *Sandbox) Open(argv ...string) *Terminal {
	s.t.Helper()
	return s.open([]string{"-u", "TMUX", "-u", "TMUX_PANE"}, argv)
}

// OpenInTmux is Open for a program that can know that tmux shows it.
func (s *Sandbox) OpenInTmux(argv ...string) *Terminal {
	s.t.Helper()
	return s.open(nil, argv)
}

// open starts a program with env and these options.
func (s *Sandbox) open(options, argv []string) *Terminal {
	s.t.Helper()
	s.terminals++
	t := &Terminal{s: s, name: "t" + strconv.Itoa(s.terminals)}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-s", t.name, "-x", "180", "-y", "50", "-c", s.Project, "env"}
	args = append(append(append(args, options...), s.Env()...), argv...)
	_, err := s.tryTmux(args...)
	if err != nil && strings.Contains(err.Error(), "server exited") { // the server of the terminal before was about to end
		_, err = s.tryTmux(args...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("terminal %s:\n%s", t.name, t.Screen())
		}
	})
	return t
}

// pane names the terminal to tmux, exactly: without the "=" the keys for a terminal
// that is closed would go to another whose name begins with its name.
func (t *Terminal) pane() string { return "=" + t.name + ":" }

// tmux runs one command of tmux and returns what it printed.
func (s *Sandbox) tmux(args ...string) string {
	s.t.Helper()
	output, err := s.tryTmux(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return output
}

func (s *Sandbox) tryTmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, "tmux")}, args...)...)
	cmd.Dir, cmd.Env = s.Project, s.Env()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

// Screen returns what the terminal shows, empty lines left out.
func (t *Terminal) Screen() string {
	text, err := t.s.tryTmux("capture-pane", "-p", "-t", t.pane())
	if err != nil {
		return err.Error() // the terminal closes with its program
	}
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
	}
	return strings.Join(lines, "\n")
}

// Shows waits until the screen shows any of the texts.
func (t *Terminal) Shows(texts ...string) {
	t.s.t.Helper()
	screen := ""
	err := poll(60*time.Second, func() bool {
		screen = t.Screen()
		for _, text := range texts {
			if strings.Contains(screen, text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.s.t.Fatalf("terminal %s shows none of %q: %v\n%s", t.name, texts, err, screen)
	}
}

// Press sends keys by their tmux names.
func (t *Terminal) Press(keys ...string) {
	t.s.t.Helper()
	t.s.tmux(append([]string{"send-keys", "-t", t.pane()}, keys...)...)
	if slices.Contains(keys, "Escape") {
		t.escaped = time.Now()
	}
}

// Answer presses a key until the screen shows the text: dialogs that have just
// come up ignore keys for a moment, so that nobody answers them by accident.
func (t *Terminal) Answer(key, text string) {
	t.s.t.Helper()
	t.insist(key, text, true)
}

// Dismiss presses a key until the screen does not show the text any more. It waits for the text first: an agent may record a request before it
// shows it.
func (t *Terminal) Dismiss(key, text string) {
	t.s.t.Helper()
	t.Shows(text)
	t.insist(key, text, false)
}

func (t *Terminal) insist(key, text string, shown bool) {
	t.s.t.Helper()
	var pressed time.Time
	err := poll(30*time.Second, func() bool {
		if strings.Contains(t.Screen(), text) == shown {
			return true
		}
		if time.Since(pressed) > time.Second {
			t.Press(key)
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		t.s.t.Fatalf("%q does not make %q shown: %v: %v\n%s", key, text, shown, err, t.Screen())
	}
}

// Choose presses a key until the screen shows a choice as the chosen one, and goes
// on showing it: a dialog takes an Enter right behind the key for the choice before.
func (t *Terminal) Choose(key, text string) {
	t.s.t.Helper()
	var pressed, shown time.Time
	err := poll(30*time.Second, func() bool {
		switch now := time.Now(); {
		case strings.Contains(t.Screen(), text):
			if shown.IsZero() {
				shown = now
			}
			return now.Sub(shown) > 300*time.Millisecond
		case now.Sub(pressed) > 2*time.Second: // twice leads on to the next
			t.Press(key)
			pressed = now
		}
		shown = time.Time{}
		return false
	})
	if err != nil {
		t.s.t.Fatalf("%q does not choose %q: %v\n%s", key, text, err, t.Screen())
	}
}

// Enter types a line and, once it is shown, presses Enter. An agent that starts may drop what is typed, though it shows its input box: then the line
// is typed again.
func (t *Terminal) Enter(line string) {
	t.s.t.Helper()
	time.Sleep(time.Until(t.escaped.Add(time.Second))) // Escape and a letter that follows at once are Alt and the letter
	var typed time.Time
	err := poll(60*time.Second, func() bool {
		if !typed.IsZero() && strings.Contains(t.Screen(), line) {
			return true
		}
		if typed.IsZero() || time.Since(typed) > 10*time.Second+min(pressure.StalledSince(typed), 30*time.Second) {
			t.s.tmux("send-keys", "-t", t.pane(), "-l", line)
			typed = time.Now()
		}
		return false
	})
	if err != nil {
		t.s.t.Fatalf("%q is typed and not shown: %v\n%s", line, err, t.Screen())
	}
	t.Press("Enter")
}

// Leave enters the command with which a user leaves a program, and presses Enter again until its process has ended: the list of
// commands that the line opens may take Enter for itself.
func (t *Terminal) Leave(line string, p Process) {
	t.s.t.Helper()
	t.Enter(line)
	pressed := time.Now()
	err := poll(20*time.Second, func() bool {
		if time.Since(pressed) > time.Second {
			_, _ = t.s.tryTmux("send-keys", "-t", t.pane(), "Enter") // the terminal closes with its program
			pressed = time.Now()
		}
		return !p.isAlive()
	})
	if err != nil {
		t.s.t.Fatalf("%v: %v", p, err)
	}
}

// Prompt gives the agent a prompt and returns the time at which it asked the
// model: its turn had begun by then. Enter is pressed again as long as nothing
// happens, for agents drop it while they start.
func (t *Terminal) Prompt(prompt string) time.Time {
	t.s.t.Helper()
	t.Enter(prompt)
	pressed := time.Now()
	var asked time.Time
	err := poll(60*time.Second, func() bool {
		asked = t.s.asked(prompt)
		if !asked.IsZero() {
			return true
		}
		// On a busy machine a second Enter could come when the agent has asked already, and answer its question.
		if time.Since(pressed) > 3*time.Second+min(pressure.StalledSince(pressed), 30*time.Second) {
			t.Press("Enter")
			pressed = time.Now()
		}
		return false
	})
	if err != nil {
		t.s.t.Fatalf("the agent does not ask the model %q: %v\n%s", prompt, err, t.Screen())
	}
	return asked
}

// PromptUntil gives the agent a prompt, and waits until the screen shows any of the texts. It returns what Prompt does.
func (t *Terminal) PromptUntil(prompt string, texts ...string) time.Time {
	t.s.t.Helper()
	asked := t.Prompt(prompt)
	t.Shows(texts...)
	return asked
}

// Works gives the agent a prompt, and returns the session when it is listed as working.
func (t *Terminal) Works(session who, prompt string) Session {
	t.s.t.Helper()
	return t.s.Becomes(session, t.Prompt(prompt), soon, "working")
}

// PID returns the process that the terminal was opened with.
func (t *Terminal) PID() int {
	t.s.t.Helper()
	pid, err := strconv.Atoi(t.s.tmux("display-message", "-p", "-t", t.pane(), "#{pane_pid}"))
	if err != nil {
		t.s.t.Fatal(err)
	}
	return pid
}

// Close closes the terminal, as the user closes its window: what runs in it is
// hung up.
func (t *Terminal) Close() {
	t.s.t.Helper()
	t.s.tmux("kill-session", "-t", t.pane())
}

// asked returns when a main conversation asked the model that prompt; zero: not yet.
func (s *Sandbox) asked(prompt string) time.Time {
	for _, r := range s.Server.Requests() {
		if !r.Side && !r.Tool && strings.Contains(r.Prompt, prompt) {
			return r.At
		}
	}
	return time.Time{}
}

// left reports whether an agent asked that and hung up before the answer.
func (s *Sandbox) left(prompt string) bool {
	return slices.ContainsFunc(s.Server.Requests(), func(r modelserver.Request) bool {
		return r.Left && strings.Contains(r.Prompt, prompt)
	})
}

// Asked waits until the agent asks the model that prompt, and returns when.
func (s *Sandbox) Asked(prompt string) time.Time {
	s.t.Helper()
	var at time.Time
	if err := poll(60*time.Second, func() bool { at = s.asked(prompt); return !at.IsZero() }); err != nil {
		s.t.Fatalf("nobody asks the model %q: %v", prompt, err)
	}
	return at
}

// Detached starts a program without a terminal, input or ties to the test: it is
// the child of a shell that stands for whatever wrapper launched it. It
// returns the wrapper.
func (s *Sandbox) Detached(argv ...string) Process {
	s.t.Helper()
	s.terminals++
	log, err := os.Create(filepath.Join(s.dir, fmt.Sprintf("log%d", s.terminals)))
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command("sh", append([]string{"-c", `setsid "$@" </dev/null & wait`, "wrapper"}, argv...)...)
	cmd.Dir, cmd.Env = s.Project, s.Env()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	name := log.Name()
	go func() { _ = cmd.Wait() }() // killed by the test or with it
	s.t.Cleanup(func() {
		if text, err := os.ReadFile(name); err == nil && s.t.Failed() {
			s.t.Logf("%s:\n%.4000s", strings.Join(argv, " "), text)
		}
	})
	return Process{PID: cmd.Process.Pid, Comm: "sh", Args: argv}
}
