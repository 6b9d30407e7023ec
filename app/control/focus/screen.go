package focus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rollcall/proc"
	"rollcall/proc/localsocket"
	"rollcall/proc/termclient"
)

// screenSession matches the name of a session of GNU screen, as STY has it: "4711.pts-3.host".
var screenSession = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,10})\.[A-Za-z0-9._-]{1,80}$`) })

// screenServer returns the pid of the server of a session of screen, or 0 if name is not the name of a session.
func screenServer(session string) int {
	m := screenSession().FindStringSubmatch(session)
	if m == nil {
		return 0
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

// showInScreen adds the steps that show the window of screen in which a place is (screen 4.9).
func (r *request) showInScreen(ctx context.Context, p *Place, server proc.Identity, nested int) {
	session, window := p.vars["STY"], p.vars["WINDOW"]
	if _, err := strconv.ParseUint(window, 10, 16); err != nil {
		window = ""
	}
	if r.isDetached(p, slices.Index(p.chain(), server)) {
		r.plan.Note = noteBackground
		return
	}
	screen, folder, err := findScreen(ctx, session, server)
	if err != nil {
		r.plan.Note = "it runs in screen, which can't be asked: " + err.Error()
		return
	}
	if window != "" {
		r.add(PaneStep, "select window "+window+" of screen "+session, func(ctx context.Context) error {
			_, err := screen.Run(ctx, termclient.Client{Program: "screen",
				Args: func(string) []string { return []string{"-S", session, "-X", "select", window} },
				Env:  func(string) []string { return []string{"SCREENDIR=" + folder} }})
			return err
		})
	}
	client, terminal := r.screenClient(ctx, server)
	if client.IsZero() {
		r.plan.Note = "it runs in screen, and no terminal is attached to it"
		r.plan.Attach = []string{"screen", "-r", session}
		return
	}
	place := r.find(client)
	r.show(ctx, &place, nested+1)
	if !r.plan.Seen && window != "" {
		r.plan.Seen = true
		r.plan.Note = fmt.Sprintf("its window is selected in screen on %s; that terminal can't be raised: %s", terminal, r.plan.Note)
	}
}

// findScreen returns the server of a session of screen, and the folder of its socket. screen finds the socket by the folder's name only.
func findScreen(ctx context.Context, session string, server proc.Identity) (found *termclient.Server, folder string, err error) {
	home, _ := os.UserHomeDir()
	folders := []string{os.Getenv("SCREENDIR"), filepath.Join(home, ".screen"), filepath.Join(os.TempDir(), ".screen")}
	for _, parent := range []string{"/run/screen", "/tmp/screens"} {
		list, _ := fs.Glob(os.DirFS(parent), "S-*")
		for _, name := range list {
			folders = append(folders, filepath.Join(parent, name))
		}
	}
	err = errors.New("its socket is not known")
	for _, folder := range folders {
		path := filepath.Join(folder, session)
		if localsocket.Check(path) != nil {
			continue
		}
		found, err = termclient.Find(ctx, termclient.Screen, path, []proc.Identity{server})
		if err == nil {
			return found, folder, nil
		}
	}
	return nil, "", err
}

// screenClient returns the process that shows a screen in a terminal, the youngest if there are several, and that terminal. The server keeps open the terminals
// of the clients that are attached to it.
func (r *request) screenClient(ctx context.Context, server proc.Identity) (found proc.Process, on string) {
	shown, err := r.table.OpenTerminals(server)
	if err != nil {
		return found, ""
	}
	all, _ := r.table.List(ctx) // an error is ignored: the processes that could be read suffice
	for _, x := range all {
		if x.Identity == server || !strings.EqualFold(x.Comm, "screen") || x.Started.Before(found.Started) {
			continue
		}
		if terminal, err := r.table.Terminal(x.Identity); err == nil && terminal != "" && slices.Contains(shown, terminal) {
			found, on = x, terminal
		}
	}
	return found, on
}
