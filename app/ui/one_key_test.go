package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"rollcall/adapters"
	"rollcall/app/control/answer"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
)

// oneKeyQueue opens the page of what waits, with settings in a file, for one session in dir.
func oneKeyQueue(t *testing.T, a *asker, dir string) (w *window, path string) {
	t.Helper()
	a.As, a.cwd = agentname.ClaudeCode, dir
	path = filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(path, []byte("answering = \"on\"\n"), 0o600))
	live := settings.NewLive(path, nil)
	answers := answer.New(a, live.Answering)
	answers.OneKey, answers.Environment = live.OneKey, inBash
	snap := waiters(map[string]int{"a": 3})
	for s := range snap.All() {
		s.CWD = dir
	}
	w = openWith(t, &fakeCore{snapshot: snap}, Options{Agents: []adapters.Adapter{a}, Answers: answers, Live: live})
	w.ui.ShowRequest("")
	w.until("the requests", func() bool { return w.ui.asking.loaded })
	w.ui.focusPage()
	return w, path
}

// tapOn taps a button of the page by its text.
func (w *window) tapOn(text string) {
	w.t.Helper()
	for _, o := range visible(w.ui.content) {
		if b, ok := o.(*widgets.Button); ok && b.Text == text {
			test.Tap(b)
			return
		}
	}
	w.t.Fatalf("no button %q", text)
}

// TestOneKeyOffer: after a command was allowed by two keys, the window offers to enter it; the settings page lists what was entered, and removes it.
func TestOneKeyOffer(t *testing.T) {
	dir := t.TempDir()
	run := func(id string) adapters.Request {
		r := command("a", id, "go test ./...", time.Minute)
		r.Folder = dir
		return r
	}
	other := command("a", "2", "WebFetch\n{\"url\":\"https://example.com\"}", time.Minute)
	other.Kind, other.Folder = adapters.AsksPermission, dir
	a := newAsker(run("1"), other, run("3"))
	w, path := oneKeyQueue(t, a, dir)
	w.armed("go test ./...")
	w.rune('a')
	shows(t, w.ui.content, present.Sentence(answer.OneKeyRule)+".")
	w.shoot("one-key-second-look")
	w.armed("go test ./...")
	w.rune('y')
	w.armed(other.Text)
	shows(t, w.ui.content, "allowed once", "with one key from now on? "+answer.OneKeyMeaning)
	w.shoot("one-key-offer")
	w.tapOn("Use one key for it")
	w.until("the command is entered", func() bool { return strings.Contains(w.ui.sessions.outcome, "One key allows “go test ./...”") })
	w.shoot("one-key-entered")
	w.ui.focusPage()
	w.rune('a')
	w.armed(other.Text)
	w.rune('y')
	w.until("the next request", func() bool {
		return w.ui.sessions.detail.request.item.Ref().Key != "" && w.ui.sessions.detail.request.item.Request.ID == "3"
	})
	for _, text := range shownTexts(w.ui.content) {
		if strings.Contains(text, "from now on?") {
			t.Errorf("the window offers to enter what is no command: %q", text)
		}
	}
	w.armed("go test ./...")
	w.rune('a')
	w.until("the end", func() bool { return len(a.got()) == 3 })
	w.ui.open(pageSettings)
	w.until("the entered command", func() bool { return strings.Contains(onPage(w), "go test ./... · "+dir) })
	w.shoot("one-key-settings")
	w.tapOn("Remove")
	w.until("nothing is entered", func() bool {
		text, _ := os.ReadFile(path)
		return !strings.Contains(string(text), "go test") && strings.Contains(string(text), "requests = \"on\"")
	})
}

// ordinary are 20 requests of a usual coding session, in their order. What begins with "edit" changes a file.
var ordinary = []string{"ls", "cat README.md", "rg -n TODO src/a.go", "git status", "edit 1", "go test ./...", "edit 2", "go test ./...", "git diff", "go vet ./...", "edit 3", "go test ./...", "npm run lint", "grep -n foo src/a.go",
	"git log --oneline -n 5", "go build ./...", "edit 4", "go test ./...", "git add -A", "git commit -m Fix"}

// TestKeysOfASession: how many keys a person needs for 20 ordinary requests. With the list of harmless commands it was 20, one for each.
func TestKeysOfASession(t *testing.T) {
	for entered, want := range map[bool]int{false: 35, true: 34} {
		dir := t.TempDir()
		for _, d := range []string{"src", ".git/objects", ".git/refs"} {
			must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
		}
		for name, text := range map[string]string{"README.md": "", "src/a.go": "", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		a := newAsker(command("a", "0", "", time.Minute))
		w, _ := oneKeyQueue(t, a, dir)
		keys, offered := 0, false
		for i, text := range ordinary {
			r := command("a", fmt.Sprint(i+1), text, time.Minute)
			r.Folder = dir
			if strings.HasPrefix(text, "edit") {
				r.Kind, r.Text = adapters.AsksFileChange, fmt.Sprintf("Edit\n{\"file_path\":%q,\"old_string\":\"a\",\"new_string\":%q}", dir+"/src/a.go", text)
			}
			a.set("a", r)
			w.ui.asking.board.Reread(agentname.ClaudeCode, "a")
			w.armed(r.Text)
			w.ui.focusPage()
			w.rune('a')
			if keys++; w.ui.sessions.detail.request.sure {
				w.armed(r.Text)
				w.rune('y')
				keys++
			}
			w.until("the answer", func() bool { return len(a.got()) == i+1 && w.ui.asking.last.Key == r.Key() })
			if entered && !offered && text == "go test ./..." {
				w.shoot("one-key-offer-alone")
				w.tapOn("Use one key for it") // Tab and Enter
				w.until("it is entered", func() bool { return strings.Contains(w.ui.sessions.outcome, "One key allows") })
				keys, offered = keys+2, true
			}
		}
		t.Logf("commands entered: %v: %d keys for %d requests", entered, keys, len(ordinary))
		if keys != want {
			t.Errorf("commands entered: %v: %d keys, want %d", entered, keys, want)
		}
	}
}
