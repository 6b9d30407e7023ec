package notify_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
	"rollcall/notify"
)

// TestSendOne: a notification that the desktop accepts, and the reasons why none is sent.
func TestSendOne(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d := desktoptest.For(t, desktoptest.Options{Notifications: true})
	must.Do(t, notify.SendOne(ctx, notify.Options{Bus: d.BusAddress()}, notify.Text{Title: "a test"}))
	list, err := d.WaitNotifications(ctx, answered(1))
	if err != nil || len(list) != 1 || list[0].Summary != "a test" {
		t.Errorf("%v, %+v", err, list)
	}
	none := desktoptest.For(t, desktoptest.Options{})
	if err := notify.SendOne(ctx, notify.Options{Bus: none.BusAddress()}, notify.Text{Title: "b"}); !errors.Is(err, notify.ErrNoDaemon) {
		t.Errorf("without a service: %v", err)
	}
	if err := notify.SendOne(ctx, notify.Options{Bus: "unix:path=/nonexistent"}, notify.Text{Title: "c"}); !errors.Is(err, notify.ErrNoBus) {
		t.Errorf("without a bus: %v", err)
	}
}
