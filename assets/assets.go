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

// State is what the icon in the tray tells.
type State int

// The states, the one that asks for the least attention first.
const (
	Quiet    State = iota // nobody is at work
	Working               // somebody works, nobody needs the user
	NeedsYou              // a session waits for the user
	Trouble               // an agent could not be asked: the picture has a hole
)

// States are all of them.
var States = []State{Quiet, Working, NeedsYou, Trouble}

// String is the state's name, as it stands in the names of the files.
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

// Icon is the tray's icon for s in the form that this platform's tray takes: a
// PNG of 48 pixels, or an ICO of several sizes on Windows. It shows on dark and
// on light panels. The caller must not change it.
func Icon(s State) []byte { return read(icons, iconName(s)) }

// Template is the icon for s as a macOS template image: black and alpha only,
// 32 pixels for 16 points; the menu bar gives it its colour. It is nil on other
// platforms. The caller must not change it.
func Template(s State) []byte { return template(s) }

// read panics for a name that isn't embedded: the names are this package's own,
// and its test asks for each of them.
func read(fs embed.FS, name string) []byte {
	b, err := fs.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return b
}
