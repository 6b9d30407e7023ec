package launchpage

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"

	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// fileField is the path of a file. Until there is one it shows only a button that chooses it.
type fileField struct {
	content *fyne.Container
	entry   *widgets.Entry
	choose  *fyne.Container
	line    *fyne.Container
	changed func()
}

func newFileField(h *widgets.Host, placeholder, choose string, changed func()) *fileField {
	f := &fileField{changed: changed}
	f.entry = h.NewEntry(placeholder, func(string) { changed() })
	f.choose = widgets.Flow(h.NewButton(choose, nil, func() {
		dialog.ShowFileOpen(func(r fyne.URIReadCloser, err error) {
			if err == nil && r != nil {
				_ = r.Close()
				f.set(r.URI().Path())
			}
		}, h.Window)
	}))
	f.line = widgets.Border(nil, nil, h.NewButton("Remove", nil, func() { f.set("") }), f.entry)
	f.line.Hide()
	f.content = widgets.Rows(0, f.choose, f.line)
	return f
}

func (f *fileField) path() string {
	if f.line.Hidden {
		return ""
	}
	return strings.TrimSpace(f.entry.Text)
}

// set chooses a file; an empty path removes the choice.
func (f *fileField) set(path string) {
	f.line.Hidden, f.choose.Hidden = path == "", path != ""
	f.entry.SetText(path)
	f.changed()
}

// advanced contains the fields of a launch that are rarely needed. They are hidden at first.
type advanced struct {
	content              *fyne.Container
	expand               *widgets.Button
	body                 *fyne.Container
	spec, files          *widgets.Entry
	group                *widgets.Entry
	onCreate, onComplete *widgets.Entry
	answerable           *widgets.CheckBox
	retryHooks, keepEnv  *widgets.CheckBox
}

func newAdvanced(w *Window, changed func()) *advanced {
	a := &advanced{}
	h, typed, checked := w.Host, func(string) { changed() }, func(bool) { changed() }
	a.spec = h.NewEntry("docs/spec.md (appended to the prompt)", typed)
	a.files = h.NewTextArea("docs/api.md (appended to the prompt; one path per line)", 2, typed)
	a.group = h.NewEntry("parser-port (a name that several launches share)", typed)
	a.onCreate = h.NewEntry("notify-send started (runs when the session is listed)", typed)
	a.onComplete = h.NewEntry("make test (runs when the agent's process has ended)", typed)
	a.answerable = h.NewCheckBox("Answer and prompt it from here (runs until stopped)", checked)
	a.retryHooks = h.NewCheckBox("Retry a hook with a lost result (can run twice)", checked)
	a.keepEnv = h.NewCheckBox("Keep variables that are removed by default", checked)
	if w.KeepEnv {
		a.keepEnv.Checked = true
		a.keepEnv.Disable() // the settings keep the variables of all launches
	}
	a.body = widgets.Rows(6, widgets.Named("Specification", a.spec), widgets.Named("Files", a.files), widgets.Named("Group", a.group),
		widgets.Named("Start hook", a.onCreate), widgets.Named("End hook", a.onComplete), a.retryHooks, a.keepEnv)
	a.body.Hide()
	a.expand = h.NewFlatButton("Advanced", widgets.NewIcon("closed", widgets.ColorMuted), a.toggle)
	a.content = widgets.Pad(4, 0, 0, 0, widgets.Rows(4, container.NewHBox(a.expand), a.body))
	return a
}

func (a *advanced) toggle() {
	a.body.Hidden = !a.body.Hidden
	a.expand.SetIcon(widgets.NewIcon(map[bool]string{true: "closed", false: "opened"}[a.body.Hidden], widgets.ColorMuted))
	a.content.Refresh()
}

// fill copies the fields to a form.
func (a *advanced) fill(f *launchForm) {
	f.Spec, f.Group = strings.TrimSpace(a.spec.Text), strings.TrimSpace(a.group.Text)
	f.OnCreate, f.OnComplete = strings.TrimSpace(a.onCreate.Text), strings.TrimSpace(a.onComplete.Text)
	f.Answerable = a.answerable.Checked && !f.Terminal // an agent in a terminal is answerable in any case, if it can be at all
	f.RetryHooks, f.KeepEnv = a.retryHooks.Checked, a.keepEnv.Checked
	f.Files = present.NonEmptyLines(a.files.Text)
}
