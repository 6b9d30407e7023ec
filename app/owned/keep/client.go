package keep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"

	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/owned/webhook"
	"rollcall/app/self/autostart"
	"rollcall/app/self/executable"
	"rollcall/app/self/instance"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/bounded"
	"rollcall/proc"
)

// Client starts the user's keeper and talks to it. It is safe for concurrent use.
type Client struct {
	State   string // Rollcall's state folder
	Version string // of this program
	// Program and Args start a keeper. An empty Program is this one.
	Program string
	Args    []string

	mu sync.Mutex // held while a keeper is being started
}

// ErrNoKeeper is wrapped by the error of Ready.
var ErrNoKeeper = errors.New("the keeper (rollcall keep) could not be started")

const (
	answerLimit = 10 * time.Second
	startLimit  = 2 * time.Minute // longer than the keeper waits for locks and disks; if the keeper is killed, the connection breaks at once
	readyLimit  = 20 * time.Second
	readyPause  = 20 * time.Millisecond
)

// Running reports whether a keeper runs. It sends the keeper no request.
func (c *Client) Running() (bool, error) {
	return bounded.In(c.State, bounded.ReadLimit, func(context.Context) (bool, error) { return instance.Running(c.State, claimName()) })
}

// open sends a request to the keeper. The caller closes the answers.
func (c *Client) open(ctx context.Context, q request) (*instance.Answers, error) {
	return bounded.In(c.State, answerLimit, func(left context.Context) (*instance.Answers, error) {
		a, err := instance.Ask(ctx, c.State, claimName(), q)
		if err == nil && left.Err() != nil {
			a.Close()
		}
		return a, err
	})
}

// Status returns the status of the keeper. Its error is instance.ErrNotRunning if there is none.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	a, err := c.ask(ctx, request{Verb: verbStatus}, answerLimit)
	if errors.Is(err, instance.ErrUnanswered) {
		if running, runErr := c.Running(); runErr == nil && !running {
			err = instance.ErrNotRunning // the keeper was killed meanwhile
		}
	}
	return a.Status, err
}

// ask sends a request and returns the answer. A keeper that is ending counts as not running.
func (c *Client) ask(ctx context.Context, q request, limit time.Duration) (a answer, err error) {
	answers, err := c.open(ctx, q)
	if err != nil {
		return a, err
	}
	defer answers.Close()
	if err := answers.Next(&a, limit); err != nil {
		return a, err
	}
	return a, a.err()
}

func (a *answer) err() error {
	switch {
	case a.Ending:
		return instance.ErrNotRunning
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// Ready implements launch.Host. It starts a keeper if none runs, and replaces one of an older version.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.Hold(ctx)
	return err
}

// Hold implements launch.Host.
func (c *Client) Hold(ctx context.Context) (apart []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	var started *attempt
	var last error
	for {
		a, err := c.ask(ctx, request{Verb: verbHold}, answerLimit)
		switch {
		case err == nil && c.isNewer(a.Status):
			_, last = c.ask(ctx, request{Verb: verbYield}, answerLimit)
		case err == nil:
			return a.Status.apart(), nil
		case errors.Is(err, instance.ErrOutside): // a keeper runs, but starts nothing for this process
			return []string{"container or sandbox"}, nil
		case errors.Is(err, instance.ErrElevated):
			return nil, fmt.Errorf("cannot use the keeper (rollcall keep): %w", err)
		case !errors.Is(err, instance.ErrNotRunning) && !errors.Is(err, instance.ErrUnanswered):
			return nil, fmt.Errorf("%w: %w", ErrNoKeeper, err)
		case errors.Is(err, instance.ErrNotRunning) && started.over():
			last = started.failure()
			if last != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoKeeper, last)
			}
			started, err = c.spawn()
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoKeeper, err)
			}
		default:
			last = err
		}
		if err := bounded.Wait(ctx, readyPause); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoKeeper, errors.Join(err, last))
		}
	}
}

// apart returns in which surroundings this process differs from the keeper. It leaves out those that one of the two does not
// know.
func (s *Status) apart() (differ []string) {
	own := proc.Surroundings()
	for _, word := range slices.Sorted(maps.Keys(own)) {
		if s != nil && s.Surroundings[word] != "" && s.Surroundings[word] != own[word] {
			differ = append(differ, word)
		}
	}
	return differ
}

// isNewer reports whether this program is newer than the keeper. If the versions cannot be compared, it is newer if
// the keeper's file was replaced.
func (c *Client) isNewer(s *Status) bool {
	if s == nil {
		return false
	}
	own, theirs := "v"+strings.TrimPrefix(c.Version, "v"), "v"+strings.TrimPrefix(s.Version, "v")
	if semver.IsValid(own) && semver.IsValid(theirs) && semver.Compare(own, theirs) != 0 {
		return semver.Compare(own, theirs) > 0
	}
	return s.Replaced
}

// attempt is a keeper that this process has started.
type attempt struct {
	log  string
	from int64 // the size of the log before
	done chan struct{}
	code int
}

// over reports whether the started keeper has ended, or none was started.
func (a *attempt) over() bool {
	if a == nil {
		return true
	}
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// failure returns the reason why the started keeper has failed, or nil.
func (a *attempt) failure() error {
	if a == nil || a.code == 0 {
		return nil
	}
	text, err := os.ReadFile(a.log)
	if err != nil || int64(len(text)) < a.from {
		text = nil
	}
	said := strings.TrimSpace(string(text[min(a.from, int64(len(text))):]))
	if said == "" {
		return fmt.Errorf("it ended with exit code %d; see %s", a.code, a.log)
	}
	return errors.New(said[strings.LastIndexByte(said, '\n')+1:])
}

// maxLog is the size, in bytes, above which the next keeper begins a new log.
const maxLog = 1 << 20

// LogFile returns the path of the keeper's log.
func (c *Client) LogFile() string { return filepath.Join(c.State, "logs", "keeper.log") }

// spawn starts a keeper, detached from this process.
func (c *Client) spawn() (*attempt, error) {
	return bounded.In(c.State, bounded.WriteLimit, c.spawnNow)
}

func (c *Client) spawnNow(left context.Context) (*attempt, error) {
	path, args := c.Program, c.Args
	if path == "" {
		var err error
		path, err = executable.Path()
		if err != nil {
			return nil, err
		}
		args = []string{"keep"}
	}
	dir, err := store.MakeDir(c.State, "logs")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	a := &attempt{log: c.LogFile(), done: make(chan struct{})}
	if info, err := dir.Lstat(filepath.Base(a.log)); err == nil {
		a.from = info.Size()
		if a.from > maxLog || !info.Mode().IsRegular() {
			_ = dir.Remove(filepath.Base(a.log))
			a.from = 0
		}
	}
	if err := left.Err(); err != nil {
		return nil, err
	}
	// An outer launch's variables would make the keeper, and every hook, a part of that launch.
	child, err := proc.Start(proc.Command{Path: path, Args: args, Dir: c.State, Env: proc.ChildEnv(os.Environ(), launch.Variables(), nil), Output: a.log})
	if err != nil {
		return nil, err
	}
	go func() {
		a.code, _ = child.Wait()
		close(a.done)
	}()
	return a, nil
}

// Start implements launch.Host.
func (c *Client) Start(ctx context.Context, id string, starter proc.Identity, cmd proc.Command) (int, error) {
	a, err := c.ask(ctx, request{Verb: verbStart, Start: newStartRequest(id, starter, &cmd)}, startLimit)
	return a.PID, err
}

// Revive starts a keeper if there is something to keep and no keeper runs, for example because it was killed. Revive does
// not wait until the keeper is ready. It returns what to tell the user: which timers are overdue, since no keeper ran.
func (c *Client) Revive(launches *launch.Launches, fuses *fuse.Fuses, set *settings.Settings) string {
	// Records that only have to be removed need no keeper now: the next one removes them. Those that can't be read keep no keeper from the others.
	kept, _ := ToKeep(launches, fuses)
	if kept.Launches+kept.Hooks+kept.Fuses == 0 && !c.isOwed(set) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	running, err := c.Running()
	if err != nil || running {
		return ""
	}
	late := overdue(fuses, time.Now())
	_, err = c.spawn() // the next command tries again, and doctor shows the reason
	switch {
	case late == "":
		return ""
	case err != nil:
		return late + ", and the keeper (rollcall keep) could not be started: " + err.Error()
	}
	return late + ", since no keeper ran; one was started (rollcall keep --status)"
}

// overdueAfter is the time after its expiry from which a timer counts as overdue: a keeper needs a moment.
const overdueAfter = 2 * time.Second

// overdue returns how many timers should have fired, and since when; empty: none.
func overdue(fuses *fuse.Fuses, now time.Time) string {
	list, _ := fuses.List() // each command that shows them reports what can't be read
	n := 0
	var first time.Time
	for i := range list {
		x := &list[i]
		if x.Foreign() || !x.Pending() || now.Sub(x.Expires) < overdueAfter {
			continue
		}
		if n++; first.IsZero() || x.Expires.Before(first) {
			first = x.Expires
		}
	}
	what := fmt.Sprintf("%d timers are overdue, the first", n)
	switch n {
	case 0:
		return ""
	case 1:
		what = "1 timer is overdue"
	}
	return what + " since " + first.Local().Format("2 Jan 15:04")
}

// isOwed reports whether a keeper has to run for the settings, although no tray and no watch runs: the webhook has not
// accepted all messages, or the keeper is installed.
func (c *Client) isOwed(set *settings.Settings) bool {
	if !asks(set) {
		return false
	}
	waiting, err := webhook.Waiting(webhookFolder(c.State))
	return err == nil && waiting > 0 && set.Webhook.URL != "" || Installed()
}

// Installed reports whether the system starts the keeper when the user logs in.
func Installed() bool {
	s, err := autostart.Keeper.State()
	return err == nil && s.On
}
