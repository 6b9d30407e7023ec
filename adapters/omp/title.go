package omp

import (
	"slices"
	"strings"

	"rollcall/adapters/internal/pane"
	"rollcall/proc"
)

// spinners are the signs of a title while the agent works, of four styles, and the one without a movement (18.2.3).
const spinners = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠁⠂⠄⠠⠐⠈○◔◑◕●-\\|/:"

// approvalText is what a request for a permission shows (18.2.3).
const approvalText = "Allow tool"

// readTitles reads the titles of the terminals of processes that may be in a turn of which the files say too little.
func (d *discovery) readTitles() {
	var ids []proc.Identity
	for _, p := range d.processes {
		settled := slices.ContainsFunc(p.sessions, func(s *session) bool { return s.turn.state == ended || s.turn.state == prompted })
		if !settled && !p.Headless {
			ids = append(ids, p.Identity)
		}
	}
	d.titles = pane.Titles(d.Ctx, d.Table, approvalText, ids)
}

// titleState is what the title of a terminal says.
type titleState int

const (
	noTitle titleState = iota // it can't be read, or is of another form
	titleReady
	titleWorks
	titleAsks // it waits for the user, or runs what the user has allowed
)

// titleOf returns what the title of the terminal of a process says: the sign after the name of the agent is one of four kinds of spinners while it works (18.2.3).
func (d *discovery) titleOf(p *process) titleState {
	text, is := strings.CutPrefix(d.titles[p.Identity].Text, "π ")
	switch sign, _, _ := strings.Cut(text, " "); {
	case !is || sign == "":
	case sign == ">":
		return titleReady
	case sign == "!":
		return titleAsks
	case strings.Contains(spinners, sign):
		return titleWorks
	}
	return noTitle
}
