package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
)

// limiter is an adapter that stores limits.
type limiter struct {
	adapters.Adapter
	limits func(context.Context) ([]adapters.Limit, error)
}

func (l *limiter) Limits(ctx context.Context) ([]adapters.Limit, error) { return l.limits(ctx) }

type named struct{ adapters.Adapter }

func (named) Name() adapters.Name { return "one" }

// TestLimitsOf: one adapter that hangs or panics does not keep back the limits of the others.
func TestLimitsOf(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	found := LimitsOf(t.Context(), []adapters.Adapter{
		&limiter{named{}, func(context.Context) ([]adapters.Limit, error) {
			return []adapters.Limit{{Home: "/b", Window: 1}, {Home: "/a", Balance: "3"}, {Home: "/a", Window: 7}, {Home: "/a", Window: 5}}, errors.New("in part")
		}},
		&limiter{named{}, func(context.Context) ([]adapters.Limit, error) { <-release; return nil, nil }},
		&limiter{named{}, func(context.Context) ([]adapters.Limit, error) { panic("oops") }},
		named{},
	}, 50*time.Millisecond)
	if l := found[0].Limits; len(l) != 4 || l[0].Window != 5 || l[1].Window != 7 || l[2].Balance != "3" || l[3].Home != "/b" || found[0].Err == nil || !found[0].SeveralHomes() {
		t.Errorf("%+v", found[0])
	}
	if !errors.Is(found[1].Err, adapters.ErrTimeout) || found[2].Err == nil || !strings.Contains(found[2].Err.Error(), "oops") {
		t.Errorf("%v, %v", found[1].Err, found[2].Err)
	}
	if found[3].Stored || found[3].Err != nil || !found[2].Stored || found[3].SeveralHomes() {
		t.Errorf("%+v", found[3])
	}
}

func TestLimitWatch(t *testing.T) {
	a := &limiter{named{}, func(context.Context) ([]adapters.Limit, error) { return []adapters.Limit{{Used: 5}}, nil }}
	w := NewLimitWatch([]adapters.Adapter{a})
	ctx, cancel := context.WithCancel(t.Context())
	asked, ended := make(chan int, 1), make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, New(Config{}), func() { asked <- len(w.Last()[0].Limits) })
	}()
	if n := <-asked; n != 1 {
		t.Errorf("%d limits", n)
	}
	cancel()
	<-ended
}

// TestNameAccounts: the names are those of the settings, and the list of the adapter stays as it is.
func TestNameAccounts(t *testing.T) {
	c := New(Config{Account: func(_ adapters.Name, home string, several bool) string {
		if !several {
			return ""
		}
		return strings.TrimPrefix(home, "/")
	}})
	list := []Session{{Session: adapters.Session{Agent: "one", Place: adapters.Place{Home: "/a"}}}, {Session: adapters.Session{Agent: "two", Place: adapters.Place{Home: "/c"}}}, {Session: adapters.Session{
		Agent: "one",
		Place: adapters.Place{Home: "/b"},
	}}, {}}
	got := c.nameAccounts(list)
	if got[0].Account != "a" || got[1].Account != "" || got[2].Account != "b" || got[3].Account != "" {
		t.Errorf("%+v", got)
	}
	if list[0].Account != "" || list[2].Account != "" {
		t.Error("the list was changed")
	}
}
