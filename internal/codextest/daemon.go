// Package codextest has a stand-in for Codex's daemon, for tests of the whole program.
package codextest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rollcall/internal/must"
)

// Thread is the id of the session that asks, of the recording codex-0.169.0-tui-daemon.
const Thread = "01a1fc98-2ae2-7d22-950f-41838ad69663"

// Daemon is Codex's daemon as 0.169.0 is: its thread asks for commands, one after the other. It repeats the open
// request to everyone who joins, takes the first answer to it, and passes over all others.
type Daemon struct {
	mu     sync.Mutex
	open   string // the command that is asked for; empty: the thread works
	id     int    // of the open request
	taken  []string
	joined map[*websocket.Conn]bool
}

// Serve starts a daemon where that of a home listens, until the end of the test.
func Serve(t testing.TB, home string) *Daemon {
	t.Helper()
	d := &Daemon{joined: map[*websocket.Conn]bool{}}
	dir := must.Get(os.MkdirTemp("", "cx"))(t) // a socket's path is limited to 108 bytes
	listener := must.Get(net.Listen("unix", filepath.Join(dir, "s")))(t)
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			d.handle(ctx, c)
			_ = c.CloseNow()
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		_ = os.RemoveAll(dir)
	})
	control := filepath.Join(home, ".codex", "app-server-control")
	must.Do(t, os.MkdirAll(control, 0o700))
	must.Do(t, os.Symlink(filepath.Join(dir, "s"), filepath.Join(control, "app-server-control.sock")))
	return d
}

func (d *Daemon) handle(ctx context.Context, c *websocket.Conn) {
	for {
		_, b, err := c.Read(ctx)
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		if err != nil || json.Unmarshal(b, &m) != nil {
			d.mu.Lock()
			delete(d.joined, c)
			d.mu.Unlock()
			return
		}
		d.mu.Lock()
		d.obey(ctx, c, m.Method, string(m.ID), string(m.Result))
		d.mu.Unlock()
	}
}

func (d *Daemon) obey(ctx context.Context, c *websocket.Conn, method, id, result string) {
	say := func(c *websocket.Conn, format string, args ...any) {
		_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...))
	}
	switch method {
	case "initialize", "thread/unsubscribe":
		say(c, `{"id":%s,"result":{}}`, id)
	case "thread/list":
		flags := ""
		if d.open != "" {
			flags = `"waitingOnApproval"`
		}
		say(c, `{"id":%s,"result":{"data":[{"id":%q,"status":{"type":"active","activeFlags":[%s]}}]}}`, id, Thread, flags)
	case "thread/resume":
		d.joined[c] = true
		if d.open != "" {
			command, _ := json.Marshal(d.open)
			say(c, `{"id":%d,"method":"item/commandExecution/requestApproval","params":{"threadId":%q,"turnId":"t","itemId":"item%d","startedAtMs":%d,"command":%s,"cwd":"/home/dev/proj","availableDecisions":["accept","cancel"]}}`,
				d.id, Thread, d.id, time.Now().UnixMilli(), command)
		}
		say(c, `{"id":%s,"result":{}}`, id)
	case "": // an answer
		if d.open == "" || id != fmt.Sprint(d.id) {
			return
		}
		d.taken = append(d.taken, d.open+": "+result)
		d.open = ""
		for o := range d.joined {
			say(o, `{"method":"serverRequest/resolved","params":{"threadId":%q,"requestId":%s}}`, Thread, id)
			status := "completed"
			if strings.Contains(result, "decline") {
				status = "declined"
			}
			say(o, `{"method":"item/completed","params":{"threadId":%q,"item":{"id":"item%s","type":"commandExecution","status":%q}}}`, Thread, id, status)
		}
	}
}

// Ask lets the thread ask for a command, in the place of what it asked for before.
func (d *Daemon) Ask(command string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.id++
	d.open = command
}

// Took returns the answers that the daemon took, each with its command.
func (d *Daemon) Took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taken)
}
