//go:build !headless

package window

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"fyne.io/fyne/v2"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/control/answer"
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
	core := &walkCore{app.New(app.Config{Adapters: []adapters.Adapter{a}, Table: a.table, Since: app.All})}
	live := settings.NewLive(os.Getenv(settingsVariable), nil)
	go sayFocus()
	return core, ui.Options{Days: 7, Agents: []adapters.Adapter{a}, Table: a.table, Live: live,
		Answers: answer.New(core, func() settings.Answering { return settings.AnswerAll })}
}

// walkCore is a real core, which says when it runs.
type walkCore struct{ *app.Core }

func (c *walkCore) Run(ctx context.Context) error {
	c.Refresh(ctx)
	fmt.Println("running")
	return c.Core.Run(ctx)
}

// sayFocus prints for each line of standard input which widget has the focus: its address, and what a person sees of it.
func sayFocus() {
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		fyne.DoAndWait(func() {
			f := fyne.CurrentApp().Driver().AllWindows()[0].Canvas().Focused()
			text := fmt.Sprintf("%T", f)
			switch f := f.(type) {
			case *widgets.Button:
				text = f.Text
			case *widgets.Tab:
				text = f.Text()
			case *widgets.Select:
				text = f.Selected
			case *widgets.Entry:
				text = f.PlaceHolder
			}
			fmt.Printf("focus %p %s\n", f, text)
		})
	}
}

func (a *walkAgent) Name() adapters.Name { return agentname.ClaudeCode }

func (a *walkAgent) Discover(_ context.Context, q adapters.Query) (adapters.Roll, error) {
	now := time.Now()
	s := adapters.Session{ID: "walked", Agent: a.Name(), Status: adapters.Working, Process: a.process, CWD: "/home/dev/projects/shop", Title: "Deploy the shop",
		Evidence: "its process", LastActivityAt: now}
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
