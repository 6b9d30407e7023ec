package tray

import (
	"context"
	"testing"

	"rollcall/app"
)

// stillCore never has news.
type stillCore struct{}

func (stillCore) Snapshot() *app.Snapshot                   { return &app.Snapshot{} }
func (stillCore) RefreshLive(context.Context) *app.Snapshot { return &app.Snapshot{} }
func (stillCore) Subscribe(func(*app.Snapshot)) (c func())  { return func() {} }

// The row that finishes an update appears once the program was replaced, and a click on it asks for the restart before Run ends.
func TestRestartRow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	replaced, asked := make(chan struct{}), make(chan bool, 1)
	m := newMenu(ctx, stillCore{}, Options{Replaced: replaced, Restart: func() { asked <- ctx.Err() == nil }}, cancel)
	if row := m.first().rows[idRestart-1]; !row.Hidden {
		t.Errorf("before an update: %+v", row)
	}
	views := make(chan view, 10)
	stop := m.start(func(v view) { views <- v })
	defer stop()
	close(replaced)
	for v := range views {
		if row := v.rows[idRestart-1]; !row.Hidden {
			if row.Label != "Restart to finish the update" || row.Disabled || row.ID != idRestart {
				t.Errorf("%+v", row)
			}
			break
		}
	}
	m.clicked(idRestart)
	if !<-asked {
		t.Error("the tray ended before the restart was asked for")
	}
	<-ctx.Done()
}
