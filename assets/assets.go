// Package assets holds Rollcall's icons, embedded. They are drawn as SVG in
// svg/; generate.sh makes the other formats from them, and its output is
// committed. The states differ by shape, not only by colour: an outlined roll,
// a filled one, a raised hand, a warning triangle.
package assets

import (
	"embed"
	"fmt"
)

//go:generate ./generate.sh

// State is the state that the tray's icon shows.
type State int

// The states, the one that asks for the least attention first.
const (
	Quiet    State = iota // no session works or waits
	Working               // a session works, none waits for the user
	NeedsYou              // a session waits for the user
	Trouble               // an agent's sessions are not known
)

// States lists all states.
var States = []State{Quiet, Working, NeedsYou, Trouble}

// String returns the state's name, which is part of the icons' file names.
func (s State) String() string {
	switch s {
	case Quiet:
		return "quiet"
	case Working:
		return "working"
	case NeedsYou:
		return "needs-you"
	case Trouble:
		return "trouble"
	}
	return fmt.Sprintf("state %d", int(s))
}

// App is the application's icon, a PNG of 256 pixels, for windows.
//
//go:embed png/rollcall-256.png
var App []byte

// Icon returns the tray's icon for s in this platform's format: a PNG of 48 pixels, or an ICO of several sizes on
// Windows. It is legible on dark and light panels. The caller must not change it.
func Icon(s State) []byte { return read(icons, iconName(s)) }

// Template returns the icon for s as a macOS template image: black and alpha only, 32 pixels for 16 points. The menu bar
// sets its colour. It is nil on other platforms. The caller must not change it.
func Template(s State) []byte { return template(s) }

// read returns an embedded file. It panics for an unknown name; the test of this package reads all of them.
func read(fs embed.FS, name string) []byte {
	b, err := fs.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return b
}
