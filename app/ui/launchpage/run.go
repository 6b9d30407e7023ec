package launchpage

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"github.com/dustin/go-humanize/english"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/app/present"
	"rollcall/app/ui/widgets"
)

// launchRun shows the progress of a launch, or of a group of launches. It is used on Fyne's goroutine only.
type launchRun struct {
	*widgets.Card
	page    *Page
	actions *fyne.Container
	output  *fyne.Container // the end of the log, or the launches of a group
	close   *widgets.Button // removes the card from the launch page
	session string          // id of the session; empty: not known yet
	resized func()          // called when the height may have changed
}

func (p *Page) newRun(title, text string) *launchRun {
	r := &launchRun{page: p, resized: p.Content.Refresh, actions: widgets.Flow(), output: widgets.Rows(4)}
	r.close = p.window.NewFlatButton("", widgets.NewIcon("clear", widgets.ColorMuted), nil)
	r.close.Hide()
	r.Card = widgets.NewCard(widgets.NewIcon("working", widgets.ColorWorking), title, text, r.close)
	r.Body.Add(widgets.Pad(4, 4, 6, 6, r.actions))
	r.Body.Add(r.output)
	r.actions.Hide()
	r.output.Hide()
	return r
}

// show shows the state of the launch, with what the user can do now.
func (r *launchRun) show(icon string, color fyne.ThemeColorName, text string, actions ...fyne.CanvasObject) {
	r.Set(widgets.NewIcon(icon, color), text)
	r.actions.Objects = actions
	r.actions.Hidden = len(actions) == 0
	r.Content.Refresh()
	r.resized()
}

// quote shows output of the agent.
func (r *launchRun) quote(text string) {
	text = present.Text(text)
	if text == "" {
		return
	}
	r.output.Objects = []fyne.CanvasObject{widgets.Quote(text)}
	r.output.Show()
	r.Content.Refresh()
	r.resized()
}

// logShown is how much of the log of a launch the window shows, in bytes.
const logShown = 4000

// failed shows with which sentence a launch failed, and offers the end of its log.
func (r *launchRun) failed(text string, p *launch.Progress, actions []fyne.CanvasObject) {
	if why := present.Cut(present.Short(launch.Reason(launch.Find(r.page.window.Agents, p.Record.Agent), p.Output)), 400); why != "" {
		text = why + "\n" + text
	}
	if output := present.Text(present.Tail(p.Output, logShown)); output != "" {
		var log *widgets.Button
		log = r.page.window.NewButton("Show log", nil, func() {
			log.Hide()
			r.quote(output)
		})
		actions = append(actions, log)
	}
	r.show("failed", widgets.ColorBad, text, actions...)
}

// newOpenedRun shows a launch that another process of Rollcall follows: a launch in a terminal, or on another machine.
func (p *Page) newOpenedRun(title, text, said string) *launchRun {
	r := p.newRun(title, "")
	r.show("done", widgets.ColorGood, text, p.window.NewButton("Show sessions", nil, func() { p.window.CloseSheet(); p.window.ShowSessions() }))
	r.quote(said)
	return r
}

func runTitle(agent adapters.Name, model, dir string) string {
	return present.AgentName(agent) + present.When(model != "", " "+present.Cut(present.Short(model), 40)) + " in " + present.Short(dir)
}

// follow shows the progress of a launch until its end, and returns r.
func (r *launchRun) follow(s *launch.Started) *launchRun {
	text := fmt.Sprintf("Starting… process %d", s.PID)
	for _, problem := range s.Warnings {
		text += "\n" + present.Short(problem.Error())
	}
	r.show("working", widgets.ColorWorking, text)
	w := &r.page.window
	go w.Launches.Follow(w.Context, s, func(ctx context.Context, agent adapters.Name) *app.Snapshot { return w.Core.RefreshOne(ctx, agent) }, func(p launch.Progress) { w.Post(func() { r.progress(p) }) })
	return r
}

func (r *launchRun) progress(p launch.Progress) {
	log := " The log is " + present.Short(p.Record.Log) + "."
	switch p.Stage {
	case launch.Listed:
		r.session = p.Record.Session
		r.show("working", widgets.ColorWorking, "Session "+present.Short(r.session)+" is listed."+log, r.page.window.showSessionButton(r.session))
	case launch.Unlisted:
		r.show("unknown", widgets.ColorMuted, "The agent is running, and has not listed a session yet."+log)
	case launch.Continues:
		r.show("working", widgets.ColorWorking, fmt.Sprintf("The process that was started has ended. The agent continues as process %d.", p.Record.Process.PID))
	case launch.Over:
		r.ended(&p)
		if p.Err != nil {
			r.quote(p.Err.Error())
		}
	}
}

func (r *launchRun) ended(p *launch.Progress) {
	rec := &p.Record
	took := time.Since(rec.LaunchedAt).Round(time.Second)
	log := " The log is " + present.Short(rec.Log) + "."
	var actions []fyne.CanvasObject
	if r.session != "" {
		actions = append(actions, r.page.window.showSessionButton(r.session))
	}
	if p.Unknown {
		r.show("unknown", widgets.ColorMuted, fmt.Sprintf("Ended after %s. Its exit code is not known.", took)+log, actions...)
		r.quote(present.Tail(p.Output, logShown))
		return
	}
	if p.Code == 0 {
		r.show("done", widgets.ColorGood, fmt.Sprintf("Finished after %s.", took)+log, actions...)
		return
	}
	how := fmt.Sprintf("exit code %d", p.Code) + present.When(p.Signal != "", " ("+present.Short(p.Signal)+")")
	when := cmp.Or(present.When(r.session == "", "before it listed a session"), fmt.Sprintf("after %s", took))
	r.failed("Ended with "+how+" "+when+"."+log, p, actions)
}

// newGroupRun launches a group and shows each of its launches.
func (p *Page) newGroupRun(got *prepared) *launchRun {
	r := p.newRun("Group "+present.Short(got.group.Name), "Creating the worktrees…")
	r.output.Show()
	go func() {
		results, err := got.group.Start(p.window.Context, p.window.Launches, func(g launch.GroupResult) {
			p.window.Post(func() { r.addMember(g) })
		})
		p.window.Post(func() { r.groupStarted(got, results, err) })
	}()
	return r
}

func (r *launchRun) addMember(g launch.GroupResult) {
	m := r.page.newRun(runTitle(g.Member.Agent, g.Member.Model, g.Folder), "")
	r.output.Add(m.Content)
	if g.Err != nil {
		m.show("failed", widgets.ColorBad, "Not started: "+present.Error(g.Err))
		return
	}
	m.follow(g.Started)
}

func (r *launchRun) groupStarted(p *prepared, results []launch.GroupResult, err error) {
	if err != nil {
		r.show("failed", widgets.ColorBad, "Nothing was started: "+present.Error(err))
		return
	}
	name := p.group.Name
	compare := r.page.window.NewButton("Compare…", nil, func() { r.page.window.Compare(p.form.Dir, name) })
	list := r.page.window.NewButton("Show in the list", nil, func() { r.page.window.ShowGroup(name) })
	failed := 0
	for i := range results {
		if results[i].Err != nil {
			failed++
		}
	}
	text := fmt.Sprintf("%s started, each in its own worktree.", english.Plural(len(results)-failed, "agent", "agents"))
	if failed > 0 {
		r.show("waiting", widgets.ColorWaiting, text+fmt.Sprintf(" %d could not be started.", failed), compare, list)
		return
	}
	r.show("working", widgets.ColorWorking, text, compare, list)
}
