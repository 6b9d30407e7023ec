package cli

import (
	"os"

	"golang.org/x/term"
)

// Console returns the streams of this process.
func Console() Streams {
	attachConsole()
	s := Streams{Out: os.Stdout, Err: os.Stderr}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		s.In = os.Stdin
	}
	fd := int(os.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return s
	}
	s.Color = enableColor(fd)
	s.Width = 80
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		s.Width = width
	}
	return s
}
