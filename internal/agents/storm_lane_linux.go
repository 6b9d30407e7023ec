package agents

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lane drives one agent after the other, each through a plot: a line of steps.
type lane struct {
	st      *storm
	n       int
	release Release
	kind    *stormKind
	rng     *rand.Rand
	folder  string
	plots   []string
	once    bool // only the plots, each once

	// Of the life at hand.
	plot     string
	ctx      context.Context
	x        *stormSession
	terminal *Terminal
	env      []string
	draft    bool // a prompt that was taken back is in the input
}

// run takes the lane through its plots, and then through others that are drawn
// at random, until ctx is done.
func (l *lane) run(ctx context.Context) {
	l.kind = kindOf(l.release)
	if !l.once && !pause(ctx, time.Duration(l.rng.IntN(8000))*time.Millisecond) {
		return
	}
	for i := 0; ctx.Err() == nil && (i < len(l.plots) || !l.once); i++ {
		plot := walk(l.rng, l.kind, l.release)
		if i < len(l.plots) {
			plot = l.plots[i]
		}
		l.life(ctx, plot)
	}
}

// life takes one agent through a plot, from its start until it is gone.
func (l *lane) life(ctx context.Context, plot string) {
	l.st.mu.Lock()
	l.st.lives++
	l.st.mu.Unlock()
	l.ctx, l.plot, l.x, l.terminal, l.env, l.draft = ctx, plot, nil, nil, nil, false
	err := l.play(strings.Fields(plot))
	if err != nil { // also once the storm is over: close ends what is not known to run
		if ctx.Err() == nil {
			l.st.trouble(l, plot, err)
		}
		l.lose()
	}
	if x := l.x; x != nil && !x.lost && x.running && !x.left && !x.remote {
		if err := l.step("kill"); err != nil {
			l.lose()
		}
	}
	l.close()
}

// play takes the steps of a plot. Words before the first step say where the
// agent runs.
func (l *lane) play(words []string) error {
	x := &stormSession{kind: l.kind, release: l.release, folder: l.folder, plot: l.plot}
	for len(words) > 0 {
		switch words[0] {
		case "shared":
			x.folder = l.st.shared(l.release.Agent)
		case "own":
			home, env, err := l.st.ownHome(l.release, l.kind)
			if err != nil {
				return err
			}
			x.home, l.env = home, env
		case "alone":
			x.alone = true
		case "ephemeral":
			x.ephemeral = true
		default:
			l.x = l.st.newSession(x)
			return l.steps(words)
		}
		words = words[1:]
	}
	return fmt.Errorf("plot %q has no steps", l.plot)
}

func (l *lane) steps(words []string) error {
	for _, word := range words {
		if l.ctx.Err() != nil {
			return nil
		}
		name, now := strings.CutSuffix(word, "!")
		if err := l.step(name); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
		l.rest(now)
	}
	return nil
}

// rest waits before the next step: a moment, or until what is true now was
// compared, which takes longer on a busy machine.
func (l *lane) rest(moment bool) {
	if moment {
		pause(l.ctx, time.Duration(l.rng.IntN(700))*time.Millisecond)
		return
	}
	pause(l.ctx, time.Duration(4000+l.rng.IntN(10_000))*time.Millisecond)
	_ = until(settle+settleMore+2*checkEvery, "compared", func() bool { // or not: it may end by itself
		l.st.mu.Lock()
		defer l.st.mu.Unlock()
		return l.x.checked == l.x.version || l.ctx.Err() != nil
	})
}

// step takes one step, while the agent's folder stays where it is.
func (l *lane) step(name string) error {
	do, ok := stormSteps[name]
	if l.kind.comm == "" {
		do, ok = gatewaySteps[name]
	}
	if !ok {
		return fmt.Errorf("no such step: %q", name)
	}
	if l.x.home == "" && name != "move" && name != "link" { // which wait for the steps of others
		folder := l.st.quiet[l.release.Agent]
		folder.RLock()
		defer folder.RUnlock()
	}
	return do(l)
}

// newSession enters a session under a mark that nothing else has.
func (st *storm) newSession(x *stormSession) *stormSession {
	st.mu.Lock()
	defer st.mu.Unlock()
	x.mark = "s" + strconv.Itoa(len(st.sessions)+101)
	x.began = time.Now()
	if x.kind.choosesID {
		x.id = uuid(st.t)
	}
	st.sessions = append(st.sessions, x)
	return x
}

// lose gives a session up: nothing is known of it any more.
func (l *lane) lose() {
	if l.x == nil {
		return
	}
	l.st.happens(l.x, "lost by its driver")
	l.st.mu.Lock()
	l.x.lost = true
	pid := l.x.pid
	daemon := l.x.daemon
	l.st.mu.Unlock()
	if pid != 0 && !daemon {
		_ = unix.Kill(pid, unix.SIGKILL) // gone is as good
	}
}

// close closes what is left of the terminal.
func (l *lane) close() {
	if l.terminal != nil {
		_, _ = l.st.s.tryTmux("kill-session", "-t", l.terminal.pane()) // mostly closed with its program
	}
}

// openTerminal starts the agent in a terminal, and returns when it takes prompts.
func (l *lane) openTerminal(args []string, prompt string) error {
	st, x := l.st, l.x
	l.close()
	if err := st.apart(l.ctx, x); err != nil {
		return err
	}
	select {
	case st.starts <- struct{}{}:
		defer func() { <-st.starts }()
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	began := st.happens(x, "opens a terminal: %s %s", l.release, strings.Join(args, " "))
	st.mu.Lock()
	st.names++
	l.terminal = &Terminal{s: st.s, name: fmt.Sprintf("storm%d", st.names)}
	st.mu.Unlock()
	argv := []string{"-f", "/dev/null", "new-session", "-d", "-s", l.terminal.name, "-x", "180", "-y", "50", "-c", x.folder,
		"env", "-u", "TMUX", "-u", "TMUX_PANE"}
	argv = append(append(argv, st.s.Env()...), l.env...)
	argv = append(argv, "sh", "-c", `"$@"; exit`, "sh") // tmux lets a child of its own go on that is suspended
	if _, err := st.s.tryTmux(append(argv, st.s.Argv(l.release, args...)...)...); err != nil {
		return err
	}
	top, err := l.pane()
	if err != nil {
		return err
	}
	if prompt == "" {
		if err := l.shows("ready", l.kind.ready...); err != nil {
			return err
		}
	} else if _, err := l.asked(x.prompts, began); err != nil {
		return err
	}
	// Not before: a script that starts the agent bears its name for a moment.
	agent := st.topmost(top, l.kind.comm)
	if agent.PID == 0 {
		return fmt.Errorf("no process %s; the terminal shows:\n%s", l.kind.comm, l.terminal.Screen())
	}
	return l.took(agent)
}

// took notes the process that was started.
func (l *lane) took(agent Process) error {
	x := l.x
	daemon := l.release == CodexNewest && !x.alone && l.terminal != nil
	l.st.mu.Lock()
	defer l.st.mu.Unlock()
	x.running, x.left, x.suspended, x.daemon = true, false, false, daemon
	x.pid, x.terminal = agent.PID, 0
	if daemon {
		x.terminal = agent.PID
	}
	return nil
}

// pane is the process that the terminal was opened with.
func (l *lane) pane() (int, error) {
	text, err := l.st.s.tryTmux("display-message", "-p", "-t", l.terminal.pane(), "#{pane_pid}")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// apart waits until nobody has opened the agent in the same folder for a while:
// several of OpenCode's processes are told apart by their first seconds.
func (st *storm) apart(ctx context.Context, x *stormSession) error {
	key := x.release.Agent + " " + x.folder
	for {
		st.mu.Lock()
		wait := time.Until(st.lastOpen[key].Add(apartInFolder))
		if wait <= 0 {
			st.lastOpen[key] = time.Now()
			st.mu.Unlock()
			return nil
		}
		st.mu.Unlock()
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

const apartInFolder = 5 * time.Second

// topmost is the uppermost process of that name at or below pid.
func (st *storm) topmost(pid int, comm string) Process {
	var found Process
	all := st.s.Processes()
	for _, p := range all {
		if p.Comm == comm && below(all, p.PID, pid) && (found.PID == 0 || below(all, found.PID, p.PID)) {
			found = p
		}
	}
	return found
}

// shows waits until the terminal shows one of the texts.
func (l *lane) shows(what string, texts ...string) error {
	screen := ""
	err := until(stepLimit, what, func() bool {
		screen = l.terminal.Screen()
		for _, text := range texts {
			if strings.Contains(screen, text) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("%w; the terminal shows:\n%s", err, screen)
	}
	return nil
}

// request is what the model server knows of a session's prompt.
func (l *lane) request(prompt int, since time.Time) (at time.Time, status int, left bool) {
	key := fmt.Sprintf("%s p%d ", l.x.mark, prompt)
	for _, r := range l.st.s.Server.Requests() {
		if !r.Side && !r.Tool && !r.At.Before(since) && strings.Contains(r.Prompt, key) {
			at, status, left = r.At, r.Status, r.Left
		}
	}
	return at, status, left
}

// asked waits until the agent has asked the model a prompt.
func (l *lane) asked(prompt int, since time.Time) (time.Time, error) {
	var at time.Time
	err := until(stepLimit, fmt.Sprintf("asked %s p%d", l.x.mark, prompt), func() bool {
		at, _, _ = l.request(prompt, since)
		return !at.IsZero()
	})
	if err != nil && l.terminal != nil {
		err = fmt.Errorf("%w; the terminal shows:\n%s", err, l.terminal.Screen())
	}
	return at, err
}

// sleeper is the command that runs for long below a process, if it does.
func (l *lane) sleeper() Process {
	all := l.st.s.Processes()
	for _, p := range all {
		if p.Comm == "sleep" && len(p.Args) == 2 && p.Args[1] == longSleep && below(all, p.PID, l.x.pid) {
			return p
		}
	}
	return Process{}
}

// daemonOf is the process of Codex's daemon that keeps the sessions of a home.
func (st *storm) daemonOf(x *stormSession) (Process, error) {
	for _, p := range st.s.Processes() {
		if p.Comm != "codex" || !containsAll(strings.Join(p.Args, " "), []string{"app-server", "--managed-daemon"}) {
			continue
		}
		if environ(p.PID, x.kind.homeKey) == x.home {
			return p, nil
		}
	}
	return Process{}, errors.New("no daemon of Codex")
}

// logPath is where the output of a program without a terminal goes.
func (st *storm) logPath() string {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.names++
	return filepath.Join(st.s.dir, fmt.Sprintf("storm-log%d", st.names))
}
