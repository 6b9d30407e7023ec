package kimi

import (
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// talking is how a Kimi Code that was launched as answerable is spoken to: `kimi acp` (2.1.0). Its request shows 50 characters of a command; the whole one is
// in the update before.
var talking = kit.ACP{Agent: Name, Where: description.Title, Once: "approve_once", Apart: true, Choices: choices, Check: check}

var _ adapters.Piped = (*Adapter)(nil)

// Talk implements adapters.Piped.
func (a *Adapter) Talk() adapters.Talk { return talking.Talk() }

// The beginnings of the ids of options that are answers to a question, and ways to carry out a plan (2.1.0).
var choiceIDs = []string{"q0_opt_", "plan_opt_"}

// choices returns the question whose answers the options of a call are. Of several questions Kimi Code asks the first one.
func choices(call []byte, options []kit.ACPOption) (q adapters.Question, asks bool) {
	q.Text = kit.ACPText(agentfile.Get(call, "content"))
	for _, o := range options {
		if slices.ContainsFunc(choiceIDs, func(id string) bool { return strings.HasPrefix(o.ID, id) }) && o.Kind == "allow_once" {
			q.Options = append(q.Options, adapters.Option{Label: o.Name})
		}
	}
	return q, len(q.Options) > 0
}

// check checks what only Kimi Code's calls have: a plan comes without arguments, and is shown whole beside its title. A command begins as the request says, or it
// is another call's.
func check(call []byte, r *adapters.Request) {
	switch {
	case r.Kind == adapters.AsksCommand:
		r.CanAllow = r.CanAllow && isPreview(kit.ACPText(agentfile.Get(call, "content")), r.Text)
	case r.Kind != adapters.AsksQuestion && agentfile.String(agentfile.Get(call, "title")) == "ExitPlanMode":
		r.Kind = adapters.AsksPlan
	}
}

// isPreview reports whether a request shows the beginning of a command: 50 characters of UTF-16, which may end in the half of one (2.1.0).
func isPreview(shown, command string) bool {
	begins, is := strings.CutPrefix(shown, "Requesting approval to Running: ")
	if short, isCut := strings.CutSuffix(begins, "…"); isCut && is && short != "" {
		return strings.HasPrefix(command, strings.TrimSuffix(short, "\uFFFD"))
	}
	return is && begins == command
}
