package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// fileField is the path of a file, and a button that chooses one. It shows the
// button alone until there is one.
type fileField struct {
	content *fyne.Container
	entry   *formEntry
	choose  *button
	wipe    *button
	line    *fyne.Container
	ui      *UI
	changed func()
}

func newFileField(u *UI, placeholder, choose string, changed func()) *fileField {
	f := &fileField{ui: u, changed: changed}
	f.entry = newFormEntry(u, placeholder, func(string) { changed() })
	f.choose = newButton(choose, nil, u.typedKey, f.browse)
	f.wipe = newButton("Remove", nil, u.typedKey, f.clear)
	f.line = border(nil, nil, f.wipe, f.entry)
	f.line.Hide()
	f.content = container.New(layout.NewCustomPaddedVBoxLayout(0), container.New(newFlow(), f.choose), f.line)
	return f
}

func (f *fileField) path() string {
	if f.line.Hidden {
		return ""
	}
	return strings.TrimSpace(f.entry.Text)
}

// set chooses a file.
func (f *fileField) set(path string) {
	f.line.Hidden = false
	f.content.Objects[0].Hide()
	f.entry.SetText(path)
	f.changed()
}

func (f *fileField) clear() {
	f.line.Hidden = true
	f.content.Objects[0].Show()
	f.entry.SetText("")
	f.changed()
}

func (f *fileField) browse() {
	dialog.ShowFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil {
			return
		}
		path := r.URI().Path()
		_ = r.Close()
		f.set(path)
	}, f.ui.window)
}

// advanced are the parts of a launch that few need, folded away.
type advanced struct {
	content              *fyne.Container
	fold                 *button
	body                 *fyne.Container
	spec, files          *formEntry
	group                *formEntry
	onCreate, onComplete *formEntry
	keepEnv              *checkBox
}

func newAdvanced(u *UI, changed func()) *advanced {
	a := &advanced{}
	touched := func(string) { changed() }
	a.spec = newFormEntry(u, "a file that is appended to the prompt as its specification", touched)
	a.files = newFormText(u, "more files that are appended, one path a line", 2, touched)
	a.group = newFormEntry(u, "a name that several launches share", touched)
	a.onCreate = newFormEntry(u, "a command to run once the session is known", touched)
	a.onComplete = newFormEntry(u, "a command to run once its process has ended", touched)
	a.keepEnv = newCheck(u, "Keep variables that would be left out of its environment", func(bool) { changed() })
	if u.options.KeepEnv {
		a.keepEnv.Checked = true
		a.keepEnv.Disable() // the settings say so
	}
	a.body = container.New(layout.NewCustomPaddedVBoxLayout(6),
		named("Specification", a.spec), named("Files", a.files), named("Group", a.group),
		named("On start", a.onCreate), named("On end", a.onComplete), a.keepEnv)
	a.body.Hide()
	a.fold = newButton("Advanced", newIcon("closed", colorMuted), u.typedKey, a.toggle)
	a.fold.Importance = widget.LowImportance
	a.content = container.New(layout.NewCustomPaddedLayout(4, 0, 0, 0), container.New(layout.NewCustomPaddedVBoxLayout(4),
		container.NewHBox(a.fold), a.body))
	return a
}

func (a *advanced) toggle() {
	a.body.Hidden = !a.body.Hidden
	icon := "opened"
	if a.body.Hidden {
		icon = "closed"
	}
	a.fold.SetIcon(newIcon(icon, colorMuted))
	a.content.Refresh()
}

// fill adds to a form what stands in the fields.
func (a *advanced) fill(f *launchForm) {
	f.spec, f.group = strings.TrimSpace(a.spec.Text), strings.TrimSpace(a.group.Text)
	f.onCreate, f.onComplete = strings.TrimSpace(a.onCreate.Text), strings.TrimSpace(a.onComplete.Text)
	f.keepEnv = a.keepEnv.Checked
	for _, line := range strings.Split(a.files.Text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			f.files = append(f.files, line)
		}
	}
}

// named puts a name before a field.
func named(name string, o fyne.CanvasObject) *fyne.Container {
	l := widget.NewLabel(name)
	l.Importance = widget.LowImportance
	return container.New(beside(nameWidth), l, o)
}

// folderField is the path of a folder, and a button that chooses one.
type folderField struct {
	content *fyne.Container
	entry   *formEntry
	changed func()
}

func newFolderField(u *UI, changed func()) *folderField {
	f := &folderField{changed: changed}
	f.entry = newFormEntry(u, "a folder", func(string) { f.changed() })
	browse := newButton("Browse…", plainIcon("folder"), u.typedKey, func() {
		dialog.ShowFolderOpen(func(uri fyne.ListableURI, err error) {
			if err == nil && uri != nil {
				f.entry.SetText(uri.Path())
			}
		}, u.window)
	})
	f.content = border(nil, nil, browse, f.entry)
	return f
}

func (f *folderField) path() string { return expandHome(f.entry.Text) }
