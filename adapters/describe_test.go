package adapters

import (
	"context"
	"slices"
	"testing"
)

// peeking is an adapter that shows conversations and does nothing else.
type peeking struct{}

func (*peeking) Name() Name                                    { return "peeking" }
func (*peeking) Discover(context.Context, Query) (Roll, error) { return Roll{}, ErrAbsent }
func (*peeking) Peek(context.Context, Session, int) ([]Message, error) {
	return nil, nil
}

func TestRegister(t *testing.T) {
	defer func(was []Description) { registered = was }(slices.Clone(registered))
	whole := Description{Name: "peeking", Title: "Peeking", Short: "pk", Program: "peek", Install: "get peek", Folders: []string{".peek"}, Processes: []string{"peek"}}
	if d := Register(whole, (*peeking)(nil)); d.Can != (Capabilities{Peek: true}) {
		t.Errorf("it can %+v", d.Can)
	}
	first := whole
	first.Name = "first"
	Register(first, (*peeking)(nil))
	if d, ok := Describe("peeking"); !ok || d.Title != "Peeking" {
		t.Errorf("described as %+v, %v", d, ok)
	}
	if _, ok := Describe("nobody"); ok {
		t.Error("an agent that was never registered is described")
	}
	if list := Described(); len(list) != 2 || list[0].Name != "first" {
		t.Errorf("described are %+v, want them by name", list)
	}
	for why, d := range map[string]Description{"registered twice": whole, "incomplete": {Name: "x", Title: "X"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", why)
				}
			}()
			Register(d, (*peeking)(nil))
		}()
	}
}
