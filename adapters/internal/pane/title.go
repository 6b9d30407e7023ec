package pane

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rollcall/adapters/internal/kit"
	"rollcall/proc"
	"rollcall/proc/termclient"
)

// Title is what the pane of a terminal says of the program in it.
type Title struct {
	Text  string // as the program set it last
	Shows bool   // the pane shows the text that was asked for; kitty does not say
}

// maxText bounds the text that Titles looks for, which has letters, digits and spaces only.
const maxText = 40

// Titles returns the titles of the panes in which processes run, under the conditions of Find. A process whose pane can't be asked is left out.
// Each terminal's server is asked once. In tmux, Title.Shows reports whether a line of the pane has the text.
func Titles(ctx context.Context, table proc.Lister, text string, ids []proc.Identity) map[proc.Identity]Title {
	if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool {
		return r != ' ' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		text = ""
	}
	titles := map[proc.Identity]Title{}
	tmux, kitty := map[proc.Identity]map[string]tmuxTitle{}, map[proc.Identity]map[uint64]string{}
	for _, id := range ids {
		env, err := table.Env(id)
		if err != nil || kit.Get(env, "TMUX") == "" && kit.Get(env, "KITTY_PID") == "" || proc.CheckBoundary(id) != nil {
			continue
		}
		x, err := table.Find(id.PID)
		if err != nil || x.Identity != id {
			continue
		}
		ancestors := proc.Ancestors(table, x)
		if k, err := findKitty(ctx, env, ancestors); err == nil {
			if _, asked := kitty[k.server.Process]; !asked {
				kitty[k.server.Process] = kittyTitles(ctx, k.server)
			}
			if title, ok := kitty[k.server.Process][k.id]; ok {
				titles[id] = Title{Text: title}
			}
			continue
		}
		socket, _, _ := strings.Cut(kit.Get(env, "TMUX"), ",")
		if socket == "" {
			continue
		}
		server, err := termclient.Find(ctx, termclient.Tmux, socket, ancestors)
		if err != nil {
			continue
		}
		if _, asked := tmux[server.Process]; !asked {
			tmux[server.Process] = tmuxTitles(ctx, server, text)
		}
		// The variables of a process alone prove nothing: see findTmux.
		t, ok := tmux[server.Process][kit.Get(env, "TMUX_PANE")]
		if ok && (x.PID == t.pid || slices.ContainsFunc(ancestors, func(a proc.Identity) bool { return a.PID == t.pid })) {
			titles[id] = t.Title
		}
	}
	return titles
}

type tmuxTitle struct {
	Title
	pid int // of the program that the pane was opened with
}

// tmuxTitles returns the titles of all panes of a server.
func tmuxTitles(ctx context.Context, server *termclient.Server, text string) map[string]tmuxTitle {
	shows := "0"
	if text != "" {
		shows = "#{C:" + text + "}"
	}
	p := &tmuxPane{server: server}
	out, err := p.run(ctx, "list-panes", "-a", "-F", "#{pane_id} #{pane_pid} "+shows+" #{pane_title}")
	titles := map[string]tmuxTitle{}
	if err != nil {
		return titles
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), " ", 4)
		if len(fields) < 4 {
			continue
		}
		if pid, err := strconv.Atoi(fields[1]); err == nil {
			titles[fields[0]] = tmuxTitle{Title{fields[3], fields[2] != "0"}, pid}
		}
	}
	return titles
}

// kittyTitles returns the titles of all windows of a kitty.
func kittyTitles(ctx context.Context, server *termclient.Server) map[uint64]string {
	titles := map[uint64]string{}
	out, err := ask(ctx, server, termclient.KittyClient("ls"))
	var systems []struct {
		Tabs []struct {
			Windows []struct {
				ID    uint64 `json:"id"`
				Title string `json:"title"`
			} `json:"windows"`
		} `json:"tabs"`
	}
	if err != nil || json.Unmarshal(out, &systems) != nil {
		return titles
	}
	for _, system := range systems {
		for _, tab := range system.Tabs {
			for _, w := range tab.Windows {
				titles[w.ID] = w.Title
			}
		}
	}
	return titles
}
