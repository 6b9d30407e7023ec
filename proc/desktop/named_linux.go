package desktop

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"rollcall/proc"
	"rollcall/proc/localsocket"
)

// localDisplay matches the name of a display of this machine. Another one, such as that of a login over SSH, is not asked.
var localDisplay = regexp.MustCompile(`^:([0-9]{1,5})(\.[0-9]+)?$`)

// servers are the programs that listen on the socket of a display: X servers, and the Wayland desktops that start one when it is needed.
var servers = []string{
	"Xorg", "Xwayland", "Xvfb", "Xephyr", "Xvnc", "Xtigervnc",
	"gnome-shell", "kwin_wayland", "kwin_wayland_wrapper", "sway", "Hyprland",
}

// asked are the X servers that were asked, by display: each keeps one question open at most.
var asked sync.Map

// Named returns the desktops that the environment of another process names, so that the answer does not depend on the environment of this one. The process must
// have passed proc.CheckBoundary. A desktop counts only if a known program that belongs to root listens there, run by this user or by root.
func Named(ctx context.Context, env func(name string) string) (list []Desktop) {
	if socket := env("SWAYSOCK"); isServedBy(ctx, socket, []string{"sway"}) {
		list = append(list, OnSway(socket))
	}
	if instance := env("HYPRLAND_INSTANCE_SIGNATURE"); instance != "" {
		if socket := HyprlandSocket(env("XDG_RUNTIME_DIR"), instance); isServedBy(ctx, socket, []string{"Hyprland"}) {
			list = append(list, OnHyprland(socket))
		}
	}
	if m := localDisplay.FindStringSubmatch(env("DISPLAY")); m != nil && isServedBy(ctx, "/tmp/.X11-unix/X"+m[1], servers) {
		x, _ := asked.LoadOrStore(m[1], OnX11(":"+m[1]))
		list = append(list, x.(Desktop))
	}
	return list
}

// isServedBy reports whether one of these programs listens on a socket.
func isServedBy(ctx context.Context, socket string, programs []string) bool {
	if !filepath.IsAbs(socket) {
		return false
	}
	conn, err := (&net.Dialer{Timeout: answerLimit}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	server, uid, err := localsocket.Peer(conn)
	if err != nil || uid != 0 && uid != os.Geteuid() {
		return false
	}
	if uid != os.Geteuid() {
		return true // root's, of which a user can read no more
	}
	table := proc.Open()
	program, err := table.Exe(server.Identity)
	if err != nil || proc.CheckBoundary(server.Identity) != nil {
		return false
	}
	file, err := table.ExeInfo(server.Identity)
	if err != nil {
		return false
	}
	owner, ok := file.Sys().(*syscall.Stat_t)
	return ok && owner.Uid == 0 && slices.Contains(programs, strings.TrimSuffix(filepath.Base(program), " (deleted)"))
}
