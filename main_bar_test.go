//go:build desktop && linux && !headless

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rollcall/internal/adaptertest"
	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// barOnSway is a Waybar with the recipe of docs/commands.md, on a sway whose only screen is a window of the desktop. Beside Rollcall's
// module, at the left, Waybar shows another, at the right, which has what the test expects.
type barOnSway struct {
	*desktopProgram
	wanted   string // the file with what the module at the right shows
	asked    string // the file with the commands that Waybar ran
	waybar   *exec.Cmd
	log      string
	registry string // the agent's file with the status
	process  string // the agent's folder in the recorded /proc
	works    string // the contents of registry
}

// The backgrounds that the style sheet gives the bar, the tooltip, and the classes of the module.
var (
	barColor     = color.RGBA{0, 0x40, 0x40, 0xff}
	tooltipColor = color.RGBA{0, 0xa0, 0, 0xff}
	classColors  = map[string]color.RGBA{"working": {0, 0, 0xa0, 0xff}, "needs-you": {0xa0, 0, 0, 0xff}}
)

const barStyle = `* { font: 16px "DejaVu Sans"; border: none; border-radius: 0; margin: 0; min-height: 0; }
window#waybar { background: #004040; }
#custom-rollcall, #custom-wanted { margin: 2px; }
tooltip { background: #00a000; }
.working { background: #0000a0; color: #ffffff; }
.needs-you { background: #a00000; color: #ffffff; }
`

const barConfig = `{
"position": "top", "height": 30, "modules-left": ["custom/rollcall"], "modules-right": ["custom/wanted"],
%s,
"custom/wanted": {"exec": "exec tail -n 1 -f %s", "return-type": "json"}
}
`

// TestBarInWaybar has a real Waybar run the recipe of docs/commands.md, and looks at what it draws: the numbers, the class, the tooltip, and
// nothing without a session. The mouse opens the window. No `rollcall bar` outlives its Waybar.
func TestBarInWaybar(t *testing.T) {
	must.Have(t, "sway", "waybar")
	b := newBarOnSway(t)
	b.put(b.registry, b.works)
	b.shows(`{"text":"◐1","class":"working"}`, "working")
	b.put(b.registry, b.waits())
	b.shows(`{"text":"◆1","class":"needs-you"}`, "needs-you")
	b.hasTooltip()
	b.clicks(1, "window")
	b.clicks(3, "window --queue")

	must.Do(t, b.waybar.Process.Signal(syscall.SIGUSR2)) // it reads its settings and starts its commands again
	b.until("a second command of the bar, alone", func() bool {
		return strings.Count(b.commands(), "bar --format waybar\n") == 2 && len(b.running()) == 1
	})
	b.put(b.registry, b.works)
	b.shows(`{"text":"◐1","class":"working"}`, "working")
	must.Do(t, os.RemoveAll(b.process))
	b.until("no module without a session", func() bool {
		module, wanted := b.modules()
		return module.Rect.Empty() && !wanted.Rect.Empty()
	})
	must.Do(t, b.waybar.Process.Kill())
	_ = b.waybar.Wait()
	b.until("the end of the bar's command", func() bool { return len(b.running()) == 0 })
	if said := string(must.Get(os.ReadFile(b.log))(t)); strings.Contains(said, "markup") || strings.Contains(said, "custom/rollcall") {
		t.Errorf("waybar said:\n%s", said)
	}
}

func newBarOnSway(t *testing.T) *barOnSway {
	t.Helper()
	d := desktoptest.For(t, desktoptest.Options{})
	rec := adaptertest.Replay(t, "adapters/claudecode/testdata/recordings/claude-2.1.329-permission")
	b := &barOnSway{desktopProgram: newDesktopProgram(t, d, adaptertest.Env(rec)...), registry: filepath.Join(rec.Home, ".claude/sessions/9652.json"),
		process: filepath.Join(rec.ProcRoot, "9652")}
	transcripts := must.Get(filepath.Glob(filepath.Join(rec.Home, ".claude/projects/*/*.jsonl")))(t)
	for _, path := range transcripts { // it asks for a command that bars would read as markup
		text := string(must.Get(os.ReadFile(path))(t))
		b.put(path, strings.ReplaceAll(text, "touch q.txt", "touch '<b>a & b'"))
	}
	text := string(must.Get(os.ReadFile(b.registry))(t))
	b.works = strings.Replace(strings.Replace(text, `"status":"waiting"`, `"status":"busy"`, 1), `,"waitingFor":"permission prompt"`, "", 1)
	b.startWaybar(b.startSway())
	return b
}

func (b *barOnSway) waits() string {
	return strings.Replace(b.works, `"status":"busy"`, `"status":"waiting","waitingFor":"permission prompt"`, 1)
}

func (b *barOnSway) put(path, text string) {
	b.t.Helper()
	replace(b.t, path, text)
}

// run starts a program that ends with the test at the latest, and returns it and the file with what it printed.
func (b *barOnSway) run(as *syscall.Credential, env []string, argv ...string) (cmd *exec.Cmd, log string) {
	b.t.Helper()
	out := must.Get(os.Create(filepath.Join(b.t.TempDir(), argv[0]+".log")))(b.t)
	cmd = exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, "/", out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: as}
	must.Do(b.t, cmd.Start())
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if b.t.Failed() {
			text, _ := os.ReadFile(out.Name())
			b.t.Logf("%s: %s", argv[0], text)
		}
	})
	return cmd, out.Name()
}

// startSway starts sway on the desktop's display, since a headless one has no mouse, and returns its socket for Wayland's clients.
func (b *barOnSway) startSway() (socket string) {
	b.t.Helper()
	dir := b.t.TempDir()
	runtime, config := filepath.Join(dir, "run"), filepath.Join(dir, "config")
	must.Do(b.t, errors.Join(os.Mkdir(runtime, 0o700), os.WriteFile(config, []byte("xwayland disable\n"), 0o644)))
	var as *syscall.Credential
	if os.Geteuid() == 0 { // sway refuses to run as root
		u := must.Get(user.Lookup("nobody"))(b.t)
		uid, gid := must.Get(strconv.Atoi(u.Uid))(b.t), must.Get(strconv.Atoi(u.Gid))(b.t)
		for _, path := range []string{filepath.Dir(dir), dir, runtime} {
			must.Do(b.t, os.Chown(path, uid, gid))
		}
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	b.run(as, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + runtime, "DISPLAY=" + b.Display(), "LANG=C.UTF-8", "LIBSEAT_BACKEND=noop",
		"WLR_BACKENDS=x11", "WLR_RENDERER=pixman"}, "sway", "--config", config)
	b.until("sway", func() bool {
		names, _ := filepath.Glob(filepath.Join(runtime, "wayland-*.lock"))
		if len(names) == 1 {
			socket = strings.TrimSuffix(names[0], ".lock")
		}
		return socket != ""
	})
	return socket
}

// startWaybar starts Waybar with the recipe. Its rollcall is the test's own program, which is written down each time that it is run.
func (b *barOnSway) startWaybar(socket string) {
	b.t.Helper()
	_, recipe, _ := strings.Cut(string(must.Get(os.ReadFile("docs/commands.md"))(b.t)), "\n**Waybar**")
	_, recipe, _ = strings.Cut(recipe, "```json\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	dir := b.t.TempDir()
	b.wanted, b.asked = filepath.Join(dir, "wanted"), filepath.Join(dir, "asked")
	program := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%s\nexec %s \"$@\"\n", b.asked, os.Args[0])
	must.Do(b.t, errors.Join(os.WriteFile(b.wanted, []byte("{}\n"), 0o600), os.WriteFile(filepath.Join(dir, "rollcall"), []byte(program), 0o700)))
	config, style := filepath.Join(dir, "config"), filepath.Join(dir, "style.css")
	must.Do(b.t, errors.Join(os.WriteFile(config, fmt.Appendf(nil, barConfig, recipe, b.wanted), 0o600), os.WriteFile(style, []byte(barStyle), 0o600)))
	env := slices.Concat(b.env, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "GDK_BACKEND=wayland", "WAYLAND_DISPLAY=" + socket})
	b.waybar, b.log = b.run(nil, env, "waybar", "--config", config, "--style", style)
}

// modules returns the pictures of Rollcall's module and of the one beside it; empty: it is not there. The bar's colour is around both.
func (b *barOnSway) modules() (rollcall, wanted *image.RGBA) {
	b.t.Helper()
	img := must.Get(b.Image())(b.t)
	bar := extent(img, image.Rect(0, 0, img.Rect.Max.X, 100), func(c color.RGBA) bool { return c == barColor })
	middle := bar.Min.X + bar.Dx()/2
	part := func(r image.Rectangle) *image.RGBA {
		return img.SubImage(extent(img, r, func(c color.RGBA) bool { return c != barColor })).(*image.RGBA)
	}
	return part(image.Rect(bar.Min.X, bar.Min.Y, middle, bar.Max.Y)), part(image.Rect(middle, bar.Min.Y, bar.Max.X, bar.Max.Y))
}

// extent returns the smallest part of r that has all of its pixels of some colours.
func extent(img *image.RGBA, r image.Rectangle, is func(color.RGBA) bool) (part image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if is(img.RGBAAt(x, y)) {
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return part
}

// shows waits until Waybar draws Rollcall's module as the one whose line is given, in the colour of a class.
func (b *barOnSway) shows(line, class string) {
	b.t.Helper()
	f := must.Get(os.OpenFile(b.wanted, os.O_APPEND|os.O_WRONLY, 0))(b.t)
	_, err := f.WriteString(line + "\n")
	must.Do(b.t, errors.Join(err, f.Close()))
	b.until(line, func() bool {
		module, wanted := b.modules()
		corner := module.Rect.Min
		return !module.Rect.Empty() && module.RGBAAt(corner.X, corner.Y) == classColors[class] && same(module, wanted)
	})
	must.Do(b.t, b.Screenshot("build/shots/waybar-"+class+".png"))
}

// same reports whether two pictures have the same size and pixels.
func same(a, b *image.RGBA) bool {
	if a.Rect.Size() != b.Rect.Size() {
		return false
	}
	width := 4 * a.Rect.Dx()
	for row := range a.Rect.Dy() {
		if !bytes.Equal(a.Pix[row*a.Stride:][:width], b.Pix[row*b.Stride:][:width]) {
			return false
		}
	}
	return true
}

// middle returns the middle of Rollcall's module, which it waits for.
func (b *barOnSway) middle() image.Point {
	b.t.Helper()
	var module *image.RGBA
	b.until("the module", func() bool {
		module, _ = b.modules()
		return !module.Rect.Empty()
	})
	return module.Rect.Min.Add(module.Rect.Size().Div(2))
}

// hasTooltip points at the module until Waybar shows its tooltip, which has a title that would be markup.
func (b *barOnSway) hasTooltip() {
	b.t.Helper()
	at := b.middle()
	must.Do(b.t, b.Move(at.X, at.Y))
	b.until("the tooltip", func() bool {
		tip := extent(must.Get(b.Image())(b.t), image.Rect(0, at.Y, at.X+400, at.Y+100), func(c color.RGBA) bool { return c == tooltipColor })
		return tip.Dx() > 100 && tip.Dy() > 10
	})
	must.Do(b.t, b.Screenshot("build/shots/waybar-tooltip.png"))
}

// clicks presses a button of the mouse on the module, and waits for what the recipe says: the window, by a command.
func (b *barOnSway) clicks(button int, command string) {
	b.t.Helper()
	at := b.middle()
	must.Do(b.t, b.Click(at.X, at.Y, button))
	b.until("the window by button "+strconv.Itoa(button), func() bool { return len(b.windows()) == 1 })
	if !strings.HasSuffix(b.commands(), "\n"+command+"\n") {
		b.t.Errorf("button %d ran %q, not %q", button, b.commands(), command)
	}
	b.endWindow()
}

// endWindow ends the window's process. A key that closes windows would close sway's, were it pressed a moment too late.
func (b *barOnSway) endWindow() {
	b.t.Helper()
	c := exec.CommandContext(b.ctx, "xdotool", "search", "--onlyvisible", "--name", "^Rollcall$", "getwindowpid")
	c.Env = b.Env()
	pid := must.Get(strconv.Atoi(strings.TrimSpace(string(must.Get(c.Output())(b.t)))))(b.t)
	must.Do(b.t, syscall.Kill(pid, syscall.SIGTERM))
	b.until("the window's end", func() bool { return len(b.windows()) == 0 })
}

// commands returns what Waybar had the program do so far, a line each.
func (b *barOnSway) commands() string {
	b.t.Helper()
	return string(must.Get(os.ReadFile(b.asked))(b.t))
}

// running returns the processes that run `rollcall bar` for this test.
func (b *barOnSway) running() (pids []string) {
	b.t.Helper()
	for _, e := range must.Get(os.ReadDir("/proc"))(b.t) {
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if strings.Contains(string(args), "bar\x00--format\x00waybar") && strings.Contains(string(env), filepath.Dir(b.asked)) {
			pids = append(pids, e.Name())
		}
	}
	return pids
}
