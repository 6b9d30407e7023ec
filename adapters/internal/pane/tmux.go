package pane

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/termclient"
)

// tmuxPane is a pane of a tmux server of this user. Facts were learned from tmux 3.3a.
type tmuxPane struct {
	server *termclient.Server
	id     string // "%6"
	pid    int    // of the program that the pane was opened with
}

var paneID = regexp.MustCompile(`^%[0-9]{1,9}$`)

// findTmux returns the pane of tmux that the environment of a process names (TMUX, TMUX_PANE).
func findTmux(ctx context.Context, env []string, x proc.Process, ancestors []proc.Identity) (*tmuxPane, error) {
	socket, _, _ := strings.Cut(kit.Get(env, "TMUX"), ",")
	p := &tmuxPane{id: kit.Get(env, "TMUX_PANE")}
	if socket == "" || !paneID.MatchString(p.id) {
		return nil, ErrNoPane
	}
	var err error
	p.server, err = termclient.Find(ctx, termclient.Tmux, socket, ancestors)
	if err != nil {
		return nil, fmt.Errorf("%w that can be used: %w", ErrNoPane, err)
	}
	out, err := p.run(ctx, "display-message", "-p", "-t", p.id, "#{pane_pid}")
	if err != nil {
		return nil, err
	}
	p.pid, err = strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return nil, fmt.Errorf("%w: tmux knows no pane %s", ErrNoPane, p.id)
	}
	// The variables of a process alone prove nothing: they are inherited by terminals that tmux opened.
	if x.PID != p.pid && !slices.ContainsFunc(ancestors, func(id proc.Identity) bool { return id.PID == p.pid }) {
		return nil, fmt.Errorf("%w: process %d is not in pane %s of tmux", ErrNoPane, x.PID, p.id)
	}
	return p, nil
}

// run runs one command of tmux, which starts no server.
func (p *tmuxPane) run(ctx context.Context, args ...string) (string, error) {
	out, err := ask(ctx, p.server, termclient.Client{Program: "tmux", Args: func(socket string) []string {
		return append([]string{"-N", "-S", socket}, args...)
	}})
	return string(out), err
}

// Name implements Pane.
func (p *tmuxPane) Name() string { return "tmux pane " + p.id }

// Screen implements Pane.
func (p *tmuxPane) Screen(ctx context.Context) ([]string, error) {
	mode, err := p.run(ctx, "display-message", "-p", "-t", p.id, "#{pane_in_mode} #{pane_synchronized}") //nolint:misspell // tmux's own name
	if err != nil {
		return nil, err
	}
	switch strings.TrimSpace(mode) {
	case "0 0":
	case "0 1":
		return nil, fmt.Errorf("%w: its keys go to other panes as well", ErrRefused)
	default:
		return nil, fmt.Errorf("%w: it is in copy mode", ErrRefused)
	}
	out, err := p.run(ctx, "capture-pane", "-p", "-t", p.id)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines, nil
}

// mark is the option of a pane that has the name of the last Press, so that only one of several
// callers presses a key.
const mark = "@rollcall_answered"

// maxGuard bounds the condition of Press, in bytes: tmux takes commands of 16 KB.
const maxGuard = 12 << 10

// Press implements Pane.
func (p *tmuxPane) Press(ctx context.Context, key, name string, screen []string, rows []int) error {
	guard, err := p.guard(name, screen, rows)
	if err != nil {
		return err
	}
	press := fmt.Sprintf("send-keys -t %s -l %s ; set-option -p -t %s %s %s ; display-message -p pressed", p.id, key, p.id, mark, name)
	out, err := p.run(ctx, "if-shell", "-F", "-t", p.id, guard, press, "display-message -p refused")
	if err != nil {
		return err
	}
	if strings.TrimSpace(out) != "pressed" {
		return fmt.Errorf("%w: it shows something else", ErrRefused)
	}
	return nil
}

// guard returns tmux's condition for Press.
func (p *tmuxPane) guard(name string, screen []string, rows []int) (string, error) {
	conditions := []string{
		"#{==:#{pane_in_mode},0}", "#{==:#{pane_synchronized},0}", "#{==:#{pane_dead},0}", //nolint:misspell // tmux's own name
		fmt.Sprintf("#{==:#{pane_pid},%d}", p.pid), "#{!=:#{" + mark + "}," + name + "}",
	}
	for _, row := range rows {
		if screen[row] == "" {
			continue
		}
		if slices.Index(screen, screen[row]) != row { // tmux's search finds the first row that is the same
			return "", fmt.Errorf("%w: a line of the request is on the screen twice", ErrRefused)
		}
		conditions = append(conditions, fmt.Sprintf("#{==:#{C/r:%s},%d}", escape(screen[row]), row+1))
	}
	guard := all(conditions)
	if len(guard) > maxGuard {
		return "", fmt.Errorf("%w: the request is too long for tmux", ErrRefused)
	}
	return guard, nil
}

// all joins conditions so that they nest as little as possible: tmux limits the depth.
func all(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return "#{&&:" + all(conditions[:half]) + "," + all(conditions[half:]) + "}"
}

// escape returns a regular expression that matches only the line itself, for use in a format of
// tmux: it escapes first for the expression, then for the format, in which "#", "}" and ","
// have a meaning.
func escape(line string) string {
	var b strings.Builder
	for _, r := range "^" + regexp.QuoteMeta(line) + "$" {
		if r == '#' || r == '}' || r == ',' {
			b.WriteByte('#')
		}
		b.WriteRune(r)
	}
	return b.String()
}
