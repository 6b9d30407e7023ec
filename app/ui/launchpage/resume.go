package launchpage

import (
	"cmp"
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/facts"
	"rollcall/app/ui/widgets"
)

// CanResume reports whether the window can resume a session.
func (p *Page) CanResume(s *app.Session) bool {
	if s.Machine != "" {
		return p.window.Machines != nil && launch.CanResumeThere(s)
	}
	return p.window.Launches != nil && launch.HasResume(launch.Find(p.window.Agents, s.Agent), s) && s.Parent == "" && (s.Launch == nil || !s.Launch.Unlisted)
}

// resumeSheet resumes a session.
type resumeSheet struct {
	*widgets.Sheet
	page    *Page
	session app.Session
	message *widgets.Entry
	where   *widgets.CheckBox // in a terminal
	mode    *modeField
	anyway  *widgets.CheckBox // resume even if the session is still running
	preview *preview
	start   *widgets.Button
	back    *widgets.Button
	refused *refusal
	busy    bool
}

// Resume lets the user resume a stopped session with a message, in the background or in a terminal.
func (p *Page) Resume(s app.Session) {
	w := &p.window
	r := &resumeSheet{Sheet: w.NewSheet("Resume this session", widgets.SheetWidth), page: p, session: s, preview: newPreview(w), refused: newRefusal(w)}
	changed := func(string) { r.changed() }
	r.message = w.NewTextArea("Also add a test for an empty file.", 4, changed)
	r.message.Submit = r.launch
	r.where = w.NewCheckBox(inTerminal, func(bool) { r.changed() })
	r.mode = newModeField(w.Host, launch.Modes(w.Agents, s.Agent), r.modeChanged)
	r.anyway = w.NewCheckBox("Resume it anyway", func(bool) { r.changed() })
	r.back = w.NewButton("Cancel", nil, r.Close)
	r.start = w.NewPrimaryButton("Resume", widget.HighImportance, r.launch)
	r.Show(r.form(), r.preview.copy, r.back, r.start)
	r.preview.resized = r.Fit
	r.changed()
	r.Focus(r.message)
}

func (r *resumeSheet) form() []fyne.CanvasObject {
	body := []fyne.CanvasObject{facts.Line(&r.session)}
	if r.session.Live() {
		body = append(body, widgets.Warning("The session is still running: "+present.Short(r.session.Evidence)+
			". Two processes in one session can overwrite each other's work."), r.anyway)
	}
	body = append(body, widgets.NewLabel("Message"), widgets.Inset(r.message), r.where)
	if len(r.mode.modes) > 0 {
		body = append(body, widgets.Named("Permissions", r.mode.List), r.mode.explanation)
	}
	return append(body, widgets.NewLabel("Command"), r.preview.content, r.preview.caution, r.refused.content)
}

func (r *resumeSheet) modeChanged() {
	r.start.Importance = map[bool]widget.Importance{true: widget.DangerImportance, false: widget.HighImportance}[r.mode.isUnsafe()]
	r.start.Refresh()
	r.changed()
	r.Fit()
}

func (r *resumeSheet) read() launchForm {
	return launchForm{machine: r.session.Machine, members: []launch.Member{{Agent: r.session.Agent, Mode: r.mode.Value()}}, Options: launch.Options{Dir: launch.ResumeFrom(&r.session), Home: r.session.Home, Prompt: r.message.Text,
		Terminal: r.where.Checked, Resume: r.session.ID, Force: r.anyway.Checked, KeepEnv: r.session.Machine == "" && r.page.window.KeepEnv}}
}

func (r *resumeSheet) changed() {
	f := r.read()
	missing := f.missing()
	if !f.Terminal && f.Prompt == "" {
		missing = "Write a message, or resume in a terminal."
	}
	if missing != "" {
		r.preview.instead(missing, widget.LowImportance)
	} else {
		r.preview.show(f)
	}
	r.start.SetEnabled(missing == "" && !r.busy && (!r.session.Live() || f.Force))
}

func (r *resumeSheet) launch() {
	if !r.start.Disabled() {
		r.run(r.read())
	}
}

func (r *resumeSheet) run(f launchForm) {
	r.busy = true
	r.refused.hide()
	r.start.Disable()
	r.page.runForm(f, func(card func() *launchRun, err error) {
		r.busy = false
		r.changed()
		switch {
		case err != nil && !r.IsOpen():
			r.page.window.Notify(present.AgentName(f.members[0].Agent) + " was not resumed: " + present.Error(err))
		case err != nil:
			r.refused.show(err, func() { f.Force = true; r.run(f) }, nil)
			r.Fit()
		case !r.IsOpen():
			r.page.add(card())
		default:
			run := card()
			run.resized = r.Fit
			r.back.SetText("Close")
			r.Show([]fyne.CanvasObject{facts.Line(&r.session), run.Content}, r.back)
			r.Focus(r.back)
		}
	})
}

// ShowLog shows the end of what a launch in the background has written.
func (p *Page) ShowLog(s *app.Session) {
	sheet := p.window.NewSheet("Log of the launch", widgets.SheetWidth)
	widgets.Load(sheet, "Reading the log…", func(context.Context) (string, error) {
		return p.window.Launches.Output(s.Launch.ID, logShown)
	}, func(text string) {
		sheet.ShowResult([]fyne.CanvasObject{facts.Line(s), widgets.Quote(cmp.Or(present.Text(text), "The agent has written nothing yet.")), widgets.Hint("The whole log is " + present.Short(s.Launch.Log) + ".")})
	})
}
