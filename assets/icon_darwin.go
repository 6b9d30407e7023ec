package assets

import "embed"

var (
	//go:embed png/quiet-48.png png/working-48.png png/needs-you-48.png png/trouble-48.png
	icons embed.FS
	//go:embed template/*@2x.png
	templates embed.FS
)

func iconName(s State) string { return "png/" + s.String() + "-48.png" }

func template(s State) []byte { return read(templates, "template/"+s.String()+"@2x.png") }
