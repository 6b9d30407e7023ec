package claudecode

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// The tools by which the agent begins a later turn by itself.
const (
	wakeUpTool   = "ScheduleWakeup"
	scheduleTool = "CronCreate"
	cancelTool   = "CronDelete"
)

// wake is a turn that the agent is to begin by itself.
type wake struct {
	tool, what string
	at, set    time.Time
}

// maxWakeResult is the length of the longest result of a tool that is searched for a time; that of these tools is below 200 bytes (2.1.332).
const maxWakeResult = 1 << 10

// wakesAt reads the time from the result of a call of wakeUpTool or scheduleTool (2.1.332); zero: it has none.
func wakesAt(result []byte) time.Time {
	var ms int64
	if len(result) <= maxWakeResult {
		for _, key := range []string{"scheduledFor", "nextFireAt"} {
			n, _ := agentfile.Int(agentfile.Get(result, key))
			ms = max(ms, n)
		}
	}
	if ms == 0 {
		return time.Time{}
	}
	return millis(ms)
}

// wakeUps notes what the results in r change of the wake-ups. A new one of wakeUpTool replaces the one before; what of them was cancelled is not recorded in
// a form that names it.
func (t *turn) wakeUps(r *record) {
	for _, u := range t.pending {
		if !slices.Contains(r.results, u.id) || u.name != wakeUpTool && u.name != scheduleTool && u.name != cancelTool {
			continue
		}
		t.noted.wakes = slices.DeleteFunc(slices.Clone(t.noted.wakes), func(w wake) bool { return u.name == cancelTool || u.name == wakeUpTool && w.tool == wakeUpTool })
		if !r.wakes.IsZero() {
			t.noted.wakes = append(t.noted.wakes, wake{u.name, u.does, r.wakes, r.at})
			t.noted.wakesFrom = 0
		}
	}
}

// placeWakes notes where in the file the record is that was added last, if it has a wake-up.
func (t *turn) placeWakes(offset int64) {
	if len(t.noted.wakes) > 0 && t.noted.wakesFrom == 0 {
		t.noted.wakesFrom = offset
	}
}

// addWork adds what the session's calls and commands say to its row.
func (d *discovery) addWork(s *session, out *adapters.Session) {
	if len(s.live) > 0 && out.Status == adapters.Idle {
		d.background(s, out)
	}
	if out.Status == adapters.Working {
		out.Evidence += s.facts.turn.repeats()
	}
}

// background adds what goes on in a live session whose turn is over: the commands in its process's tree, and wake-ups of its last turn. Those of earlier turns
// may have been cancelled, and end with the process. A wake-up far from the end of the transcript is left out, since not every reader reads it.
func (d *discovery) background(s *session, out *adapters.Session) {
	e := &s.live[0]
	out.Background = d.table.commands(e.process)
	if n := len(out.Background); n > 0 {
		first := out.Background[0]
		out.Evidence += fmt.Sprintf("; it runs %d in the background, the first since %s", n, kit.Clock(first.Since, d.now))
	}
	noted := &s.facts.turn.noted
	if s.upTo.state.Next-noted.wakesFrom > tailLimit && noted.wakesFrom > 0 {
		return
	}
	for _, w := range noted.wakes {
		if w.at.After(d.now) && w.set.After(e.process.Started) {
			out.Background = append(out.Background, adapters.Background{Kind: adapters.WakeUp, What: w.what, At: w.at})
			if out.Outcome != "" && (out.AskAgain.IsZero() || w.at.Before(out.AskAgain)) {
				out.AskAgain = w.at
			}
		}
	}
}

// commands returns the commands of the agent's shell tool and monitors that run as children of its process, the oldest first. The shell's command line has the
// form that Claude Code 2.1.332 gives it; a command that left its shell can't be told from other processes.
func (t *table) commands(agent proc.Process) (list []adapters.Background) {
	for _, p := range t.rows {
		if p.PPID != agent.PID || p.Start < agent.Start {
			continue
		}
		args, err := t.Args(p.Identity)
		if command, ok := commandOf(args); ok && err == nil {
			list = append(list, adapters.Background{Kind: adapters.Running, What: adapters.CutTo(command, adapters.MaxDoing), Since: p.Started, TurnFollows: true})
		}
	}
	slices.SortFunc(list, func(a, b adapters.Background) int { return a.Since.Compare(b.Since) })
	return list
}

// commandOf returns the command in the script that Claude Code hands to a shell: … && eval 'COMMAND' < /dev/null && pwd -P >| FILE.
func commandOf(args []string) (command string, ok bool) {
	for _, script := range args {
		begin := strings.Index(script, "eval '")
		end := strings.LastIndex(script, "&& pwd -P >| ")
		if begin < 0 || end < begin {
			continue
		}
		quoted := strings.TrimSuffix(strings.TrimSpace(script[begin+len("eval '"):end]), "< /dev/null")
		return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(quoted), "'"), `'"'"'`, "'"), true
	}
	return "", false
}

// sameCall is how many times in a row the same call is made before the evidence says it.
const sameCall = 5

// noted is what was noted of the calls of a turn.
type noted struct {
	wakes     []wake
	wakesFrom int64  // the offset of the last of them in the file; 0: not known yet
	call      uint64 // the tool and the arguments of the last call
	id        uint64 // of that call
	times     int    // how many times in a row it was made
}

// add notes a call.
func (n *noted) add(u *toolUse) {
	switch {
	case u.id == n.id: // written again
		return
	case u.call != n.call:
		n.call, n.times = u.call, 0
	}
	n.id = u.id
	n.times = min(n.times+1, sameCall)
}

// repeats describes, for evidence, that an open turn makes the same call again and again.
func (t *turn) repeats() string {
	if !t.state.isOpen() || t.noted.times < sameCall {
		return ""
	}
	return fmt.Sprintf("; the same call with the same arguments at least %d times in a row", sameCall)
}
