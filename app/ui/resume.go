package ui

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// canResume says whether a session can be taken up from here.
func (u *UI) canResume(s *app.Session) bool {
	_, ok := u.adapter(s.Agent).(adapters.Launcher)
	return ok && u.options.Launches != nil && s.ID != "" && s.CWD != "" && s.Remote == "" && s.Parent == "" && (s.Launch == nil || !s.Launch.Unlisted)
}

// resumeSheet takes a session up again.
type resumeSheet struct {
	*sheet
	session app.Session
	message *formEntry
	where   *radio
	mode    *choice
	says    *widget.Label
	alive   *checkBox // shown for a session that is not over
	preview *preview
	start   *button
	back    *button
	refused *refusal
	busy    bool
}

// showResume lets the user send a message to a session that is over, in the
// background, or take it up in a terminal.
func (u *UI) showResume(s app.Session) {
	r := &resumeSheet{sheet: u.newSheet("Resume this session", sheetWidth), session: s}
	changed := func(string) { r.changed() }
	r.message = newFormText(u, "What it is to do next", 4, changed)
	r.message.submit = r.launch
	r.where = newRadio(u, []string{inBackground, inTerminal}, changed)
	r.says = paragraph("", widget.LowImportance)
	r.says.Hide()
	options := []string{defaultMode}
	for _, m := range u.modes(s.Agent) {
		options = append(options, m.Name)
	}
	r.mode = newChoice(u, options, r.explain)
	r.mode.Selected = defaultMode
	r.alive = newCheck(u, "Take it up all the same", func(bool) { r.changed() })
	r.preview = newPreview(u)
	r.refused = newRefusal(u)
	r.back = r.button("Cancel", r.close)
	r.start = r.button("Resume", r.launch)
	r.start.Importance = widget.HighImportance
	r.show(r.form(len(options) > 1), r.preview.copy, r.back, r.start)
	r.preview.resized = r.fit
	r.changed()
	r.focus(r.message)
}

func (r *resumeSheet) form(modes bool) []fyne.CanvasObject {
	body := []fyne.CanvasObject{paragraph(sessionLine(&r.session), widget.MediumImportance)}
	if r.session.Live() {
		body = append(body, sentence("waiting", colorWaiting,
			"It is not over: "+short(r.session.Evidence)+". Two processes in one session get in each other's way."), r.alive)
	}
	body = append(body, label("Message"), inset(r.message), r.where)
	if modes {
		body = append(body, named("Permission", r.mode), r.says)
	}
	return append(body, label("What will run"), r.preview.content, r.refused.content)
}

func (r *resumeSheet) explain(name string) {
	text, importance := "", widget.LowImportance
	for _, m := range r.ui.modes(r.session.Agent) {
		if m.Name == name {
			text = m.Name + ": it " + m.Says + "."
			if m.Unsafe {
				importance = widget.DangerImportance
				text += " Nobody is asked before it runs a command or changes a file."
			}
		}
	}
	r.says.Importance = importance
	r.says.SetText(text)
	r.start.Importance = widget.HighImportance
	if importance == widget.DangerImportance {
		r.start.Importance = importance
	}
	r.start.Refresh()
	r.says.Hidden = text == ""
	r.changed()
	r.fit()
}

func (r *resumeSheet) read() launchForm {
	mode := r.mode.Selected
	if mode == defaultMode {
		mode = ""
	}
	return launchForm{dir: r.session.CWD, prompt: r.message.Text, terminal: r.where.selected == inTerminal, resume: r.session.ID,
		members: []launch.Member{{Agent: r.session.Agent, Mode: mode}}, force: r.alive.Checked, keepEnv: r.ui.options.KeepEnv}
}

func (r *resumeSheet) changed() {
	if r.start == nil {
		return // still being built
	}
	f := r.read()
	lacks := f.lacks()
	if !f.terminal && f.prompt == "" {
		lacks = "Write a message, or take it up in a terminal."
	}
	if lacks != "" {
		r.preview.say(lacks)
	} else {
		r.preview.show(f)
	}
	setEnabled(r.start, lacks == "" && !r.busy && (!r.session.Live() || f.force))
}

func (r *resumeSheet) launch() {
	if r.start.Disabled() {
		return
	}
	r.carryOut(r.read())
}

func (r *resumeSheet) carryOut(f launchForm) {
	r.busy = true
	r.refused.hide()
	r.start.Disable()
	r.ui.carryOut(f, carriedOut{
		launched: func(run *launchRun) {
			if !r.open() {
				r.ui.launch.keep(run)
				return
			}
			run.resized = r.fit
			r.back.SetText("Close")
			r.show([]fyne.CanvasObject{paragraph(sessionLine(&r.session), widget.MediumImportance), run.content}, r.back)
			r.focus(r.back)
		},
		refused: func(err error) {
			if !r.open() {
				r.ui.tell(fmt.Sprintf("%s was not resumed: %s", present.AgentName(f.members[0].Agent), short(err.Error())))
				return
			}
			r.refused.show(err, func() { f.force = true; r.carryOut(f) })
			r.fit()
		},
		settled: func() {
			r.busy = false
			r.changed()
		},
	})
}
