package rest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// result is one row of `make bench`: see figure in internal/bench.
type result struct {
	Row   string  `json:"row"`
	Name  string  `json:"name"`
	Goal  string  `json:"goal"`
	Text  string  `json:"text"`
	Value float64 `json:"value"`
}

// resultsName is the file of the rows in the folder that is /tmp inside.
const resultsName = "results.json"

// writeResults writes the rows, inside the namespaces.
func writeResults(t *testing.T, rows []result) {
	t.Helper()
	text := must.Get(json.Marshal(rows))(t)
	must.Do(t, os.WriteFile(filepath.Join("/tmp", resultsName), text, 0o600))
}

// keepResults copies the rows, if there are any, to the file that ROLLCALL_REST_RESULTS names.
func keepResults(t *testing.T, dir string) {
	t.Helper()
	path := os.Getenv("ROLLCALL_REST_RESULTS")
	text, err := os.ReadFile(filepath.Join(dir, resultsName))
	if path != "" && err == nil {
		must.Do(t, os.WriteFile(path, text, 0o600))
	}
}

// writeEntry makes Claude Code's session live in the process, with that status in its registry.
func writeEntry(t *testing.T, home string, s *corpus.Truth, p proc.Process, status string) {
	t.Helper()
	registry := filepath.Join(home, ".claude", "sessions")
	must.Do(t, os.MkdirAll(registry, 0o700))
	now := time.Now().UnixMilli()
	text, err := json.Marshal(map[string]any{
		"pid": p.PID, "sessionId": s.ID, "cwd": s.CWD, "startedAt": p.Started.UnixMilli(), "procStart": strconv.FormatUint(p.Start, 10),
		"version": "2.1.329", "kind": "interactive", "entrypoint": "cli", "pidDomain": proc.Open().Domain(), "status": status,
		"updatedAt": now, "statusUpdatedAt": now})
	must.Do(t, err)
	path := filepath.Join(registry, strconv.Itoa(p.PID)+".json")
	must.Do(t, os.WriteFile(path+".new", text, 0o600))
	must.Do(t, os.Rename(path+".new", path))
}

// menu is the tray's menu as a panel sees it.
type menu struct {
	t      *testing.T
	object dbus.BusObject
}

func openMenu(t *testing.T, desktop *desktoptest.Desktop) *menu {
	t.Helper()
	items := must.Get(desktop.TrayItems())(t)
	owner, _, _ := strings.Cut(items[0], "/")
	return &menu{t, desktop.Bus().Object(owner, "/StatusNotifierItem/menu")}
}

// show tells the tray that the menu is about to be shown.
func (m *menu) show() {
	must.Do(m.t, m.object.Call("com.canonical.dbusmenu.AboutToShow", 0, int32(0)).Err)
}

// close tells the tray that the menu was closed.
func (m *menu) close() {
	must.Do(m.t, m.object.Call("com.canonical.dbusmenu.Event", 0, int32(0), "closed", dbus.MakeVariant(""), uint32(0)).Err)
}

// labels returns the texts of the rows.
func (m *menu) labels() (labels []string) {
	var revision uint32
	var layout struct {
		ID       int32
		Values   map[string]dbus.Variant
		Children []dbus.Variant
	}
	must.Do(m.t, m.object.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{"label"}).Store(&revision, &layout))
	for _, child := range layout.Children {
		row, _ := child.Value().([]any)
		if len(row) < 2 {
			continue
		}
		values, _ := row[1].(map[string]dbus.Variant)
		label, _ := values["label"].Value().(string)
		labels = append(labels, label)
	}
	return labels
}

// latencies measures the time from a panel's word that the menu opens to the rows that show what changed right before:
// a session of Claude Code that begins or ends a turn.
func (m *menu) latencies(home string, man corpus.Manifest, runs int) desktoptest.Latencies {
	m.t.Helper()
	at := len(man.Sessions) - 1 // the first ones have other processes
	for man.Sessions[at].Agent != agentname.ClaudeCode {
		at--
	}
	s := &man.Sessions[at]
	s.CWD = "/home/dev/opened-menu"
	p := must.Get(proc.Open().Find(run(m.t, "claude", "-")))(m.t)
	var all desktoptest.Latencies
	for i := range runs + 3 {
		status, word := "idle", "○"
		if i%2 == 0 {
			status, word = "busy", "◐"
		}
		time.Sleep(600 * time.Millisecond) // nothing of the last change or opening is left to be done
		writeEntry(m.t, home, s, p, status)
		began := time.Now()
		m.show()
		for !m.has("opened-menu", word) {
			if time.Since(began) > 10*time.Second {
				m.t.Fatalf("the menu does not show that the session is %s: %q", word, m.labels())
			}
		}
		if i >= 3 {
			all = append(all, time.Since(began))
		}
		m.close() // else the next call would be one of the same opening, which asks nobody
	}
	slices.Sort(all)
	return all
}

// has reports whether a row has all words.
func (m *menu) has(words ...string) bool {
	return slices.ContainsFunc(m.labels(), func(label string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(label, word) })
	})
}

// windowLatencies measures the time from the start of the window's process to a visible window.
func windowLatencies(t *testing.T, env []string, runs int) desktoptest.Latencies {
	t.Helper()
	var all desktoptest.Latencies
	for range runs {
		began := time.Now()
		cmd := exec.Command("/tmp/rollcall", "window")
		cmd.Env = env
		must.Do(t, cmd.Start())
		for {
			find := exec.Command("xdotool", "search", "--onlyvisible", "--name", "^Rollcall$")
			find.Env = env
			if out, _ := find.Output(); len(strings.Fields(string(out))) > 0 {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatal("no window")
			}
		}
		all = append(all, time.Since(began))
		must.Do(t, cmd.Process.Signal(unix.SIGTERM))
		_ = cmd.Wait()
	}
	slices.Sort(all)
	return all
}

// millis shows a duration in milliseconds.
func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
