package cli

import (
	"context"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/present"
)

// topView is what is shown about one session in place of the list: what it asks, how it would be stopped, or all about it.
type topView struct {
	open    bool
	text    string // its lines, safe for a terminal
	first   int    // the first line that is visible
	entire  bool   // the last line was visible
	request *answer.Request
	ref     answer.Ref
	shownAt time.Time     // since when the request, or the plan, is shown
	sure    bool          // A was pressed for the request, or the number of an option
	reply   []string      // the option, if sure was set by its number
	plan    *app.StopPlan // Y carries it out
	help    bool          // the keys are shown
}

// key handles a key and reports whether the user quits.
func (t *topScreen) key(ev *tcell.EventKey) (quit bool) {
	_, height := t.screen.Size()
	page := max(1, height-5)
	if t.choice.typing && ev.Key() != tcell.KeyCtrlC && ev.Key() != tcell.KeyCtrlZ {
		t.typed(ev)
		return false
	}
	switch ev.Key() {
	case tcell.KeyCtrlC:
		t.interrupted = &exitError{code: Interrupted}
		return true
	case tcell.KeyCtrlZ:
		t.suspend()
	case tcell.KeyEsc:
		return t.back()
	case tcell.KeyUp:
		t.move(-1)
	case tcell.KeyDown:
		t.move(1)
	case tcell.KeyPgUp:
		t.move(-page)
	case tcell.KeyPgDn:
		t.move(page)
	case tcell.KeyHome:
		t.move(-1 << 30)
	case tcell.KeyEnd:
		t.move(1 << 30)
	case tcell.KeyEnter:
		t.message = ""
		t.openView()
	case tcell.KeyRune:
		return t.letter(strings.ToLower(ev.Str()), ev.Repeat() > 1)
	}
	return false
}

// back closes the view, or reports that the user quits.
func (t *topScreen) back() (quit bool) {
	quit = !t.view.open && t.choice.filter == ""
	if !t.view.open && !quit {
		t.choice.filter = ""
		t.refresh()
	}
	t.view, t.message = topView{}, ""
	return quit
}

func (t *topScreen) move(by int) {
	if t.view.open {
		t.view.first = max(0, t.view.first+by)
		return
	}
	t.message = ""
	t.choose(t.at + by)
}

func (t *topScreen) letter(key string, repeat bool) (quit bool) {
	switch key {
	case "q":
		return t.back()
	case "k":
		t.move(-1)
	case "j":
		t.move(1)
	case "f":
		t.focusTerminal()
	case "s":
		t.planStop()
	case "/":
		t.choice.typing, t.message, t.view = true, "", topView{}
	case "o":
		t.reorder()
	case "h":
		t.showHidden()
	case "?":
		t.showHelp()
	case "a", "d", "y", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		if !repeat {
			t.decide(key)
		}
	}
	return false
}

// openView shows the selected session.
func (t *topScreen) openView() {
	if s := t.session(); s != nil && !t.view.open {
		t.selected = s.Key()
		t.view = topView{open: true}
		t.refreshView()
	}
}

// refreshView renews the text of the view. Another request begins at its first line, and must be seen before it is answered.
func (t *topScreen) refreshView() {
	v := &t.view
	if !v.open || v.plan != nil || v.help {
		return
	}
	s := t.session()
	v.request = nil
	if s == nil {
		v.text = "The session has ended."
		return
	}
	scratch := &env{output: &output{getenv: t.getenv}, ctx: t.ctx, deps: t.deps}
	entry, waits := t.board.Of(s.Agent, s.ID)
	var ref answer.Ref
	if waits && (entry.Read || entry.Err != nil) {
		pending := entry.Pending
		if len(pending.Requests) > 1 {
			scratch.printf("the first of %d requests\n", len(pending.Requests))
			pending.Requests = pending.Requests[:1]
		}
		scratch.printPending(&pending)
		if len(pending.Requests) > 0 && pending.Err == nil {
			v.request = &pending.Requests[0]
			ref = pending.Ref(v.request)
		}
	} else {
		printSession(scratch.output, s, time.Now())
	}
	if ref != v.ref {
		v.ref = ref
		v.first = 0
		v.entire = false
		v.sure = false
		v.shownAt = time.Now()
	}
	v.text = strings.TrimRight(scratch.out.String(), "\n")
}

// decide answers the request that is shown, or carries out the stop that is shown. It opens the view first: nothing is answered that is not on the screen.
func (t *topScreen) decide(key string) {
	v := &t.view
	if !v.open {
		if s := t.session(); s != nil && s.Status == adapters.Waiting && key != "y" {
			t.message = "read it first, then press the key again"
			t.openView()
		}
		return
	}
	ready := time.Since(v.shownAt) >= answer.VisibleFor
	if !ready { // a key that is held down repeats: it must be let go first
		v.shownAt = time.Now()
		return
	}
	if v.plan != nil {
		if key == "y" {
			t.stop(v.plan)
		}
		return
	}
	if d, ok := t.decision(key); ok && !t.busy {
		t.answer(v.ref, d)
	}
}

// decision returns the answer that a key stands for. ok is false, with a message, if it stands for none now.
func (t *topScreen) decision(key string) (d adapters.Decision, ok bool) {
	v, r := &t.view, t.view.request
	switch {
	case r == nil:
		t.message = "nothing can be answered here"
	case key == "d" && r.CanDeny:
		return adapters.Decision{Verdict: adapters.Deny}, true
	case key == "d":
		t.message = "it cannot be denied from here"
	case !v.entire:
		t.message = "read it to its end first: PgDn"
	case key == "y" && v.sure && v.reply != nil:
		return adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{v.reply}, SecondLook: true}, true
	case (key == "a" || key == "y") && !r.CanAllow:
		t.message = "it cannot be allowed from here"
	case key == "a" && r.OneKey, key == "y" && v.sure:
		return adapters.Decision{Verdict: adapters.AllowOnce, SecondLook: v.sure}, true
	case key == "a":
		v.sure, v.reply, v.shownAt = true, nil, time.Now()
		t.message = "press Y to allow it once"
	case key == "y":
	case !r.CanReply || len(r.Questions) != 1:
		t.message = "answer it with rollcall answer"
		if s := t.session(); s != nil {
			t.message += ", or " + present.Where(&s.Owner)
		}
	default:
		return t.option(int(key[0] - '0'))
	}
	return d, false
}

// option returns the answer that an option of the only question stands for, which some requests want confirmed.
func (t *topScreen) option(n int) (d adapters.Decision, ok bool) {
	v := &t.view
	label, err := optionAt(v.request, 0, n)
	switch {
	case err != nil:
		t.message = err.Error()
	case v.request.SureReply:
		v.sure = true
		v.reply = []string{label}
		v.shownAt = time.Now()
		t.message = "press Y to answer " + present.Visible(label)
	default:
		return adapters.Decision{Verdict: adapters.Reply, Answers: [][]string{{label}}}, true
	}
	return d, false
}

func (t *topScreen) answer(ref answer.Ref, d adapters.Decision) {
	t.view.sure = false
	t.post("answering…", func() func() {
		result, err := t.answers.Answer(t.ctx, ref, d)
		t.board.Reread(ref.Agent, ref.Session)
		return func() {
			if err != nil {
				t.message = err.Error()
				return
			}
			t.message = "answered: " + result.Evidence
			if t.view.ref == ref {
				t.view = topView{}
			}
		}
	})
}

// focusTerminal shows the terminal of the selected session.
func (t *topScreen) focusTerminal() {
	s := t.session()
	if s == nil {
		return
	}
	chosen := *s
	t.post("looking for its terminal…", func() func() {
		plan := t.shower.PlanOf(t.ctx, chosen)
		err := t.shower.Run(t.ctx, plan)
		return func() {
			switch {
			case err != nil:
				t.message = err.Error()
			case plan.Seen:
				t.message = "its terminal is shown. " + plan.Note
			default:
				t.message = "its terminal can't be shown: " + plan.Note
			}
		}
	})
}

// planStop shows how the selected session would be stopped.
func (t *topScreen) planStop() {
	s := t.session()
	if s == nil {
		return
	}
	chosen := *s
	t.post("asking how to stop it…", func() func() {
		plan, err := t.core.PlanStop(t.ctx, chosen)
		return func() {
			if err != nil {
				t.message = err.Error()
				return
			}
			scratch := &env{output: &output{getenv: t.getenv}, ctx: t.ctx, deps: t.deps}
			(&stopCommand{env: scratch}).print(plan)
			t.selected = chosen.Key()
			t.view = topView{open: true, plan: plan, shownAt: time.Now(), text: "Stop this session?\n" + strings.TrimRight(scratch.out.String(), "\n")}
			t.message = "press Y to stop it, Esc to leave it"
		}
	})
}

func (t *topScreen) stop(plan *app.StopPlan) {
	t.post("stopping…", func() func() {
		_, err := t.core.Stop(t.ctx, plan, func(app.StopStep) {})
		if launched := plan.Session.Launch; err == nil && launched != nil {
			if l, openErr := t.launches(); openErr == nil {
				err = l.MarkReported(context.WithoutCancel(t.ctx), launched.ID)
			}
		}
		return func() {
			t.view, t.message = topView{}, "stopped "+present.Project(plan.Session.CWD)
			if err != nil {
				t.message = err.Error()
			}
		}
	})
}
