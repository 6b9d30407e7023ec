//go:build !headless

package focus_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"rollcall/app/control/focus"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
	"rollcall/proc/desktop"
)

// fakeKWin takes scripts over a real bus as KWin 5.27 and 6 do, and runs them with node.
type fakeKWin struct {
	t    *testing.T
	conn *dbus.Conn
	six  bool

	mu       sync.Mutex
	files    map[int32]string
	unloaded []string
}

// LoadScript takes a script.
func (k *fakeKWin) LoadScript(file, name string) (int32, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		k.t.Errorf("the script: %v, %v", info, err)
	}
	id := int32(len(k.files))
	k.files[id] = file
	path := dbus.ObjectPath(fmt.Sprintf("/Scripting/Script%d", id))
	if !k.six {
		path = dbus.ObjectPath(fmt.Sprintf("/%d", id))
	}
	if err := k.conn.ExportMethodTable(map[string]any{"run": func() *dbus.Error { k.run(file); return nil }}, path, "org.kde.kwin.Script"); err != nil {
		k.t.Error(err)
	}
	if !strings.HasPrefix(name, "rollcall-") {
		k.t.Errorf("the script is called %q", name)
	}
	return id, nil
}

func (k *fakeKWin) run(file string) {
	args := kwinScript(k.t, k.six, file)
	if len(args) != 6 {
		k.t.Errorf("callDBus with %q", args)
		return
	}
	k.conn.Object(args[0], dbus.ObjectPath(args[1])).Go(args[2]+"."+args[3], dbus.FlagNoReplyExpected, nil, args[4], args[5])
}

func (k *fakeKWin) unload(name string) (bool, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unloaded = append(k.unloaded, name)
	return true, nil
}

func TestShowKWin(t *testing.T) {
	for _, six := range []bool{true, false} {
		t.Run(map[bool]string{true: "6", false: "5"}[six], func(t *testing.T) {
			need(t, "node")
			screen := desktoptest.For(t, desktoptest.Options{})
			d := focus.OnKWin(screen.BusAddress())
			if _, err := d.Windows(t.Context()); err == nil || err.Error() != "KWin does not run on this session's bus" {
				t.Errorf("without KWin: %v", err)
			}
			conn := must.Get(dbus.Connect(screen.BusAddress()))(t)
			defer conn.Close()
			k := &fakeKWin{t: t, conn: conn, six: six, files: map[int32]string{}}
			methods := map[string]any{"loadScript": k.LoadScript, "unloadScript": k.unload}
			must.Do(t, conn.ExportMethodTable(methods, "/Scripting", "org.kde.kwin.Scripting"))
			if _, err := conn.RequestName("org.kde.KWin", dbus.NameFlagDoNotQueue); err != nil {
				t.Fatal(err)
			}
			list, err := d.Windows(t.Context())
			if err != nil || len(list) != 2 || list[0].PID != os.Getpid() || list[1].PID != 1 || list[0].ID == list[1].ID {
				t.Fatalf("%+v, %v", list, err)
			}
			if active, ok, err := d.Active(t.Context()); err != nil || !ok || active != list[1] {
				t.Errorf("active %+v, %v, %v", active, ok, err)
			}
			if err := d.Raise(t.Context(), list[0]); err != nil {
				t.Error(err)
			}
			if err := d.Raise(t.Context(), desktop.Window{ID: 1, PID: 1}); err == nil {
				t.Error("a window that is not known was raised")
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			if len(k.unloaded) != 3 {
				t.Errorf("unloaded %q", k.unloaded)
			}
			for _, file := range k.files {
				if _, err := os.Stat(file); !os.IsNotExist(err) {
					t.Errorf("%s is left", file)
				}
			}
		})
	}
}
