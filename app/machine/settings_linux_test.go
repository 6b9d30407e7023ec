package machine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/settings"
	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/internal/sshtest"
)

// connections returns the hosts that ssh processes of this namespace are connected to, sorted.
func connections(t *testing.T) (hosts []string) {
	t.Helper()
	files := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		args := strings.Split(string(text), "\x00")
		if i := slices.Index(args, "--"); i > 0 && i+1 < len(args) && filepath.Base(args[0]) == "ssh" {
			hosts = append(hosts, args[i+1])
		}
	}
	slices.Sort(hosts)
	return hosts
}

// awaitConnections waits until ssh is connected to exactly these hosts.
func awaitConnections(t *testing.T, want ...string) {
	t.Helper()
	eventually.Nil(t, "the connections", func() error {
		if now := connections(t); !slices.Equal(now, want) {
			return fmt.Errorf("connections %q, want %q", now, want)
		}
		return nil
	})
}

// configure writes the settings.
func configure(t *testing.T, path, text string) {
	t.Helper()
	// In place it would be empty for a moment: settings without machines.
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path+"~", []byte(text), 0o600), os.Rename(path+"~", path)))
}

// block is a [[machine]] of the settings.
func block(name, ssh string) string {
	return fmt.Sprintf("[[machine]]\nname = %q\nssh = %q\n", name, ssh)
}

// following is a core that shows the machines of a settings file.
type following struct {
	*app.Core
	t      *testing.T
	live   *settings.Live
	events *app.Events
	news   chan struct{}
}

// follow shows the machines of the settings at path as they change, until the test ends.
func follow(t *testing.T, path string) *following {
	t.Helper()
	live := settings.NewLive(path, nil)
	set := func() []settings.Machine {
		now, _ := live.Get()
		return now.Machines
	}
	m := New(set(), nil)
	m.firstPause = 100 * time.Millisecond
	f := &following{Core: app.New(app.Config{Machines: m}), t: t, live: live, news: make(chan struct{}, 1)}
	t.Cleanup(f.Subscribe(func(*app.Snapshot) {
		select {
		case f.news <- struct{}{}:
		default:
		}
	}))
	f.events = f.Events()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	changed := live.Changes()
	running.Go(func() { live.Watch(ctx) })
	running.Go(func() { m.Run(ctx, time.Hour, f.Core) })
	running.Go(func() { _ = m.Follow(ctx, Sources{Settings: set, Changed: changed}) })
	t.Cleanup(func() { cancel(); running.Wait(); f.events.Close() })
	return f
}

// shows waits until exactly these sessions are shown with their status, and these machines.
func (f *following) shows(machines string, rows ...string) {
	f.t.Helper()
	slices.Sort(rows)
	limit := time.After(time.Minute)
	for {
		var got, names []string
		snap := f.Snapshot()
		for _, s := range snap.Sessions() {
			got = append(got, s.ID+" "+string(s.Status))
		}
		for _, m := range snap.Machines {
			names = append(names, m.Name+" "+string(m.State))
		}
		if slices.Sort(got); slices.Equal(got, rows) && strings.Join(names, ", ") == machines {
			return
		}
		select {
		case <-f.news:
		case <-limit:
			f.t.Fatalf("shown %q of %q, want %q of %s", got, names, rows, machines)
		}
	}
}

// withdrawn waits for the event that the status of a session is no longer known. No other event may come before it.
func (f *following) withdrawn(id string, before adapters.Status) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	e, err := f.events.Next(ctx)
	if err != nil || e.Kind != app.Changed || e.Session.ID != id || e.Session.Status != adapters.Unknown || e.Session.WaitingFor != "" || e.Before.Status != before {
		f.t.Fatalf("%+v, %v", e, err)
	}
}

// TestSettingsChange: a machine of config.toml that is renamed, changes its address or is removed loses its rows, its waits and its ssh
// process, also one that does not answer; the others keep their connection, and so do all while the file has a mistake.
func TestSettingsChange(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	one, two := newBox(t, c, "one", "/tmp/bin"), newBox(t, c, "two", "/tmp/bin")
	silent := sshtest.NewWire(t, two.Port)
	silent.Freeze(true)
	c.Add("silent", silent.Port, two.Key)
	a, b := one.claude.Start("/src/shop", "Fix the login"), two.claude.Start("/src/site", "Deploy it")
	a.Ask()
	path := filepath.Join(t.TempDir(), "config.toml")
	configure(t, path, block("devbox", "one"))
	f := follow(t, path)
	f.shows("devbox ok", "devbox:"+a.ID+" waiting")
	awaitConnections(t, "one")

	configure(t, path, block("devbox", "one")+block("server", "two"))
	f.shows("devbox ok, server ok", "devbox:"+a.ID+" waiting", "server:"+b.ID+" working")
	awaitConnections(t, "one", "two")

	configure(t, path, block("box", "one")+block("server", "two"))
	f.withdrawn("devbox:"+a.ID, adapters.Waiting)
	f.shows("box ok, server ok", "box:"+a.ID+" waiting", "server:"+b.ID+" working")

	mistaken := f.live.Changes()
	configure(t, path, block("box", "one")+"[[machine]]\nssh = \"two\"\n")
	<-mistaken
	if _, err := f.live.Get(); err == nil {
		t.Error("no mistake")
	}
	configure(t, path, block("box", "two")+block("server", "two"))
	f.withdrawn("box:"+a.ID, adapters.Waiting) // while the file had a mistake, nothing was withdrawn of server
	f.shows("box ok, server ok", "box:"+b.ID+" working", "server:"+b.ID+" working")
	awaitConnections(t, "two", "two")

	configure(t, path, block("server", "silent"))
	f.withdrawn("box:"+b.ID, adapters.Working)
	f.withdrawn("server:"+b.ID, adapters.Working)
	f.shows("server pending")
	awaitConnections(t, "silent")

	configure(t, path, "")
	f.shows("")
	awaitConnections(t)
}

// TestWatchFollowsSettings: watch shows the machines of config.toml as it changes, and its ssh ends with a machine that is removed.
func TestWatchFollowsSettings(t *testing.T) {
	if !inside(t) {
		return
	}
	c := sshtest.NewClient(t, t.Setenv)
	one := newBox(t, c, "one", "/tmp/bin")
	config := "/tmp/here/.config/rollcall/config.toml"
	configure(t, config, "")
	cmd := exec.Command(insideProgram, "watch", "--json")
	cmd.Env = []string{"HOME=/tmp/here", "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=/tmp/here/run"}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("watch: %s", said.String())
		}
	})
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	configure(t, config, block("devbox", "one"))
	awaitConnections(t, "one")
	s := one.claude.Start("/src/shop", "Fix the login")
	var e struct {
		Event, Before string
		Session       struct{ ID, Status, Evidence string }
	}
	next := func(limit time.Duration) bool {
		t.Helper()
		select {
		case text := <-lines:
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatalf("%v: %q", err, text)
			}
			return true
		case <-time.After(limit):
			return false
		}
	}
	for i := 0; !next(time.Second); i++ { // what the first roll has is no event
		if i > 60 {
			t.Fatal("no event of the machine")
		}
		if i%2 == 0 {
			s.Ask()
		} else {
			s.Answer("Done")
		}
	}
	if !strings.HasPrefix(e.Session.ID, "devbox:") {
		t.Fatalf("%+v", e)
	}
	configure(t, config, "")
	for next(time.Minute) && e.Session.Status != "unknown" {
	}
	if e.Event != "status" || e.Session.ID != "devbox:"+s.ID || !strings.Contains(e.Session.Evidence, "devbox is no longer asked about it") {
		t.Errorf("%+v", e)
	}
	awaitConnections(t)
}
