package assets

import "embed"

//go:embed ico/quiet.ico ico/working.ico ico/needs-you.ico ico/trouble.ico
var icons embed.FS

func iconName(s State) string { return "ico/" + s.String() + ".ico" }

func template(State) []byte { return nil }
