//go:build !headless

package window

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
	"rollcall/app/owned/launch"
	"rollcall/app/settings"
	"rollcall/app/ui"
	"rollcall/app/ui/widgets"
	"rollcall/internal/agentname"
	"rollcall/proc"
	"rollcall/textmatch"
)

// walkVariable makes the window process show the session of a process, by its pid, over a real core. settingsVariable is the path of its settings, and
// introduceVariable makes a first window introduce the program.
const (
	walkVariable      = "ROLLCALL_WINDOW_TEST_PID"
	settingsVariable  = "ROLLCALL_WINDOW_TEST_SETTINGS"
	introduceVariable = "ROLLCALL_WINDOW_TEST_INTRODUCE"
)

// walkAgent is an agent with one session, which lives as long as its process. It prints what it is asked.
type walkAgent struct {
	table   *proc.Table
	process proc.Identity
}

// walkOptions returns the core and the content of a window over a real core, and begins to answer questions about the focus.
func walkOptions() (*walkCore, ui.Options) {
	a := &walkAgent{table: proc.Open()}
	pid, _ := strconv.Atoi(os.Getenv(walkVariable))
	p, err := a.table.Find(pid)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	a.process = p.Identity
	agent, options := adapters.Adapter(a), ui.Options{Days: 7, Table: a.table, Live: settings.NewLive(os.Getenv(settingsVariable), nil)}
	config := app.Config{Table: a.table, Since: app.All}
	if folder := os.Getenv(journeyVariable); folder != "" {
		launches := launch.In(filepath.Join(folder, "state"), a.table)
		agent = newJourneyAgent(a, folder)
		options.Launches = launches
		config.Launches = launches
	}
	config.Adapters = []adapters.Adapter{agent}
	core := &walkCore{app.New(config)}
	go obey()
	options.Agents = []adapters.Adapter{agent}
	options.Answers = answer.New(core, func() settings.Answering { return settings.AnswerAll })
	return core, options
}

// walkCore is a real core, which says when it runs.
type walkCore struct{ *app.Core }

func (c *walkCore) Run(ctx context.Context) error {
	c.Refresh(ctx)
	fmt.Println("running")
	return c.Core.Run(ctx)
}

// obey answers each line of standard input: "focus" with the widget that has the focus, its address, and what a person sees of it; "where TEXT" with the place
// within the window of the first widget that is in sight and has this text, or of the last one if the text begins with "last ", and whether a click there reaches it,
// or with nothing. A button that is disabled is not there.
func obey() {
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		fyne.DoAndWait(func() {
			c := fyne.CurrentApp().Driver().AllWindows()[0].Canvas()
			if text, ok := strings.CutPrefix(s.Text(), "where "); ok {
				fmt.Println("where", placeOf(c, text))
				return
			}
			f := c.Focused()
			text := textOf(f)
			if o, ok := f.(fyne.CanvasObject); ok && !isInSight(c, o) {
				text += " (out of sight)"
			}
			fmt.Printf("focus %p %s\n", f, text)
		})
	}
}

// textOf returns what a person sees of a widget: of a button without a text the name of its icon.
func textOf(o any) string {
	switch o := o.(type) {
	case *widgets.Button:
		if icon, ok := o.Icon.(*widgets.Icon); ok && o.Text == "" {
			return "icon " + icon.File
		}
		return o.Text
	case *widgets.Tab:
		return o.Text()
	case *widgets.Select:
		return o.Selected
	case *widgets.Entry:
		return o.PlaceHolder
	case *widgets.Line:
		return o.Text()
	case *widgets.SelectText:
		return o.Text
	case *widget.Label:
		return o.Text
	case *canvas.Text:
		return o.Text
	case *widget.RichText:
		return o.String()
	}
	return fmt.Sprintf("%T", o)
}

// isInSight reports whether the middle of o is within the window.
func isInSight(c fyne.Canvas, o fyne.CanvasObject) bool {
	return o.Visible() && area{fyne.NewPos(0, 0), fyne.NewPos(c.Size().Components())}.has(middleOf(o))
}

func middleOf(o fyne.CanvasObject) fyne.Position { return areaOf(o).middle() }

// area is a rectangle of the window.
type area struct{ from, to fyne.Position }

func areaOf(o fyne.CanvasObject) area {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	return area{at, at.Add(o.Size())}
}

func (a area) middle() fyne.Position { return fyne.NewPos((a.from.X+a.to.X)/2, (a.from.Y+a.to.Y)/2) }

func (a area) has(p fyne.Position) bool {
	return p.X > a.from.X && p.Y > a.from.Y && p.X < a.to.X && p.Y < a.to.Y
}

func (a area) within(b area) area {
	return area{fyne.NewPos(max(a.from.X, b.from.X), max(a.from.Y, b.from.Y)), fyne.NewPos(min(a.to.X, b.to.X), min(a.to.Y, b.to.Y))}
}

// seen is an object of the window: where it is, the part of the window in which it can be seen, and the part in which Fyne looks for it below the pointer.
type seen struct {
	o               fyne.CanvasObject
	at, sight, clip area
}

// walk calls visit for the object and for what is visible in it, what lies above later, as Fyne does. It leaves out what is in an object for which visit returns false.
func (x seen) walk(visit func(seen) bool) {
	if !x.o.Visible() {
		return
	}
	from := x.at.from.Add(x.o.Position())
	x.at = area{from, from.Add(x.o.Size())}
	var parts []fyne.CanvasObject
	_, isClip := x.o.(fyne.Scrollable)
	switch o := x.o.(type) {
	case *fyne.Container:
		parts = o.Objects
	case fyne.Widget:
		r := test.WidgetRenderer(o)
		parts = r.Objects()
		_, cuts := r.(interface{ IsClip() })
		isClip = isClip || cuts
	}
	if isClip {
		x.sight = x.sight.within(x.at)
		x.clip = x.at
	}
	if !visit(x) {
		return
	}
	for _, part := range parts {
		seen{part, x.at, x.sight, x.clip}.walk(visit)
	}
}

// placeOf returns the place in pixels of the middle of the first object that has this text, in what lies over the window or else in it, and whether a click
// there reaches it; empty: nothing in sight has the text, or Fyne has yet to draw it. What is scrolled out of its part of the window is not in sight.
func placeOf(c fyne.Canvas, text string) string {
	window := area{fyne.NewPos(0, 0), fyne.NewPos(c.Size().Components())}
	all := seen{c.Content(), area{}, window, window}
	if top := c.Overlays().Top(); top != nil {
		all.o = top
	}
	text, isLast := strings.CutPrefix(text, "last ")
	var found seen
	all.walk(func(x seen) bool {
		button, isButton := x.o.(*widgets.Button)
		switch {
		case isButton && button.Disabled():
			return false
		case textOf(x.o) == text && x.sight.has(x.at.middle()):
			if found.o == nil || isLast {
				found = x
			}
			return false
		}
		return true
	})
	if found.o == nil || fyne.CurrentApp().Driver().CanvasForObject(found.o) == nil {
		return ""
	}
	at := found.at.middle()
	return fmt.Sprint(int(at.X*c.Scale()), " ", int(at.Y*c.Scale()), " ", isReached(all, found.o, at))
}

// isReached reports whether Fyne presses o for a click at this place, or what o lies on, and nothing that lies above.
func isReached(all seen, o fyne.CanvasObject, at fyne.Position) (reached bool) {
	passed := false
	all.walk(func(x seen) bool {
		switch x.o.(type) {
		case fyne.Tappable, fyne.SecondaryTappable, fyne.DoubleTappable, fyne.Focusable, desktop.Mouseable:
			if x.at.has(at) && x.clip.has(at) {
				reached = !passed
			}
		}
		passed = passed || x.o == o
		return x.o != o
	})
	return reached
}

func (a *walkAgent) Name() adapters.Name { return agentname.ClaudeCode }

func (a *walkAgent) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	now := time.Now()
	s := adapters.Session{
		ID: "walked", Agent: a.Name(),
		State: adapters.State{Status: adapters.Working, Evidence: "its process"},
		Owner: adapters.Owner{Process: a.process},
		Place: adapters.Place{CWD: "/home/dev/projects/shop"},
		Topic: adapters.Topic{Title: "Deploy the shop"},
		Times: adapters.Times{LastActivityAt: now},
	}
	if !a.table.Alive(a.process) {
		s.Status = adapters.Stopped
		s.Outcome = adapters.Completed
		s.Process = proc.Identity{}
	}
	if q.Usage {
		s.Tokens = &adapters.Tokens{Input: 12_000, Output: 3_000}
		s.Usage = []adapters.Usage{{At: now.UTC().Truncate(adapters.UsageStep), Answers: 1, Turns: 1, Tokens: *s.Tokens}}
		fmt.Printf("usage of %d days\n", int(time.Since(q.Since).Hours()/24))
	}
	return adapters.Roll{Sessions: []adapters.Session{s}, LookedIn: []string{"/home/dev/.claude"}}, nil
}

// walkPrompt is the only message of the session.
const walkPrompt = "Deploy the shop to the canary first."

func (a *walkAgent) Peek(_ context.Context, _ adapters.Session, n int) ([]adapters.Message, error) {
	if n == 200 { // as many as the search reads around a hit
		fmt.Println("the hit is read")
	}
	return []adapters.Message{{Key: "k1", Role: adapters.FromUser, Text: walkPrompt, At: time.Now()}}, nil
}

func (a *walkAgent) Conversations(context.Context, time.Time) ([]adapters.Conversation, error) {
	return []adapters.Conversation{{Changed: time.Now(), Search: func(_ context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		start, end, ok := q.Pattern.Find(walkPrompt)
		if !ok {
			return nil, nil
		}
		return nil, found(adapters.Hit{Session: "walked", CWD: "/home/dev/projects/shop", Changed: time.Now(), Key: "k1", Role: adapters.FromUser, At: time.Now(),
			Part: textmatch.Part{Before: walkPrompt[:start], Match: walkPrompt[start:end], After: walkPrompt[end:]}})
	}}}, nil
}
