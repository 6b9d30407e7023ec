package describe

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
	"rollcall/app/settings"
	"rollcall/proc"
)

// StopSteps returns which signals are sent, and how long Rollcall waits after each.
func StopSteps(steps []app.StopStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = fmt.Sprintf("%s and waits up to %g s", s.Signal, s.Grace.Seconds())
		if s.Signal == proc.Kill {
			words[i] = s.Signal.String()
		}
	}
	return "Rollcall sends " + strings.Join(words, "; if that is not enough, it sends ") + ". It then ends the processes that the session leaves behind."
}

// Stopped returns how a session was stopped, and what else ended.
func Stopped(plan *app.StopPlan, r app.StopResult) string {
	text := present.Sentence(present.StoppedBy(r.By, plan.Through, r.Took)) + "."
	if len(r.Rest) > 0 {
		names := make([]string, 0, len(r.Rest))
		for _, p := range r.Rest {
			names = append(names, fmt.Sprintf("%d %s", p.PID, present.Short(p.Comm)))
		}
		text += " Also ended: " + strings.Join(names, ", ") + "."
	}
	return text
}

// IdlePlan returns which session a plan stops, and what else ends with it.
func IdlePlan(p *app.StopPlan) string {
	text := present.AgentName(p.Session.Agent) + " · " + Folder(&p.Session) + fmt.Sprintf(" · process %d", p.Process.PID)
	if n := len(p.Tree); n > 0 {
		text += fmt.Sprintf(" and %d below it", n)
	}
	if n := len(p.Also); n > 0 {
		text += ", also ends " + english.Plural(n, "other session", "other sessions")
	}
	return text
}

// WorktreePlan returns what is lost with a worktree, or why it cannot be removed.
func WorktreePlan(p *worktree.Plan) string {
	var lines []string
	for _, reason := range p.Never {
		lines = append(lines, "cannot be removed: "+present.Short(reason))
	}
	if len(p.Never) > 0 {
		return strings.Join(lines, "\n")
	}
	if len(p.Loses) > 0 {
		lines = append(lines, "loses "+present.Short(strings.Join(p.Loses, ", ")))
	}
	for _, d := range p.Doubts {
		lines = append(lines, present.Short(d))
	}
	if p.Ignored.Files > 0 {
		lines = append(lines, "with "+present.Size(p.Ignored.Bytes)+" of ignored files")
	}
	if len(lines) == 0 {
		return "loses no work"
	}
	return strings.Join(lines, "\n")
}

// RemovedWorktree returns what was removed with a worktree, and how its commits are restored.
func RemovedWorktree(p *worktree.Plan, got worktree.Removed) string {
	switch {
	case got.Kept != "":
		return "removed; its branch was kept: " + present.Short(got.Kept)
	case got.Branch != "" && p.Lost > 0:
		return "removed; “git branch " + present.Short(got.Branch) + " " + got.Commit + "” restores its commits"
	}
	return "removed"
}

// ComparedWith returns with which commit the files were compared, and why.
func ComparedWith(c *worktree.Changes, since time.Time) string {
	text := "compared with " + present.Begin(c.From, 10) + ", which was checked out when the session began"
	switch {
	case c.From == "":
		text = "nothing was committed when the session began"
	case since.IsZero():
		text = "compared with the last commit: when the session began is not known"
	}
	return text + present.When(c.Note != "", ": "+present.Line(c.Note))
}

// NamedAgent returns an entry in one line.
func NamedAgent(n *settings.NamedAgent) string {
	text := n.Name
	if len(n.Program) > 0 {
		text += " · " + strings.Join(n.Program, ", ")
	}
	for _, part := range []struct {
		has  bool
		name string
	}{{n.Launch != nil, "can be launched"}, {n.Rows != nil, "rows by a program"}, {n.Answer != nil, "answers by a program"}} {
		if part.has {
			text += " · " + part.name
		}
	}
	return present.Short(text)
}
