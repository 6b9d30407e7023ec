// Package tmux reads what a pane of tmux shows, and presses one key in it if it still shows
// the same. Facts were learned from tmux 3.3a.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/environ"
	"rollcall/proc"
)

// Pane is a pane of a tmux server of this user, with the process of an agent in it.
type Pane struct {
	socket string
	id     string // "%6"
	pid    int    // of the program that the pane was opened with
}

// ErrNoPane reports that a process does not run in a pane that can be used.
var ErrNoPane = errors.New("it runs in no pane of tmux")

// ErrRefused reports that tmux pressed no key: the pane shows something else now.
var ErrRefused = errors.New("the pane shows something else now")

var paneID = regexp.MustCompile(`^%[0-9]{1,9}$`)

// Find returns the pane in which a process runs, by its environment (TMUX, TMUX_PANE). The
// process must be below the program of that pane, and the server's socket must belong to
// this user.
func Find(ctx context.Context, table proc.Lister, id proc.Identity) (*Pane, error) {
	env, err := table.Env(id)
	if err != nil {
		return nil, fmt.Errorf("%w: its environment can't be read: %w", ErrNoPane, err)
	}
	socket, _, _ := strings.Cut(environ.Get(env, "TMUX"), ",")
	p := &Pane{socket: socket, id: environ.Get(env, "TMUX_PANE")}
	if socket == "" || !paneID.MatchString(p.id) {
		return nil, ErrNoPane
	}
	if err := checkSocket(socket); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPane, err)
	}
	out, err := p.run(ctx, "display-message", "-p", "-t", p.id, "#{pane_pid}")
	if err != nil {
		return nil, err
	}
	if p.pid, err = strconv.Atoi(strings.TrimSpace(out)); err != nil {
		return nil, fmt.Errorf("%w: tmux knows no pane %s", ErrNoPane, p.id)
	}
	return p, p.holds(ctx, table, id)
}

// holds returns an error unless the process is the pane's program or below it. The variables
// of a process alone prove nothing: they are inherited by terminals that tmux opened.
func (p *Pane) holds(ctx context.Context, table proc.Lister, id proc.Identity) error {
	list, err := table.List(ctx)
	if err != nil && len(list) == 0 {
		return err
	}
	i := slices.IndexFunc(list, func(r proc.Process) bool { return r.PID == p.pid })
	if i < 0 {
		return fmt.Errorf("%w: the program of pane %s has ended", ErrNoPane, p.id)
	}
	below := proc.Descendants(list, list[i].Identity)
	if list[i].Identity == id || slices.ContainsFunc(below, func(r proc.Process) bool { return r.Identity == id }) {
		return nil
	}
	return fmt.Errorf("%w: process %d is not in pane %s", ErrNoPane, id.PID, p.id)
}

// checkSocket returns an error unless a socket belongs to this user, in a folder in which no
// other user can replace it.
func checkSocket(path string) error {
	if !filepath.IsAbs(path) {
		return errors.New("the path of tmux's socket is not absolute")
	}
	socket, err := os.Lstat(path)
	if err != nil {
		return errors.New("tmux's socket is gone")
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return errors.New("the folder of tmux's socket is gone")
	}
	others := folder.Mode().Perm()&0o022 != 0 && folder.Mode()&fs.ModeSticky == 0
	if socket.Mode()&fs.ModeSocket == 0 || !agentfile.OwnedByUser(socket) || others {
		return fmt.Errorf("%s is not a socket of yours alone", path)
	}
	return nil
}

// run runs one command of tmux, which starts no server.
func (p *Pane) run(ctx context.Context, args ...string) (string, error) {
	program, err := exec.LookPath("tmux")
	if err != nil {
		return "", fmt.Errorf("%w: tmux is not installed here", ErrNoPane)
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-S", p.socket}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TMUX") })
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%w: tmux: %s", ErrNoPane, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// Name returns the pane's name for the user.
func (p *Pane) Name() string { return "tmux pane " + p.id }

// Screen returns the lines that the pane's program shows now, from the top, without the
// blanks at their ends. The history above them is not part of it.
func (p *Pane) Screen(ctx context.Context) ([]string, error) {
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

// mark is the option of a pane that has the name of the last Press, so that of several callers
// one presses a key.
const mark = "@rollcall_answered"

// maxGuard bounds the condition of Press, in bytes: tmux takes commands of 16 KB.
const maxGuard = 12 << 10

// Press presses a key if the pane shows all the given rows of a screen where they were, is
// not in a mode, and no key was pressed under this name before. tmux decides and presses in
// one step. ErrRefused: it pressed none.
func (p *Pane) Press(ctx context.Context, key, name string, screen []string, rows []int) error {
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
		return ErrRefused
	}
	return nil
}

// guard returns tmux's condition for Press.
func (p *Pane) guard(name string, screen []string, rows []int) (string, error) {
	conditions := []string{
		"#{==:#{pane_in_mode},0}", "#{==:#{pane_synchronized},0}", "#{==:#{pane_dead},0}", //nolint:misspell // tmux's own name
		fmt.Sprintf("#{==:#{pane_pid},%d}", p.pid), "#{!=:#{" + mark + "}," + name + "}",
	}
	for _, row := range rows {
		if screen[row] == "" {
			continue
		}
		if first(screen, screen[row]) != row {
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

// first returns the first row that is the same as line. tmux's search finds that one.
func first(screen []string, line string) int { return slices.Index(screen, line) }

// all joins conditions so that they nest as little as possible: tmux limits the depth.
func all(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return "#{&&:" + all(conditions[:half]) + "," + all(conditions[half:]) + "}"
}

// escape returns a line as a regular expression for itself alone, inside of a format of tmux:
// first for the expression, then for the format, in which "#", "}" and "," have a meaning.
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
