package launchpage

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/internal/uitest"
	"rollcall/proc"
)

// fakeCore is a core without sessions.
type fakeCore struct{ Core }

func (fakeCore) Snapshot() *app.Snapshot { return &app.Snapshot{} }

func (fakeCore) Refresh(context.Context) *app.Snapshot { return &app.Snapshot{} }

func TestMain(m *testing.M) {
	uitest.UseTheme(uitest.Light)
	goleak.VerifyTestMain(m)
}

// open opens a window that shows the page, and returns a folder that exists.
func open(t *testing.T) (*uitest.Window, *Page, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	w := uitest.Open(t)
	p := New(Window{Host: w.Host(), Core: fakeCore{}, Agents: uitest.Agents(), Launches: launch.In(t.TempDir(), proc.Open()), Environ: os.Environ})
	w.SetContent(p.Content)
	p.Look()
	w.Until("the agents", func() bool { return p.asked })
	return w, p, dir
}

// command waits until the page shows a command.
func command(w *uitest.Window, p *Page, parts ...string) {
	w.Until("the command "+strings.Join(parts, " "), func() bool {
		missing := slices.ContainsFunc(parts, func(part string) bool {
			return !strings.Contains(p.preview.command.Text+"\n"+p.preview.notes.Text, part)
		})
		return !missing && !p.preview.asking
	})
}

// Hooks run at most once, unless the user wants them to run at least once.
func TestLaunchHooks(t *testing.T) {
	_, p, dir := open(t)
	p.folder.SetText(dir)
	p.prompt.SetText("do it")
	p.more.onCreate.SetText("echo begun")
	p.more.onComplete.SetText("echo done")
	for _, again := range []bool{false, true} {
		p.more.retryHooks.SetChecked(again)
		var f launchForm
		p.more.fill(&f)
		req, err := f.Request(t.Context())
		want := []launch.Hook{{When: launch.OnCreate, Command: "echo begun", Again: again}, {When: launch.OnComplete, Command: "echo done", Again: again}}
		if err != nil || !slices.Equal(req.Hooks, want) {
			t.Errorf("%+v, %v", req.Hooks, err)
		}
	}
}

func TestLaunchPromptFromFile(t *testing.T) {
	w, p, dir := open(t)
	file := filepath.Join(dir, "todo.md")
	p.folder.SetText(dir)
	p.file.set(file)
	command(w, p, "the prompt: ", "todo.md: no such file")
	must.Do(t, os.WriteFile(file, []byte("fix everything"), 0o600))
	p.changed()
	command(w, p, "The prompt (14 B) is sent to its standard input")
	if p.prompt.Visible() {
		t.Error("there are two prompts")
	}
	p.file.set("")
	if !p.prompt.Visible() || p.file.path() != "" {
		t.Error("the prompt's field did not come back")
	}
}

func TestMembers(t *testing.T) {
	_, p, _ := open(t)
	c := p.choices[0]
	c.check.SetChecked(true)
	c.model.SetText(" opus, sonnet ,")
	c.mode.List.SetSelected("plan")
	want := []launch.Member{{Agent: agentname.ClaudeCode, Model: "opus", Mode: "plan"}, {Agent: agentname.ClaudeCode, Model: "sonnet", Mode: "plan"}}
	if got := c.members(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
