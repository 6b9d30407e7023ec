package kimi

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/pane"
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// window is the longest time from the start of `kimi -p` to its session: 5 s were seen, and longer on a busy machine.
const window = time.Minute

type evidence = skeleton.Evidence[*process, *session]

// match finds the process of each session. It depends only on the files and the processes as they are now.
func (d *discovery) match() {
	d.findFormer()
	isFree := func(p *process, s *session) bool {
		return s.owner == nil && p.Uses(s.home) && (p.session == nil || p.Hosts)
	}
	skeleton.Match(d.processes, d.sessions, isFree, d.assign,
		evidence{Rank: skeleton.Registered, Shows: func(p *process, s *session) string {
			return kit.If(p.served && d.serves(p, s), "the server has it")
		}},
		evidence{Rank: skeleton.Runs, Shows: func(p *process, s *session) string {
			return kit.If(d.runs(p, s), "it runs the session's command")
		}},
		evidence{Rank: skeleton.Named, Shows: func(p *process, s *session) string {
			return kit.If(p.Named == s.id, "named by its command line")
		}},
		evidence{Rank: skeleton.Fits, Pick: d.notLeft, Shows: func(p *process, s *session) string {
			return kit.If(d.claims(p, s), "no other session of its folder was written since it began")
		}},
		evidence{Rank: skeleton.Fits, Shows: func(p *process, s *session) string {
			may := p.session == nil && !p.Hosts && (d.claims(p, s) || d.mayContinue(p, s))
			return kit.If(may && s.state.Title != "" && s.state.Title == d.titleOf(p), "its terminal has the session's title")
		}})
	for _, p := range d.processes {
		if !p.served {
			d.assignResumed(p)
			d.doubtAll(p)
		}
	}
}

// findFormer finds the former folders of processes whose folder was renamed.
func (d *discovery) findFormer() {
	var sessions []skeleton.Begun
	for _, s := range d.sessions {
		sessions = append(sessions, skeleton.Begun{Home: s.home, CWD: s.cwd, At: s.at, Written: s.since()})
	}
	d.FindFormer(sessions)
}

func (d *discovery) assign(p *process, s *session, how string) {
	p.several = p.session != nil
	p.session, s.owner = s, p
	s.how = how
	s.served = p.served
}

// serves reports whether a `kimi web` holds a session: it keeps a file for each since it opened it, and none for those that it only shows (2.1.0).
func (d *discovery) serves(p *process, s *session) bool {
	path := filepath.Join(s.home, "server", "events", s.id+".jsonl")
	began, err := openedAt(path)
	s.hidden = d.Report.Failed(path, err) || s.hidden
	return !began.IsZero() && p.Precedes(began)
}

// openedAt returns when a server opened a session, as the first line of its file for it says.
func openedAt(path string) (at time.Time, err error) {
	f, _, err := agentfile.OpenUntouched(path)
	if err != nil {
		return at, err
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, err := f.ReadAt(head, 0)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return millis(agentfile.Get(line, "created_at")), err
}

// runs reports whether a child of a process runs the command of an open call: below a shell in its folder, or as that shell's own program (2.1.0).
func (d *discovery) runs(p *process, s *session) bool {
	if s.turn.state != open || p.served || !p.At(s.cwd) {
		return false
	}
	for _, child := range p.Children {
		args, err := d.Table.Args(child.Identity)
		if err != nil {
			continue
		}
		line := strings.Join(args, " ")
		for _, c := range slices.Concat(s.calls, s.callsOfAgents()) {
			if c.command != "" && !child.Started.Before(c.at.Add(-kit.StartSlack)) && (line == c.command || len(args) == 3 && strings.HasSuffix(args[2], "' && "+c.command)) {
				return true
			}
		}
	}
	return false
}

func (s *session) callsOfAgents() (calls []call) {
	for _, a := range s.agents {
		calls = append(calls, a.calls...)
	}
	return calls
}

// since returns when something was last written in a session by a process.
func (s *session) since() time.Time {
	at := s.used
	for _, a := range s.agents {
		at = kit.Latest(at, a.used)
	}
	return at
}

// claims reports whether a session without a process may be that of p: it was written since p began. A terminal that began a new session did not open an old
// one unless its user chose it there.
func (d *discovery) claims(p *process, s *session) bool {
	begin := p.Started.Add(-kit.StartSlack)
	if s.owner != nil || p.served || !p.Uses(s.home) || !p.At(s.cwd) || s.since().Before(begin) || p.session != nil && !p.Hosts {
		return false
	}
	if s.isHeadless() {
		return p.start != plain && (p.SetBack || !s.at.Before(begin) && s.at.Before(begin.Add(window)))
	}
	return !p.Headless && (!s.at.Before(begin) || p.start != plain || p.SetBack || slices.ContainsFunc(d.typed(s), chooses))
}

// notLeft returns which of the sessions that only one process may have it has: the one that its user has not left; one that hosts has all.
func (d *discovery) notLeft(p *process, list []*session) []*session {
	if p.Hosts {
		return list
	}
	list = slices.DeleteFunc(list, d.hasLeft)
	if len(list) > 1 {
		return nil
	}
	return list
}

// titleOf returns the title of a process's terminal: Kimi Code gives it that of the session (2.1.0).
func (d *discovery) titleOf(p *process) string {
	if !p.asked {
		p.asked = true
		p.title = pane.Titles(d.Ctx, d.Table, "", []proc.Identity{p.Identity})[p.Identity].Text
	}
	return p.title
}

// mayContinue reports whether a process may have continued a session that it has not written yet.
func (d *discovery) mayContinue(p *process, s *session) bool {
	return (p.start == continues || p.start == names || p.start == maybe) && p.At(s.cwd) && p.Uses(s.home) && s.owner == nil && s.since().Before(p.Started)
}

// typed returns what was typed in the terminals of a session's folder, commands included, in its order; without a list nothing is known. 2.1.0 writes no times.
func (d *discovery) typed(s *session) []string {
	path := filepath.Join(s.home, "user-history", fmt.Sprintf("%x.jsonl", md5.Sum([]byte(s.cwd))))
	if list, known := d.prompts[path]; known {
		return list
	}
	data, _, err := agentfile.ReadSmall(path, 16<<20)
	d.Hidden = d.Report.Failed(path, err) || d.Hidden
	list := []string{}
	for line := range strings.Lines(string(data)) {
		list = append(list, strings.TrimSpace(kit.Short(agentfile.Get([]byte(line), "content"))))
	}
	d.prompts[path] = list
	return list
}

// leaves reports whether a command leaves a session for another one, and chooses whether that can be an old one.
func leaves(text string) bool { return text == "/new" || text == "/clear" || chooses(text) }

func chooses(text string) bool {
	return strings.HasPrefix(text, "/sessions") || strings.HasPrefix(text, "/resume")
}

// hasLeft reports whether a session was left for another one after its last prompt.
func (d *discovery) hasLeft(s *session) bool {
	typed := d.typed(s)
	for _, text := range slices.Backward(typed) {
		if text == s.LastPrompt {
			return false
		}
		if s.LastPrompt != "" && leaves(text) {
			return slices.Contains(typed, s.LastPrompt)
		}
	}
	return false
}

// assignResumed assigns the session that a process continues and has not written yet. Nothing but the length of its command line shows that it does.
func (d *discovery) assignResumed(p *process) {
	var old []*session
	for _, s := range d.sessions {
		if d.claims(p, s) {
			return
		}
		if d.mayContinue(p, s) {
			old = append(old, s)
		}
	}
	if p.session != nil || p.Hosts {
		return
	}
	slices.SortFunc(old, func(a, b *session) int { return a.last.Compare(b.last) })
	switch n := len(old); {
	case n == 0 || p.Named != "":
	case p.start == continues:
		d.assign(p, old[n-1], "it continues the last session of its folder")
	case p.start == names && n == 1:
		d.assign(p, old[0], "its command line names a session, and its folder has no other")
	default:
		p.doubt = true
		for _, s := range old {
			s.doubt = fmt.Sprintf("process %d may have continued it", p.PID)
		}
	}
}

// doubtAll notes which sessions a process without one may have.
func (d *discovery) doubtAll(p *process) {
	for _, s := range d.sessions {
		isLeft := s.owner == nil && p.Uses(s.home) && p.Precedes(s.since()) && p.MayHaveLeft(s.cwd)
		if p.session == nil && (isLeft || d.claims(p, s)) {
			p.doubt = true
			s.doubt = fmt.Sprintf("process %d may have it, and another session of its folder, or another process, as well", p.PID)
		}
	}
}
