package tray_test

import (
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// TestRowOfARequest: the row of a waiting session says what it asks, and a click opens the window at the request; the row
// of another session opens it at the session.
func TestRowOfARequest(t *testing.T) {
	b := startBus(t)
	p := startPanel(t, b, 0)
	const asks, works = "◆ shop · Claude Code · wants to run: git push · 1 m", "◐ api · Claude Code · Build · 1 m"
	tray := startTray(t, snap(waiting("w", "shop", "Fix the login", time.Minute), working("k", "api", "Build", time.Minute)), long, b.env(), askedVariable+"=wants to run: git push")
	m := p.menu()
	click := func(label string) { m.must("Event", m.id(label), "clicked", dbus.MakeVariant(""), uint32(0)) }
	p.until("the rows", func() bool { return slices.Contains(m.labels(), asks) && slices.Contains(m.labels(), works) })
	click(asks)
	if r := tray.wait("request", 1); r.Arg != "w" {
		t.Errorf("opened %q", r.Arg)
	}
	click(works)
	if r := tray.wait("open", 1); r.Arg != "k" {
		t.Errorf("opened %q", r.Arg)
	}
}
