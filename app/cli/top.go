package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/spf13/cobra"

	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/control/show"
	"rollcall/app/settings"
	"rollcall/proc"
)

func newTop(e *env) *cobra.Command {
	return &cobra.Command{
		Use:        "top",
		SuggestFor: []string{"htop", "tui", "dashboard"},
		Short:      "Show the live sessions in this terminal, and answer, show and stop them with keys",
		Long: `Show the live sessions of all agents in this terminal and keep the list current.

  up, down   choose a session           Enter  what it asks, whole, or all about it
  a          allow the request, once; Y after it where it is not known to be harmless
  d          deny it                    1-9    choose an option of its question
  f          show its terminal          s      stop it: shows how, and Y does it
  /          list rows with these words o      sort: status, activity, project, …
  h          show the hidden ones too   ?      all keys
  Ctrl-Z     suspend it; fg comes back  q, Esc back to the list, or quit

The column USES has what a session's processes use: the share of one processor, and
their memory. Pinned sessions come first; hidden and snoozed ones are left out.

A request can be answered only while it is shown whole, and has been for a moment.
What the keys do follows the setting "answering", as "rollcall answer" does. The exit
code is 0 after q, and 130 after Ctrl-C.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runTop(e) },
	}
}

// topScreen is the state of `rollcall top`. Only the goroutine of run uses it; others pass functions to posted.
type topScreen struct {
	*env
	ctx     context.Context
	screen  tcell.Screen
	core    *app.Core
	answers *answer.Answers
	board   *answer.Board
	shower  *show.Shower
	posted  chan func()

	sessions []app.Session
	loads    app.LoadMeter
	rows     []row
	prefixes map[string]string
	selected app.SessionKey
	at       int // row of the selected session
	first    int // the first row that is visible
	widths   [columns]int
	fitted   int       // the width of the screen that widths are for; 0: rows have changed
	filled   time.Time // when the rows were made

	choice  topChoice
	view    topView
	message string
	// interrupted is the error with which the program ends after Ctrl-C.
	interrupted error
	lost        bool // the terminal did not come back after a suspension
	pasting     bool
	busy        bool // an answer, a stop or a search for a terminal is under way
}

func runTop(e *env) error {
	if e.streams.In == nil || e.streams.Width == 0 || e.getenv("TERM") == "dumb" {
		return usageError("top needs a terminal; for programs and files there are rollcall list and rollcall watch")
	}
	w := &watchCommand{env: e}
	core, closeWatcher, err := w.runningCore()
	if err != nil {
		return err
	}
	defer closeWatcher()
	core.LeaveOut(e.leftOut(""))
	others := e.machines()
	options := []tcell.TerminfoScreenOption{tcell.OptSanitizeContent(true)}
	if !e.streams.Color {
		options = append(options, tcell.OptColors(0))
	}
	screen, err := tcell.NewScreen(options...)
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return fmt.Errorf("top cannot use this terminal (TERM=%s): %w; use rollcall list", e.getenv("TERM"), err)
	}
	defer screen.Fini()
	screen.EnablePaste()
	ctx, cancel := context.WithCancel(e.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	t := &topScreen{env: e, ctx: ctx, screen: screen, core: core, answers: e.answers(core), posted: make(chan func(), 16), loads: app.LoadMeter{Table: proc.Open()},
		shower: show.New(core, proc.Open(), func() settings.Settings { return e.settings() })}
	changed := app.NewWakeup()
	t.board = answer.NewBoard(t.answers, 5*time.Second, changed.Set)
	defer core.Subscribe(func(s *app.Snapshot) { t.board.SetSessions(s); changed.Set() })()
	running.Go(func() { _ = core.Run(ctx) })
	running.Go(func() { others.Run(ctx, 0, core) })
	running.Go(func() { t.board.Run(ctx) })
	return t.run(changed)
}

// agesStep is how often the ages are made again while no session changes: they are in minutes.
const agesStep = 10 * time.Second

// run draws and handles keys until the user quits, the terminal is gone or ctx is done. What changes is drawn once a second at most, what the user does at once.
func (t *topScreen) run(changed <-chan struct{}) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	stale := true
	for {
		if stale {
			t.refresh()
		}
		t.draw()
		stale = false
		for wait := true; wait; {
			select {
			case <-t.ctx.Done():
				return t.env.ctx.Err()
			case f := <-t.posted:
				f()
				stale, wait = true, false
			case <-tick.C:
				select {
				case <-changed:
					stale = true
				default:
				}
				stale = stale || time.Since(t.filled) > agesStep
				wait = len(t.rows) == 0 && !stale // the clock goes on
			case ev, open := <-t.screen.EventQ():
				if _, failed := ev.(*tcell.EventError); failed || !open || t.handle(ev) || t.lost {
					return t.interrupted
				}
				wait = false
			}
		}
	}
}

// refresh takes the sessions of the last snapshot. The selection stays on its session.
func (t *topScreen) refresh() {
	snap := t.core.Snapshot()
	t.sessions = slices.DeleteFunc(slices.Clone(snap.Sessions()), func(s app.Session) bool { return !s.Live() })
	t.loads.SetLoads(t.ctx, t.sessions)
	t.sessions = t.choice.arrange(t.sessions)
	t.rows, t.prefixes = nest(t.sessions), shortIDs(t.sessions)
	t.fitted, t.filled = 0, time.Now()
	for i := range t.rows {
		t.rows[i].fill(t.filled, t.prefixes, t.board)
	}
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return !t.choice.fits(&r) })
	at := slices.IndexFunc(t.rows, func(r row) bool { return r.session.Key() == t.selected })
	if at < 0 {
		at = min(t.at, len(t.rows)-1)
	}
	t.choose(at)
	t.refreshView()
}

// choose selects a row.
func (t *topScreen) choose(at int) {
	t.at = max(0, min(at, len(t.rows)-1))
	if s := t.session(); s != nil && !t.view.open {
		t.selected = s.Key()
	}
}

// session returns the selected session, or nil. While a view is open, it is that of the view, which is nil once the session has ended.
func (t *topScreen) session() *app.Session {
	if t.view.open {
		for i := range t.sessions {
			if t.sessions[i].Key() == t.selected {
				return &t.sessions[i]
			}
		}
		return nil
	}
	if t.at >= len(t.rows) {
		return nil
	}
	return t.rows[t.at].session
}

// post carries out do on a goroutine, one at a time, and then the function that do returns on that of run.
func (t *topScreen) post(doing string, do func() func()) {
	if t.busy {
		return
	}
	t.busy, t.message = true, doing
	go func() {
		done := do()
		select {
		case t.posted <- func() { t.busy = false; done() }:
		case <-t.ctx.Done():
		}
	}()
}

// handle handles an event and reports whether the user quits.
func (t *topScreen) handle(ev tcell.Event) (quit bool) {
	switch ev := ev.(type) {
	case *tcell.EventResize:
		t.view.shownAt, t.view.entire = time.Now(), false // what is visible has changed
		t.screen.Sync()
	case *tcell.EventPaste:
		t.pasting = ev.Start()
	case *tcell.EventKey:
		if !t.pasting && ev.Pressed() { // what is pasted by mistake answers nothing
			return t.key(ev)
		}
	}
	return false
}
