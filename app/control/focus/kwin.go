//go:build linux && !headless

package focus

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"rollcall/proc/desktop"
)

// kwin reports and raises the windows of KWin, by scripts that KWin loads over D-Bus, runs once and unloads (KWin 5.27 and 6). It was not run with KWin: the
// tests use a recorded conversation over a real bus.
type kwin struct {
	address string // of the bus; empty: the session's bus

	mu    sync.Mutex
	known map[uint64]string // KWin's own ids of windows
}

// fromKWin returns the desktop of KDE Plasma on Wayland, or nil if the environment is that of another desktop.
func fromKWin() desktop.Desktop {
	if os.Getenv("WAYLAND_DISPLAY") != "" && slices.Contains(strings.Split(os.Getenv("XDG_CURRENT_DESKTOP"), ":"), "KDE") {
		return OnKWin("")
	}
	return nil
}

// OnKWin returns the desktop of the KWin on a bus; an empty address means the session's bus. The desktop connects at each question.
func OnKWin(address string) desktop.Desktop {
	return &kwin{address: address, known: map[uint64]string{}}
}

// Name implements Desktop.
func (k *kwin) Name() string { return "KWin" }

const (
	kwinName      = "org.kde.KWin"
	kwinScripting = "org.kde.kwin.Scripting"
	kwinInterface = "rollcall.Focus"
	kwinPath      = dbus.ObjectPath("/rollcall/Focus")
)

// kwinScript is the script, for KWin 6 (windowList, activeWindow) and 5 (clientList, activeClient). Its values are JSON, which
// is JavaScript as well: the id of the window to raise or "", the name of this connection, and the word that names this question.
//
//nolint:misspell // KWin's own names
const kwinScript = `(function () {
	var wanted = %s, service = %s, word = %s;
	var six = typeof workspace.windowList === "function";
	var windows = six ? workspace.windowList() : workspace.clientList();
	for (var i = 0; i < windows.length; i++) {
		if (wanted !== "" && String(windows[i].internalId) === wanted) {
			windows[i].minimized = false;
			if (six) { workspace.activeWindow = windows[i]; } else { workspace.activeClient = windows[i]; }
		}
	}
	var active = six ? workspace.activeWindow : workspace.activeClient, list = [];
	for (var j = 0; j < windows.length; j++) {
		if (windows[j].normalWindow || windows[j].dialog) {
			list.push({pid: windows[j].pid, id: String(windows[j].internalId), active: windows[j] === active});
		}
	}
	callDBus(service, "/rollcall/Focus", "rollcall.Focus", "Answer", word, JSON.stringify(list));
})();
`

type kwinWindow struct {
	PID    int    `json:"pid"`
	ID     string `json:"id"`
	Active bool   `json:"active"`
}

// kwinAnswers receives what the script reports.
type kwinAnswers struct {
	word  string
	owner string // unique name of KWin's connection
	list  chan string
}

// Answer is called by the script. It ignores all but KWin's answer to this question.
func (a *kwinAnswers) Answer(sender dbus.Sender, word, list string) *dbus.Error {
	if string(sender) == a.owner && word == a.word && len(list) <= maxAnswer {
		select {
		case a.list <- list:
		default:
		}
	}
	return nil
}

// ask runs the script, which lists the windows and raises the one with the id wanted, if wanted is not empty.
func (k *kwin) ask(ctx context.Context, wanted string) (windows []kwinWindow, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, err := k.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("KWin can't be asked: %w", err)
	}
	defer func() { _ = conn.Close() }()
	answers := &kwinAnswers{word: rand.Text(), list: make(chan string, 1)}
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", dbus.FlagNoAutoStart, kwinName).Store(&answers.owner); err != nil {
		return nil, errors.New("KWin does not run on this session's bus")
	}
	if err := conn.Export(answers, kwinPath, kwinInterface); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "rollcall-kwin-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "focus.js")
	if err := os.WriteFile(file, fmt.Appendf(nil, kwinScript, asJSON(wanted), asJSON(conn.Names()[0]), asJSON(answers.word)), 0o600); err != nil {
		return nil, err
	}
	name := "rollcall-" + answers.word
	defer k.drop(ctx, conn, name) // only after the answer: KWin may still read the file after it has replied to run
	if err := k.run(ctx, conn, file, name); err != nil {
		return nil, fmt.Errorf("KWin did not run the script: %w", err)
	}
	select {
	case text := <-answers.list:
		if err := json.Unmarshal([]byte(text), &windows); err != nil {
			return nil, errors.New("the format of KWin's answer is not known")
		}
		return windows, nil
	case <-ctx.Done():
		return nil, errors.New("KWin did not answer")
	}
}

func (k *kwin) connect(ctx context.Context) (*dbus.Conn, error) {
	if k.address == "" {
		return dbus.ConnectSessionBus(dbus.WithContext(ctx))
	}
	return dbus.Connect(k.address, dbus.WithContext(ctx))
}

// run makes KWin load the script in a file, and run it. The caller drops it.
func (k *kwin) run(ctx context.Context, conn *dbus.Conn, file, name string) error {
	scripting := conn.Object(kwinName, "/Scripting")
	var id int32
	if err := scripting.CallWithContext(ctx, kwinScripting+".loadScript", dbus.FlagNoAutoStart, file, name).Store(&id); err != nil {
		return err
	}
	if id < 0 {
		return errors.New("it was refused")
	}
	path := dbus.ObjectPath(fmt.Sprintf("/Scripting/Script%d", id))
	err := conn.Object(kwinName, path).CallWithContext(ctx, "org.kde.kwin.Script.run", dbus.FlagNoAutoStart).Err
	var failed dbus.Error
	if errors.As(err, &failed) && strings.HasPrefix(failed.Name, "org.freedesktop.DBus.Error.Unknown") { // KWin 5
		err = conn.Object(kwinName, dbus.ObjectPath(fmt.Sprintf("/%d", id))).CallWithContext(ctx, "org.kde.kwin.Script.run", dbus.FlagNoAutoStart).Err
	}
	return err
}

// drop makes KWin unload a script.
func (k *kwin) drop(ctx context.Context, conn *dbus.Conn, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit/2)
	defer cancel()
	_ = conn.Object(kwinName, "/Scripting").CallWithContext(ctx, kwinScripting+".unloadScript", dbus.FlagNoAutoStart, name).Err
}

func asJSON(text string) []byte {
	b, _ := json.Marshal(text) // encoding a string never fails
	return b
}

// window returns a window in the form of package focus, and keeps KWin's id of it.
func (k *kwin) window(w *kwinWindow) desktop.Window {
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.ID))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[h.Sum64()] = w.ID
	return desktop.Window{ID: h.Sum64(), PID: w.PID}
}

// Active implements Desktop.
func (k *kwin) Active(ctx context.Context) (desktop.Window, bool, error) {
	list, err := k.ask(ctx, "")
	for i := range list {
		if list[i].Active {
			return k.window(&list[i]), true, nil
		}
	}
	return desktop.Window{}, false, err
}

// Windows implements Desktop.
func (k *kwin) Windows(ctx context.Context) ([]desktop.Window, error) {
	list, err := k.ask(ctx, "")
	if err != nil {
		return nil, err
	}
	var windows []desktop.Window
	open := map[uint64]string{}
	for i := range list {
		w := k.window(&list[i])
		windows, open[w.ID] = append(windows, w), list[i].ID
	}
	k.mu.Lock()
	k.known = open // without those that were closed
	k.mu.Unlock()
	return windows, nil
}

// Raise implements Desktop.
func (k *kwin) Raise(ctx context.Context, w desktop.Window) error {
	k.mu.Lock()
	id := k.known[w.ID]
	k.mu.Unlock()
	if id == "" {
		return errors.New("the window was closed")
	}
	list, err := k.ask(ctx, id)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].ID == id && list[i].Active && list[i].PID == w.PID {
			return nil
		}
	}
	return errors.New("KWin did not give the window the focus")
}
