package tray_test

import (
	"errors"
	"testing"

	"rollcall/tray"
)

// TestHasHost: a bus without a panel, with one, with a watcher that has no host, and no bus that can be reached.
func TestHasHost(t *testing.T) {
	b := startBus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", b.address)
	want := func(what string, want bool) {
		t.Helper()
		if got, err := tray.HasHost(t.Context()); got != want || err != nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	want("no panel", false)
	p := startPanel(t, b, 0)
	want("a panel", true)
	p.props.SetMust(watcherName, "IsStatusNotifierHostRegistered", false)
	want("a watcher without a host", false)
	b.stop()
	if _, err := tray.HasHost(t.Context()); !errors.Is(err, tray.ErrNoBus) {
		t.Errorf("without a bus: %v", err)
	}
}
