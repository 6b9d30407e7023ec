package pane

import (
	"os"
	"strconv"
	"testing"

	"rollcall/internal/eventually"
	"rollcall/proc"
)

// The title is that which the pane's own program set, and only for processes in that pane.
func TestTitlesTmux(t *testing.T) {
	p := shown(t, "\033]2;✋  Action Required (x)\007one line\nAnswer me\n")
	agent := p.agent(t)
	titles := Titles(t.Context(), proc.Open(), "Answer me", []proc.Identity{agent, proc.Self()})
	if want := (Title{"✋  Action Required (x)", true}); titles[agent] != want || len(titles) != 1 {
		t.Errorf("%+v, want %+v of the agent alone", titles, want)
	}
	titles = Titles(t.Context(), proc.Open(), "another line", []proc.Identity{agent})
	if titles[agent].Shows {
		t.Errorf("%+v", titles)
	}
	titles = Titles(t.Context(), proc.Open(), "#{C:Answer}", []proc.Identity{agent})
	if titles[agent].Shows || titles[agent].Text == "" {
		t.Errorf("a text with tmux's own signs: %+v", titles)
	}
	titles = Titles(t.Context(), elsewhere{proc.Open()}, "", []proc.Identity{agent})
	if len(titles) != 0 {
		t.Errorf("a process in a terminal within the pane has %+v", titles)
	}
	stranger := &table{proc.Open(), []string{"TMUX=" + p.socket() + ",1,0", "TMUX_PANE=%0"}}
	titles = Titles(t.Context(), stranger, "", []proc.Identity{proc.Self()})
	if len(titles) != 0 {
		t.Errorf("a process that only names the pane has %+v", titles)
	}
}

// elsewhere is a process table in which all processes are in another terminal.
type elsewhere struct{ proc.Lister }

func (elsewhere) Terminal(proc.Identity) (string, error) { return "/dev/pts/9999", nil }

func TestTitlesKitty(t *testing.T) {
	k := inKitty(t, "\033]2;✦  Working… (x)\007Esc to cancel\n", "-o", "allow_remote_control=yes", "--listen-on", "unix:@rollcall-title-"+strconv.Itoa(os.Getpid()))
	eventually.True(t, "the title is set", func() bool { // kitty joins blanks
		return Titles(t.Context(), k.table, "", []proc.Identity{k.agent})[k.agent] == Title{Text: "✦ Working… (x)"}
	})
}
