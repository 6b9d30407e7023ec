//go:build linux

package desktop

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// sway reports and raises the windows of sway, over the socket that swaymsg uses (sway-ipc(7), sway 1.7).
type sway struct{ socket string }

// OnSway returns the desktop of a sway with this socket. The desktop connects at each question.
func OnSway(socket string) Desktop { return sway{socket} }

// Name implements Desktop.
func (s sway) Name() string { return "sway" }

// The messages of sway-ipc(7).
const (
	swayMagic      = "i3-ipc"
	swayRunCommand = 0
	swayGetTree    = 4
)

// swayNode is a node of sway's tree of containers. Windows have a pid.
type swayNode struct {
	ID       uint64     `json:"id"`
	PID      int        `json:"pid"`
	Name     string     `json:"name"` // of a window: its title
	Focused  bool       `json:"focused"`
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
}

// ask sends one message and decodes the answer.
func (s sway) ask(ctx context.Context, kind uint32, payload string, into any) error {
	conn, err := dial(ctx, s.socket)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	message := binary.NativeEndian.AppendUint32([]byte(swayMagic), uint32(len(payload)))
	message = append(binary.NativeEndian.AppendUint32(message, kind), payload...)
	if _, err := conn.Write(message); err != nil {
		return err
	}
	head := make([]byte, len(swayMagic)+8)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	length := binary.NativeEndian.Uint32(head[len(swayMagic):])
	if string(head[:len(swayMagic)]) != swayMagic || length > maxAnswer {
		return errors.New("the format of sway's answer is not known")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// maxDepth limits how deep containers may be nested.
const maxDepth = 64

// windows calls add for each window below a node.
func (n *swayNode) windows(depth int, add func(*swayNode)) {
	if n.PID > 0 {
		add(n)
	}
	if depth == maxDepth {
		return
	}
	for i := range n.Nodes {
		n.Nodes[i].windows(depth+1, add)
	}
	for i := range n.Floating {
		n.Floating[i].windows(depth+1, add)
	}
}

func (s sway) tree(ctx context.Context, add func(*swayNode)) error {
	var root swayNode
	if err := s.ask(ctx, swayGetTree, "", &root); err != nil {
		return err
	}
	root.windows(0, add)
	return nil
}

// Active implements Desktop.
func (s sway) Active(ctx context.Context) (w Window, ok bool, err error) {
	err = s.tree(ctx, func(n *swayNode) {
		if n.Focused {
			w, ok = Window{ID: n.ID, PID: n.PID}, true
		}
	})
	return w, ok, err
}

// Windows implements Desktop.
func (s sway) Windows(ctx context.Context) (list []Window, err error) {
	err = s.tree(ctx, func(n *swayNode) { list = append(list, Window{ID: n.ID, PID: n.PID, Title: n.Name}) })
	return list, err
}

// Raise implements Desktop.
func (s sway) Raise(ctx context.Context, w Window) error {
	var results []struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}
	if err := s.ask(ctx, swayRunCommand, fmt.Sprintf("[con_id=%d] focus", w.ID), &results); err != nil {
		return err
	}
	if len(results) == 0 || !results[0].Success {
		return errors.New("sway refused to give the window the focus")
	}
	return checkRaised(ctx, s, w)
}
