package ui

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/launch"
	"rollcall/app/present"
)

// launchRun shows what becomes of one launch, or of a group. It belongs to the
// UI goroutine.
type launchRun struct {
	ui      *UI
	content *fyne.Container
	icon    *canvas.Image
	title   *line
	text    *selectText
	actions *fyne.Container
	output  *fyne.Container // the end of its log, or the launches of a group
	close   *button         // takes it off the launch page
	session string          // once it is known
	over    bool
	resized func() // tells that the height may have changed
}

func newLaunchRun(u *UI, title, text string) *launchRun {
	r := &launchRun{ui: u, resized: u.launch.content.Refresh}
	r.icon = canvas.NewImageFromResource(newIcon("working", colorWorking))
	r.icon.FillMode = canvas.ImageFillContain
	r.icon.SetMinSize(fyne.NewSquareSize(16))
	r.title = newPathLine(title, theme.SizeNameText, fyne.TextStyle{Bold: true})
	r.text = newSelectText(text)
	r.close = newButton("", newIcon("clear", colorMuted), u.typedKey, nil)
	r.close.Importance = widget.LowImportance
	r.close.Hide()
	r.actions = container.New(newFlow())
	r.output = container.New(layout.NewCustomPaddedVBoxLayout(4))
	r.content = container.NewStack(newPanel(container.New(layout.NewCustomPaddedLayout(8, 8, 10, 8), border(nil,
		container.New(layout.NewCustomPaddedLayout(1, 0, 0, 6), container.NewVBox(r.icon)), container.NewVBox(r.close),
		container.New(layout.NewCustomPaddedVBoxLayout(4),
			container.New(layout.NewCustomPaddedLayout(0, 0, 6, 0), r.title), r.text,
			container.New(layout.NewCustomPaddedLayout(0, 0, 6, 6), r.actions), r.output)))))
	r.actions.Hide()
	r.output.Hide()
	return r
}

func (r *launchRun) say(file string, color fyne.ThemeColorName, text string, actions ...fyne.CanvasObject) {
	r.icon.Resource = newIcon(file, color)
	r.icon.Refresh()
	r.text.SetText(text)
	r.actions.Objects = actions
	r.actions.Hidden = len(actions) == 0
	r.content.Refresh()
	r.resized()
}

func (r *launchRun) quote(text string) {
	if text = present.Text(text); text == "" {
		return
	}
	r.output.Objects = []fyne.CanvasObject{quote(text)}
	r.output.Show()
	r.content.Refresh()
	r.resized()
}

func (r *launchRun) button(text string, tapped func()) *button {
	return newButton(text, nil, r.ui.typedKey, tapped)
}

// newTerminalRun tells of a terminal that was opened.
func newTerminalRun(u *UI, p *prepared, terminal string) *launchRun {
	name := present.AgentName(p.plan.Agent)
	r := newLaunchRun(u, name+" in "+short(p.form.dir), "")
	r.over = true
	r.say("done", colorGood, "Opened in "+short(terminal)+". It is listed once "+name+" lists it.",
		r.button("Sessions", func() { u.closeSheet(); u.open(pageSessions) }))
	return r
}

// newAgentRun shows a launch in the background and follows it.
func newAgentRun(u *UI, s *launch.Started) *launchRun {
	r := newLaunchRun(u, runTitle(&s.Record), "")
	r.follow(s)
	return r
}

func runTitle(r *launch.Record) string {
	title := present.AgentName(r.Agent)
	if r.Model != "" {
		title += " " + present.Cut(short(r.Model), 40)
	}
	return title + " in " + short(r.Dir)
}

// follow tells, from goroutines of its own, how a launch gets on.
func (r *launchRun) follow(s *launch.Started) {
	text := fmt.Sprintf("Starting… process %d", s.Child.PID())
	for _, w := range s.Warnings {
		text += "\n" + short(w.Error())
	}
	r.say("working", colorWorking, text)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		code, err := s.Child.Wait() // also takes the process off the process table
		if err != nil {
			return
		}
		r.end(s.Record, code)
	}()
	go r.await(s.Record, ended)
}

// The times of following.
const (
	soon     = 200 * time.Millisecond // between the first questions
	seldom   = 3 * time.Second        // between the later ones
	keeper   = 2 * time.Second        // how long the tray may take to note an end
	logShown = 2000                   // bytes
)

// await asks the agent for the session until it lists it.
func (r *launchRun) await(rec launch.Record, ended <-chan struct{}) {
	u := r.ui
	wait := soon
	for late := time.Now().Add(launch.Grace); ; wait = min(wait*3/2, seldom) {
		select {
		case <-u.ctx.Done():
			return
		case <-ended:
			return
		case <-time.After(wait):
		}
		next, err := u.options.Launches.Learn(u.ctx, rec, u.askOne(u.ctx, rec.Agent))
		if err == nil {
			rec = next
		}
		if rec.Seen {
			u.post(func() { r.known(rec) })
			return
		}
		if time.Now().After(late) {
			late = late.Add(24 * time.Hour)
			log := rec.Log
			u.post(func() { r.unlisted(log) })
		}
	}
}

// askOne asks one agent anew, where the core can do that.
func (u *UI) askOne(ctx context.Context, agent adapters.Name) *app.Snapshot {
	if c, ok := u.core.(asker); ok {
		return c.RefreshOne(ctx, agent)
	}
	return u.core.Refresh(ctx)
}

func (r *launchRun) known(rec launch.Record) {
	if r.over {
		return
	}
	r.session = rec.Session
	r.say("working", colorWorking, "Session "+short(rec.Session)+" is listed. Its log is "+short(rec.Log)+".",
		r.button("Show the session", func() { r.ui.closeSheet(); r.ui.Show(rec.Session) }))
}

func (r *launchRun) unlisted(log string) {
	if !r.over {
		r.say("unknown", colorMuted, "It runs, and does not list a session yet. Its log is "+short(log)+".")
	}
}

// end is called at the end of the process that was started. That may have been a
// wrapper, and the agent goes on; else the end is told, and written down unless
// the tray, which also runs the hooks, does so first.
func (r *launchRun) end(rec launch.Record, code int) {
	u, l, first := r.ui, r.ui.options.Launches, rec.Process
	if now, err := l.Learn(u.ctx, rec, u.askOne(u.ctx, rec.Agent)); err == nil && now.Process != first {
		r.goesOn(now)
		return
	}
	out, outErr := l.Output(rec.ID, logShown)
	if outErr != nil {
		out = outErr.Error()
	}
	u.post(func() { r.ended(rec, code, out) })
	over := false
	for range int(keeper / (100 * time.Millisecond)) {
		now, known := recordOf(l, rec.ID)
		switch {
		case !known:
			return
		case now.Process != first:
			r.goesOn(now)
			return
		}
		if over = now.Ended(); over {
			break
		}
		select {
		case <-u.ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if !over && len(rec.Hooks) > 0 {
		return // whoever writes down the end runs the hooks: the tray's next start
	}
	if _, _, err := l.End(context.WithoutCancel(u.ctx), rec.ID, &code); err != nil {
		u.post(func() { r.quote(err.Error()) })
	}
}

// goesOn tells that the agent outlives what was started, and goes on asking for
// its session.
func (r *launchRun) goesOn(rec launch.Record) {
	r.ui.post(func() {
		r.over = false
		r.say("working", colorWorking, fmt.Sprintf("What was started has ended, and the agent goes on as process %d.", rec.Process.PID))
	})
	r.await(rec, nil)
}

// recordOf is the record of a launch as it lies on disk now.
func recordOf(l *launch.Launches, id string) (r launch.Record, known bool) {
	list, _ := l.List()
	for _, r := range list {
		if r.ID == id {
			return r, true
		}
	}
	return r, false
}

func (r *launchRun) ended(rec launch.Record, code int, out string) {
	r.over = true
	took := time.Since(rec.LaunchedAt).Round(time.Second)
	var actions []fyne.CanvasObject
	if id := r.session; id != "" {
		actions = append(actions, r.button("Show the session", func() { r.ui.closeSheet(); r.ui.Show(id) }))
	}
	log := " Its log is " + short(rec.Log) + "."
	switch {
	case code == 0:
		r.say("done", colorGood, fmt.Sprintf("It is done, after %s.", took)+log, actions...)
	case r.session == "":
		r.say("failed", colorBad, fmt.Sprintf("It ended at once with exit code %d.", code)+log, actions...)
		r.quote(out)
	default:
		r.say("failed", colorBad, fmt.Sprintf("It ended with exit code %d, after %s.", code, took)+log, actions...)
		r.quote(out)
	}
}

// newGroupRun launches a group and shows each of its launches.
func newGroupRun(u *UI, p *prepared) *launchRun {
	r := newLaunchRun(u, "Group "+short(p.group.Name), "Making the worktrees…")
	r.output.Show()
	go func() {
		results, err := p.group.Start(u.ctx, u.options.Launches, func(g launch.GroupResult) {
			u.post(func() { r.member(g) })
		})
		u.post(func() { r.grouped(p, results, err) })
	}()
	return r
}

func (r *launchRun) member(g launch.GroupResult) {
	name := present.AgentName(g.Member.Agent)
	if g.Member.Model != "" {
		name += " " + present.Cut(short(g.Member.Model), 40)
	}
	m := newLaunchRun(r.ui, name+" in "+short(g.Folder), "")
	r.output.Add(m.content)
	if g.Err != nil {
		m.over = true
		m.say("failed", colorBad, "Not started: "+short(g.Err.Error()))
		return
	}
	m.follow(g.Started)
}

func (r *launchRun) grouped(p *prepared, results []launch.GroupResult, err error) {
	r.over = true
	if err != nil {
		r.say("failed", colorBad, "Nothing was started: "+present.Cut(short(err.Error()), 1500))
		return
	}
	name := p.group.Name
	actions := []fyne.CanvasObject{
		r.button("Compare…", func() { r.ui.showComparison(p.form.dir, name) }),
		r.button("Show in the list", func() { r.ui.showGroup(name) }),
	}
	failed := 0
	for i := range results {
		if results[i].Err != nil {
			failed++
		}
	}
	text := fmt.Sprintf("%s at work, each in a worktree of its own.", count(len(results)-failed, "agent", "agents"))
	if failed > 0 {
		r.say("waiting", colorWaiting, text+fmt.Sprintf(" %d could not be started.", failed), actions...)
		return
	}
	r.say("working", colorWorking, text, actions...)
}

// showGroup lists the sessions of a group of launches.
func (u *UI) showGroup(name string) {
	u.closeSheet()
	u.open(pageSessions)
	u.sessions.filter.SetText(name)
}
