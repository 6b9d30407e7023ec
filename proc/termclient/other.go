//go:build !linux

package termclient

import (
	"os"
	"os/exec"

	"rollcall/proc/localsocket"
)

// pinned is the name of a socket: this system cannot hold one.
type pinned struct {
	here, client string
	files        []*os.File
}

func pin(socket string) (*pinned, error) {
	return &pinned{here: socket, client: socket}, localsocket.Check(socket)
}

func (*pinned) close() {}

// startConfined starts a client: this system has no Landlock.
func startConfined(cmd *exec.Cmd) error { return cmd.Start() }
