//go:build linux

package desktoptest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

func init() {
	// The library prints an error for every connection that is closed.
	xgb.Logger = log.New(io.Discard, "", 0)
}

// fontDPI is the number of dots per inch at which fonts have their normal size.
const fontDPI = 96

// startX lets the server choose a free display, so that desktops can start at
// the same moment.
func (d *Desktop) startX(ctx context.Context) error {
	number, p, err := d.startTold(ctx, "Xvfb", "-displayfd", "3",
		"-screen", "0", fmt.Sprintf("%dx%dx24", d.opts.Size.X, d.opts.Size.Y),
		"-nolisten", "tcp", "-noreset")
	if err != nil {
		return err
	}
	d.display = ":" + number
	d.x, err = xgb.NewConnDisplay(d.display)
	if err != nil {
		return fmt.Errorf("connect to display %s: %w: %s", d.display, err, p.tail())
	}
	if err := xtest.Init(d.x); err != nil {
		return fmt.Errorf("XTEST on display %s: %w", d.display, err)
	}
	wallpaper := uint32(0x6f8aa5)
	if d.opts.Dark {
		wallpaper = 0x33475b
	}
	err = xproto.ChangeWindowAttributesChecked(d.x, d.root(), xproto.CwBackPixel|xproto.CwEventMask,
		[]uint32{wallpaper, xproto.EventMaskSubstructureNotify | xproto.EventMaskPropertyChange}).Check()
	if err == nil && d.opts.Scale > 1 {
		resources := fmt.Sprintf("Xft.dpi:\t%d\n", fontDPI*d.opts.Scale)
		err = xproto.ChangePropertyChecked(d.x, xproto.PropModeReplace, d.root(), xproto.AtomResourceManager, xproto.AtomString, 8,
			uint32(len(resources)), []byte(resources)).Check()
	}
	if err == nil {
		err = xproto.ClearAreaChecked(d.x, false, d.root(), 0, 0, 0, 0).Check()
	}
	if err != nil {
		return fmt.Errorf("prepare the screen: %w", err)
	}
	go func(x *xgb.Conn) {
		for {
			event, err := x.WaitForEvent()
			if event == nil && err == nil {
				return
			}
			d.poke()
		}
	}(d.x)
	return nil
}

// startTold starts a program that writes one line to descriptor 3 once it is
// ready, and returns that line.
func (d *Desktop) startTold(ctx context.Context, argv ...string) (string, *process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	p, err := d.start(w, d.Env(), argv...)
	w.Close()
	if err != nil {
		return "", nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = r.SetReadDeadline(deadline)
	} else {
		_ = r.SetReadDeadline(time.Now().Add(30 * time.Second))
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("%s did not get ready: %w: %s", p.name, err, p.tail())
	}
	return strings.TrimSpace(line), p, nil
}

func (d *Desktop) root() xproto.Window {
	return xproto.Setup(d.x).DefaultScreen(d.x).Root
}

func (d *Desktop) startWindowManager(ctx context.Context) error {
	p, err := d.start(nil, d.Env(), "openbox", "--sm-disable")
	if err != nil {
		return err
	}
	return d.until(ctx, "window manager", p, func() (bool, error) {
		windows, err := d.windowProperty(d.root(), "_NET_SUPPORTING_WM_CHECK")
		return len(windows) > 0, err
	})
}

// windowProperty reads a property that holds windows or atoms; nil if not set.
func (d *Desktop) windowProperty(w xproto.Window, name string) ([]uint32, error) {
	atom, err := xproto.InternAtom(d.x, false, uint16(len(name)), name).Reply()
	if err != nil {
		return nil, err
	}
	p, err := xproto.GetProperty(d.x, false, w, atom.Atom, xproto.GetPropertyTypeAny, 0, 1024).Reply()
	if err != nil {
		return nil, err
	}
	if p.Format != 32 {
		return nil, nil
	}
	out := make([]uint32, 0, p.ValueLen)
	for i := 0; i+4 <= len(p.Value); i += 4 {
		out = append(out, xgb.Get32(p.Value[i:]))
	}
	return out, nil
}
