package machine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/bounded"
	"rollcall/proc"
)

// Program is a program of the user's for an agent, which speaks the form of "watch --json --snapshot". One of rows or requests is run for each question, until
// its list is complete, one of answers for each answer.
type Program struct {
	Agent   adapters.Name
	Command []string // the program's absolute path and its arguments
	Dir     string   // the folder in which it runs
	Limit   time.Duration
}

// programLimit is how long a program may take: less than an adapter has.
const programLimit = 4 * time.Second

// Rows runs the program and returns its rows, cleaned as those of another machine. The error says why the list is not complete; the rows are then those that
// came before.
func (p *Program) Rows(ctx context.Context) (rows []adapters.ProgramRow, err error) {
	limit := p.limit()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen := newMirror(string(p.Agent))
	seen.begin(time.Now())
	processes := map[string]SessionJSON{} // the process of each row, by the id that the program gives it
	err = p.stream(ctx, nil, func(l *line) error {
		if l.Event == "session" && l.Session != nil && len(processes) < maxSessions {
			processes[l.Session.ID] = SessionJSON{PID: l.Session.PID, PIDStart: l.Session.PIDStart}
		}
		if seen.take(l, time.Now()); seen.connected {
			return errDone
		}
		return ctx.Err()
	})
	switch {
	case seen.connected:
		err = problemsOf(seen)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no complete list (a line with the event \"roll\") in %s", present.Age(limit))
	}
	roll := seen.roll()
	if !seen.connected {
		roll = seen.partial(time.Now(), "")
	}
	for i := range roll.Sessions {
		s := &roll.Sessions[i]
		of := processes[s.IDThere()]
		s.Agent = p.Agent
		s.Place = adapters.Place{CWD: s.CWD, Branch: s.Branch}
		s.Host, s.Name = "", ""
		rows = append(rows, adapters.ProgramRow{Session: s.Session, PID: of.PID, Start: of.PIDStart})
	}
	return rows, err
}

// problemsOf returns what is missing from a complete list; nil: nothing.
func problemsOf(seen *mirror) error {
	var errs []error
	for _, text := range seen.problems() {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// checkProgram returns an error for a program that others than the user can replace.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the program does not exist: correct rows in config.toml")
	case err != nil:
		return fmt.Errorf("the program cannot be examined: %w", err)
	case !info.Mode().IsRegular():
		return errors.New("it is no program: correct rows in config.toml")
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("%s can be changed by other users, so it is not run: chmod o-w %s", name, name)
		}
	}
	return nil
}

// notRun is why a program was not started.
type notRun struct{ error }

// stream runs the program with input on its standard input, and calls take for each line until it returns an error. Nothing of the program runs afterwards.
func (p *Program) stream(ctx context.Context, input []byte, take func(*line) error) error {
	if err := checkProgram(p.Command[0]); err != nil {
		return notRun{err}
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return notRun{err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, p.Command[0], p.Command[1:]...))
	cmd.Dir = p.Dir
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	cmd.WaitDelay = time.Second
	apart(cmd)
	said := bounded.Tail{Max: maxTail}
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return notRun{fmt.Errorf("it cannot be started: %w", err)}
	}
	h := &Host{Machine: settings.Machine{Name: string(p.Agent), Exec: p.Command}}
	r := &reader{host: h, in: bufio.NewReaderSize(out, 64<<10), cancel: cancel, watchdog: time.AfterFunc(helloLimit, func() {})}
	err = r.read(ctx, take)
	r.watchdog.Stop()
	if errors.Is(err, io.EOF) { // its exit code and messages give the reason
		return ended(cmd.Wait(), said.String(), input != nil)
	}
	cancel(err)
	_ = cmd.Wait()
	return err
}

// ended returns why a program ended before its list was complete, or before it said what it did with an answer.
func ended(err error, said string, isAnswer bool) error {
	text, line := "it ended before its list was complete", "roll"
	if isAnswer {
		text, line = "it ended before it said what it did with the answer", "answered"
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		text += fmt.Sprintf(": %s", exit.ProcessState)
	} else {
		text += fmt.Sprintf(" (a line with the event %q)", line)
	}
	if last := lastLine(said); last != "" {
		text += ": " + last
	}
	return errors.New(text)
}
