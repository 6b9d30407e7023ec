package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

type logsCommand struct {
	*env
	follow, raw bool
}

func newLogs(e *env) *cobra.Command {
	c := &logsCommand{env: e}
	return command(&cobra.Command{
		Use:        "logs ID",
		SuggestFor: []string{"log", "output"},
		Short:      "Show what a launch printed",
		Long: `Show what an agent printed that Rollcall launched in the background. ID is the id
of the launch or of its session, or a unique prefix of it. A log is kept
until 24 hours after the end of the launch; the conversation of a session is
shown by rollcall peek.

Escape sequences and control characters are left out unless --raw is given.`,
		Example: `  rollcall logs l-1f2e3d4c5b
  rollcall logs 9830e65d --follow`,
		Args: exactlyOne("one id of a launch or session, or its beginning"),
		RunE: with(e.launches, func(l *launch.Launches, args []string) error { return c.run(l, args[0]) }),
	},
		withFlag(&c.follow, "follow,f", "print what is added, until the launch ends"),
		withFlag(&c.raw, "raw", "print the log as it is, with escape sequences"),
	)
}

func (c *logsCommand) run(l *launch.Launches, id string) error {
	r, err := c.launchOf(l, id)
	if err != nil {
		return err
	}
	if r.Log == "" {
		return fmt.Errorf("launch %s runs in a terminal, so it has no log; use rollcall peek to see its messages", r.ID)
	}
	file, err := openLog(r.Log)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the log of launch %s: %s does not exist; logs are removed 24 hours after the end of a launch", r.ID, c.path(r.Log))
	}
	if err != nil {
		return fmt.Errorf("cannot read the log of launch %s: %w", r.ID, err)
	}
	defer file.Close()
	p := &logPrinter{output: c.output, file: file, raw: c.raw}
	if c.follow {
		return c.followLog(l, &r, p)
	}
	return ignoreReaderGone(errors.Join(p.print(c.ctx), p.end()))
}

// openLog opens a log that only the user may have written. It does not wait for a file system that does not answer.
func openLog(path string) (*os.File, error) {
	return bounded.In(filepath.Dir(path), bounded.ReadLimit, func(context.Context) (*os.File, error) {
		d, err := store.OpenDir(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		f, _, err := d.Open(filepath.Base(path))
		return f, err
	})
}

// launchOf returns the launch with this id or session id, or the only launch whose id or session id has this prefix.
func (c *logsCommand) launchOf(l *launch.Launches, id string) (launch.Record, error) {
	r, err := findLaunch(l, id)
	if !errors.Is(err, errNoLaunch) {
		return r, err
	}
	s, _, _, err := c.find(id, false)
	known, ok := errors.AsType[*exitError](err)
	switch {
	case ok && known.code == NoSession:
		return r, &exitError{NoSession, fmt.Errorf("no launch or session has the id %q; launches are forgotten 24 hours after their end", id)}
	case err != nil:
		return r, err
	case s.Launch == nil:
		return r, fmt.Errorf("session %s was not launched by Rollcall, so it has no log; use rollcall peek %s to see its messages",
			s.ID, present.Begin(s.ID, present.MinID))
	}
	return findLaunch(l, s.Launch.ID)
}

// errNoLaunch is the error for an id that no launch record has.
var errNoLaunch = errors.New("launches are forgotten 24 hours after their end")

// findLaunch returns the launch with this id or session id, or the only launch whose id or session id has this prefix. Where some records can't be read,
// their error is returned instead of errNoLaunch.
func findLaunch(l *launch.Launches, id string) (launch.Record, error) {
	list, err := l.List()
	found := matchLaunches(list, id)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		text := fmt.Sprintf("%q fits %d launches:", id, len(found))
		for _, r := range found {
			text += fmt.Sprintf("\n  %s  %s, %s, %s", r.ID, r.Agent, clock(r.LaunchedAt), present.Project(r.Dir))
		}
		return launch.Record{}, usageError("%s", text)
	case err != nil:
		return launch.Record{}, err
	}
	return launch.Record{}, fmt.Errorf("no launch has the id %q: %w", id, errNoLaunch)
}

// matchLaunches returns the launches whose id, or session's id, is id; if there are none, those that begin with it.
func matchLaunches(list []launch.Record, id string) (found []launch.Record) {
	for _, fits := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.HasPrefix} {
		for _, r := range list {
			if fits(r.ID, id) || r.Session != "" && fits(r.Session, id) {
				found = append(found, r)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// followLog prints a log and what is added to it, until the launch has ended.
func (c *logsCommand) followLog(l *launch.Launches, r *launch.Record, p *logPrinter) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	context.AfterFunc(readerGone(ctx, c.streams.Out), cancel)
	changed, stop := followFiles(ctx, app.New(app.Config{}), app.Session{Session: adapters.Session{Files: []string{r.Log}}})
	defer stop()
	status := time.NewTicker(followStatus)
	defer status.Stop()
	for {
		over := c.isOver(l, r)
		if err := p.print(ctx); err != nil { // printed after isOver was called, so that no output before the end is missed
			return ignoreReaderGone(err)
		}
		if over {
			return ignoreReaderGone(p.end())
		}
		select {
		case <-ctx.Done():
			return c.ctx.Err()
		case <-changed:
		case <-status.C:
		}
	}
}

// isOver reports whether a launch has ended. If its process has ended and its record does not say so yet, isOver asks
// the agent whether another process continues the launch.
func (c *logsCommand) isOver(l *launch.Launches, r *launch.Record) bool {
	ended := func() (now launch.Record, ended bool) {
		now, err := findLaunch(l, r.ID)
		return now, err == nil && now.Ended() || errors.Is(err, errNoLaunch) // any other error does not show that the launch ended
	}
	record, over := ended()
	if over {
		return true
	}
	_, lister := c.open()
	table, ok := lister.(*proc.Table)
	if !ok || record.Process.IsZero() || table.Alive(record.Process) {
		return false
	}
	snap := c.core(0, false).RefreshOne(c.ctx, record.Agent)
	if c.ctx.Err() != nil {
		return false
	}
	if _, err := l.Sweep(c.ctx, l.Successor(snap)); err != nil {
		c.warn(err.Error())
	}
	_, over = ended()
	return over
}

// logPrinter prints a log as it grows.
type logPrinter struct {
	*output
	file *os.File
	raw  bool
	rest []byte // a line that is not complete yet
}

// maxLogLine is the number of bytes of an unfinished line that are kept until its end is read.
const maxLogLine = 64 << 10

// print prints what was added to the log since the last call. Without raw it keeps a line that is not complete, since an
// escape sequence in it may not be.
func (p *logPrinter) print(ctx context.Context) error {
	chunk := make([]byte, maxLogLine)
	for ctx.Err() == nil {
		n, err := p.file.Read(chunk)
		p.add(chunk[:n])
		if writeErr := p.write(); writeErr != nil {
			return writeErr
		}
		if n == 0 || err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
	return nil
}

func (p *logPrinter) add(text []byte) {
	if p.raw {
		p.out.Write(text)
		return
	}
	p.rest = append(p.rest, text...)
	for {
		i := bytes.IndexByte(p.rest, '\n')
		if i < 0 && len(p.rest) < maxLogLine {
			return
		}
		if i < 0 {
			p.out.WriteString(present.Output(string(p.rest)))
			p.rest = p.rest[:0]
			return
		}
		p.out.WriteString(present.Output(string(p.rest[:i])) + "\n")
		p.rest = p.rest[i+1:]
	}
}

// end prints a last line without a line break.
func (p *logPrinter) end() error {
	if len(p.rest) > 0 {
		p.out.WriteString(present.Output(string(p.rest)) + "\n")
		p.rest = nil
	}
	return p.write()
}

func newHook(e *env) *cobra.Command {
	return newGroup("hook", "Run the hooks of a launch again", "", &cobra.Command{
		Use:   "retry LAUNCH",
		Short: "Run the hooks of a launch again whose result is not known",
		Long: `Run those hooks of a launch again that were started and whose result is not known,
because Rollcall ended meanwhile (rollcall status shows them). They may then run twice.`,
		Args: oneLaunch,
		RunE: with(e.launches, func(l *launch.Launches, args []string) error {
			r, err := findLaunch(l, args[0])
			if err != nil {
				return err
			}
			if err := l.RetryHooks(e.ctx, r.ID); err != nil {
				return err
			}
			e.printf("the hooks of the launch run again now\n")
			return nil
		}),
	})
}
