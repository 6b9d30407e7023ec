//go:build !windows && !darwin

package assets

import (
	"embed"
	"fmt"
)

// Panels are 16 to 48 pixels high. Some scale an icon of another size without smoothing it, so each usual height has its own.
//
//go:embed png/quiet-[1-6][2468].png png/working-[1-6][2468].png png/needs-you-[1-6][2468].png png/trouble-[1-6][2468].png
var icons embed.FS

// Sizes are the widths of the tray's icons in pixels.
var Sizes = []int{16, 22, 24, 32, 48, 64}

// IconOf returns the tray's icon for s as a PNG with one of Sizes. The caller must not change it.
func IconOf(s State, size int) []byte { return read(icons, fmt.Sprintf("png/%s-%d.png", s, size)) }

func iconName(s State) string { return "png/" + s.String() + "-48.png" }

func template(State) []byte { return nil }
