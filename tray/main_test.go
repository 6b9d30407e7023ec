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

	_ "rollcall/adapters/all" // registers every agent
	"rollcall/app"
	"rollcall/tray"
)

var _ tray.Core = (*app.Core)(nil)

// roleVariable makes the test binary a tray process: systray runs once in a
// process, and on its main goroutine.
const roleVariable = "ROLLCALL_TEST_TRAY"

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
	core := &fakeCore{current: &app.Snapshot{}}
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
	err = tray.Run(ctx, core, tray.Options{
		OpenWindow: func(session string) { tell("open", session) },
		Launch:     func() { tell("launch", "") },
		Quit:       func() { tell("quit", "") },
		NoHost:     func() { tell("nohost", "") },
		Shown:      func(by string) { tell("shown", by) },
		Grace:      limit,
		Started:    started,
		Log:        slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
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
	publish func(*app.Snapshot)
}

func (c *fakeCore) obey(line []byte) {
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		return
	}
	c.mu.Lock()
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

func (c *fakeCore) Refresh(ctx context.Context) *app.Snapshot {
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
