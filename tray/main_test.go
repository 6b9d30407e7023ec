package tray_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/adapters"
	_ "rollcall/adapters/all" // registers every agent
	"rollcall/app"
	"rollcall/internal/agentname"
	"rollcall/tray"
	"rollcall/tray/model"
)

var _ tray.Core = (*app.Core)(nil)

// roleVariable makes the test binary a tray process: systray runs once in a
// process, and on its main goroutine.
const roleVariable = "ROLLCALL_TEST_TRAY"

// quietVariable makes the tray process offer do not disturb.
const quietVariable = "ROLLCALL_TEST_QUIET"

// terminalsVariable makes the tray process offer to show terminals.
const terminalsVariable = "ROLLCALL_TEST_TERMINALS"

// limitVariable makes the tray process show a limit that is nearly used up.
const limitVariable = "ROLLCALL_TEST_LIMIT"

// askedVariable makes the tray process say what sessions ask.
const askedVariable = "ROLLCALL_TEST_ASKED"

func TestMain(m *testing.M) {
	if grace := os.Getenv(roleVariable); grace != "" {
		os.Exit(runTray(grace))
	}
	os.Exit(m.Run())
}

// order is what a test tells the tray process, a line of JSON each.
type order struct {
	Snapshot *app.Snapshot // published now
	Answer   *app.Snapshot // published by the next refreshes,
	Delay    time.Duration // which take so long
	Ended    []app.Event   // those that ended last
}

// report is what the tray process tells the test, a line of JSON each.
type report struct {
	What string // obeyed, open, launch, quit, nohost, shown, refresh, end
	Arg  string
	At   time.Time
}

var reporting sync.Mutex

func tell(what, arg string) {
	reporting.Lock()
	defer reporting.Unlock()
	line, _ := json.Marshal(report{what, arg, time.Now()})
	fmt.Println(string(line))
}

// runTray returns the tray process: tray.Run with a core that does as stdin says.
func runTray(grace string) int {
	started := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	core := &fakeCore{current: &app.Snapshot{}, changed: make(chan struct{}, 1)}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<22)
	if in.Scan() { // the first order stands before the start
		core.obey(in.Bytes())
	}
	go func() {
		for in.Scan() {
			core.obey(in.Bytes())
		}
		stop() // the test has ended
	}()
	limit, err := time.ParseDuration(grace)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	opts := tray.Options{
		OpenWindow: func(session string) { tell("open", session) },
		Launch:     func() { tell("launch", "") },
		Quit:       func() { tell("quit", "") },
		NoHost:     func() { tell("nohost", "") },
		Shown:      func(by string) { tell("shown", by) },
		Grace:      limit,
		Started:    started,
		Log:        slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Ended:      core.endedNow,
		Quiet:      core.quietNow,
		Changed:    core.changed,
	}
	if os.Getenv(quietVariable) != "" {
		opts.SetQuiet = core.setQuiet
	}
	if os.Getenv(limitVariable) != "" {
		opts.Limits = func(now time.Time) []model.Row {
			high := app.AgentLimits{Agent: agentname.Codex, Stored: true, Limits: []adapters.Limit{{Window: 5 * time.Hour, Used: 92, ResetsAt: now.Add(2 * time.Hour), At: now}}}
			return model.LimitRows([]app.AgentLimits{high}, func(*app.AgentLimits, string) string { return "" }, now)
		}
	}
	if os.Getenv(terminalsVariable) != "" {
		opts.ShowTerminal = func(session string) { tell("terminal", session) }
	}
	if text := os.Getenv(askedVariable); text != "" {
		opts.Asked = func(s *app.Session) string { return text }
		opts.OpenRequest = func(session string) { tell("request", session) }
	}
	err = tray.Run(ctx, core, opts)
	switch {
	case errors.Is(err, tray.ErrNoBus):
		tell("end", "no bus")
	case errors.Is(err, tray.ErrBusLost):
		tell("end", "bus lost")
	case err != nil:
		tell("end", err.Error())
	default:
		tell("end", "")
		return 0
	}
	return 1
}

// fakeCore publishes what it is told to.
type fakeCore struct {
	mu      sync.Mutex
	current *app.Snapshot
	answer  *app.Snapshot
	delay   time.Duration
	ended   []app.Event
	quiet   bool
	until   time.Time
	changed chan struct{}
	publish func(*app.Snapshot)
}

func (c *fakeCore) poke() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *fakeCore) endedNow() []app.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *fakeCore) quietNow() (bool, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quiet, c.until
}

func (c *fakeCore) setQuiet(on bool, until time.Time) {
	c.mu.Lock()
	c.quiet, c.until = on, until
	c.mu.Unlock()
	tell("quiet", until.Format("15:04"))
	c.poke()
}

func (c *fakeCore) obey(line []byte) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		return
	}
	c.mu.Lock()
	if o.Ended != nil {
		c.ended = o.Ended
		c.poke()
	}
	if o.Answer != nil {
		c.answer, c.delay = o.Answer, o.Delay
	}
	c.mu.Unlock()
	if o.Snapshot != nil {
		c.set(o.Snapshot)
	}
	tell("obeyed", "")
}

func (c *fakeCore) set(s *app.Snapshot) {
	c.mu.Lock()
	c.current = s
	publish := c.publish
	c.mu.Unlock()
	if publish != nil {
		publish(s)
	}
}

func (c *fakeCore) Snapshot() *app.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

func (c *fakeCore) RefreshLive(ctx context.Context) *app.Snapshot {
	c.mu.Lock()
	answer, delay := c.answer, c.delay
	c.mu.Unlock()
	tell("refresh", "")
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
	if answer != nil {
		c.set(answer)
	}
	return c.Snapshot()
}

func (c *fakeCore) Subscribe(f func(*app.Snapshot)) (cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.publish = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.publish = nil
	}
}
