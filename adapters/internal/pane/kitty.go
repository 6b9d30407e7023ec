package pane

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/termclient"
)

// guard is what kitty runs in its own process to look at a window and press a key in it, while nothing else can change what it shows.
//
//go:embed guard.py
var guard []byte

// kittyWindow is a window of kitty, which other programs call a pane. Facts were learned from kitty 0.26.5.
type kittyWindow struct {
	server *termclient.Server
	id     uint64
}

// kittyOrder is what guard gets.
type kittyOrder struct {
	Key  string         `json:"key,omitempty"` // empty: only read
	Name string         `json:"name,omitempty"`
	Rows map[int]string `json:"rows,omitempty"` // what the rows must show
}

// kittyReply is what guard returns.
type kittyReply struct {
	Refused string   `json:"refused"`
	Lines   []string `json:"lines"`
}

// findKitty returns the window of kitty that the environment of a process names (KITTY_PID, KITTY_WINDOW_ID, KITTY_LISTEN_ON). kitty must
// be above the process, and listen on the socket.
func findKitty(ctx context.Context, env []string, ancestors []proc.Identity) (*kittyWindow, error) {
	pid, err := strconv.Atoi(kit.Get(env, "KITTY_PID"))
	window, err2 := strconv.ParseUint(kit.Get(env, "KITTY_WINDOW_ID"), 10, 31)
	if err != nil || err2 != nil {
		return nil, ErrNoPane
	}
	i := slices.IndexFunc(ancestors, func(id proc.Identity) bool { return id.PID == pid })
	if i < 0 {
		return nil, fmt.Errorf("%w: it is not in the kitty that it names", ErrNoPane)
	}
	socket, ok := strings.CutPrefix(kit.Get(env, "KITTY_LISTEN_ON"), "unix:")
	if !ok {
		return nil, fmt.Errorf("%w: kitty's remote control is off", ErrNoPane)
	}
	server, err := termclient.Find(ctx, termclient.Kitty, socket, ancestors[i:i+1])
	if err != nil {
		return nil, fmt.Errorf("%w that can be used: %w", ErrNoPane, err)
	}
	return &kittyWindow{server: server, id: window}, nil
}

// Name implements Pane.
func (k *kittyWindow) Name() string { return fmt.Sprintf("window %d of kitty", k.id) }

// Screen implements Pane.
func (k *kittyWindow) Screen(ctx context.Context) ([]string, error) {
	reply, err := k.ask(ctx, &kittyOrder{})
	if err != nil {
		return nil, err
	}
	return reply.Lines, nil
}

// Press implements Pane.
func (k *kittyWindow) Press(ctx context.Context, key, name string, screen []string, rows []int) error {
	order := &kittyOrder{Key: key, Name: name, Rows: map[int]string{}}
	for _, row := range rows {
		order.Rows[row] = screen[row]
	}
	_, err := k.ask(ctx, order)
	return err
}

// ask makes kitty run guard.
func (k *kittyWindow) ask(ctx context.Context, order *kittyOrder) (*kittyReply, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rollcall-kitty-") // no other user can change what is in it
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPane, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "guard.py")
	if err := os.WriteFile(path, guard, 0o600); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPane, err)
	}
	out, err := ask(ctx, k.server, termclient.KittyClient("kitten", "--match", fmt.Sprintf("id:%d", k.id), path, string(text)))
	if err != nil {
		return nil, err
	}
	var reply kittyReply
	if err := json.Unmarshal(out, &reply); err != nil {
		return nil, fmt.Errorf("%w: the format of kitty's answer is not known: %w", ErrNoPane, err)
	}
	if reply.Refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, reply.Refused)
	}
	return &reply, nil
}
