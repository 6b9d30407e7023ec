//go:build linux

package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// hyprland reports and raises the windows of Hyprland, over the socket that hyprctl uses (wiki.hypr.land, "IPC"). It was not run
// with Hyprland: the tests use a recorded conversation.
type hyprland struct{ socket string }

// OnHyprland returns the desktop of a Hyprland with this socket. The desktop connects at each question.
func OnHyprland(socket string) Desktop { return hyprland{socket} }

// HyprlandSocket returns the socket of an instance of Hyprland, from XDG_RUNTIME_DIR and HYPRLAND_INSTANCE_SIGNATURE. An instance with a separator in its name has none.
func HyprlandSocket(runtime, instance string) string {
	if strings.ContainsRune(instance, filepath.Separator) || instance == ".." {
		return ""
	}
	return filepath.Join(runtime, "hypr", instance, ".socket.sock")
}

// Name implements Desktop.
func (h hyprland) Name() string { return "Hyprland" }

// hyprlandClient is a window, as "j/clients" and "j/activewindow" list it.
type hyprlandClient struct {
	Address string `json:"address"` // "0x55d1c0a3b2e0"
	PID     int    `json:"pid"`
	Title   string `json:"title"`
}

func (c *hyprlandClient) window() (Window, bool) {
	id, err := strconv.ParseUint(strings.TrimPrefix(c.Address, "0x"), 16, 64)
	return Window{ID: id, PID: c.PID, Title: c.Title}, err == nil && c.PID > 0
}

// ask sends one request and returns the answer.
func (h hyprland) ask(ctx context.Context, request string) ([]byte, error) {
	conn, err := dial(ctx, h.socket)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(request)); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(conn, maxAnswer))
}

// Active implements Desktop.
func (h hyprland) Active(ctx context.Context) (Window, bool, error) {
	answer, err := h.ask(ctx, "j/activewindow")
	if err != nil {
		return Window{}, false, err
	}
	var c hyprlandClient
	if err := json.Unmarshal(answer, &c); err != nil { // "{}" if no window has the focus
		return Window{}, false, err
	}
	w, ok := c.window()
	return w, ok, nil
}

// Windows implements Desktop.
func (h hyprland) Windows(ctx context.Context) (list []Window, err error) {
	answer, err := h.ask(ctx, "j/clients")
	if err != nil {
		return nil, err
	}
	var clients []hyprlandClient
	if err := json.Unmarshal(answer, &clients); err != nil {
		return nil, err
	}
	for i := range clients {
		if w, ok := clients[i].window(); ok {
			list = append(list, w)
		}
	}
	return list, nil
}

// Raise implements Desktop.
func (h hyprland) Raise(ctx context.Context, w Window) error {
	answer, err := h.ask(ctx, fmt.Sprintf("dispatch focuswindow address:0x%x", w.ID))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(answer)) != "ok" {
		return fmt.Errorf("%s refused to give the window the focus", h.Name())
	}
	return checkRaised(ctx, h, w)
}
