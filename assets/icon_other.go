//go:build !windows && !darwin

package assets

import "embed"

// A tray item carries one size, which the panel scales: 48 pixels halve exactly
// into the usual 24 and fill a panel of twice the density.
//
//go:embed png/quiet-48.png png/working-48.png png/needs-you-48.png png/trouble-48.png
var icons embed.FS

func iconName(s State) string { return "png/" + s.String() + "-48.png" }

func template(State) []byte { return nil }
