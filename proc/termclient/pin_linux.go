package termclient

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"rollcall/proc/localsocket"
)

// pinned is a socket that is held open, so that a path leads to it whoever takes its name.
type pinned struct {
	here   string     // for this process
	client string     // for a client, which gets files
	files  []*os.File // as descriptor 3 and following
}

// pin holds the socket with a name. While an ancestor listens on an abstract socket, no other process can take its name.
func pin(socket string) (*pinned, error) {
	if strings.HasPrefix(socket, "@") {
		return &pinned{here: socket, client: socket}, nil
	}
	if err := localsocket.Check(socket); err != nil {
		return nil, err
	}
	fd, err := unix.Open(socket, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", socket, err)
	}
	return &pinned{here: fmt.Sprintf("/proc/self/fd/%d", fd), client: "/proc/self/fd/3", files: []*os.File{os.NewFile(uintptr(fd), socket)}}, nil
}

func (p *pinned) close() {
	for _, f := range p.files {
		_ = f.Close()
	}
}
