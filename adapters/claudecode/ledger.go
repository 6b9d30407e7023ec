package claudecode

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// sumAll adds what the transcripts state: those that are known, or, when asked for, all.
func (d *discovery) sumAll() {
	ctx, cancel := kit.WithMargin(d.ctx)
	defer cancel()
	list := slices.DeleteFunc(slices.Clone(d.wanted), func(s *session) bool { return s.file == nil || !s.read || s.err != nil })
	agentfile.Parallel(len(list), func(i int) {
		if err := d.sum(ctx, list[i]); err != nil {
			d.answer.Skip("token totals not finished in time", 1)
			d.answer.LeaveOut(kit.NotInTime, 1)
		}
	})
	if d.query.Usage {
		d.settle(ctx, list)
	}
}

// sum reads a transcript to its end, if the question is about totals or nothing is left to read.
func (d *discovery) sum(ctx context.Context, s *session) error {
	if s.sums != nil || d.query.Once && !d.query.Totals {
		return nil
	}
	t := d.transcript(s.file.path)
	if err := t.Acquire(ctx); err != nil {
		return err
	}
	defer t.Release()
	switch {
	case d.query.Once && d.adapter.saved == nil:
		t.State = s.upTo.state
		t.rest = s.upTo.rest
	case d.query.Once:
		if err := t.read(ctx, s.file.info); err != nil {
			return err
		}
	}
	if t.Stamp.IsZero() || !d.query.Totals && t.sums.next < t.Next {
		return nil
	}
	sums, err := t.exact(ctx, d.query.Usage)
	if err == nil {
		d.keep(s, sums)
	}
	return err
}

// settle finds which of the answers in the transcripts of sessions and of their sub-agents count for which session.
func (d *discovery) settle(ctx context.Context, list []*session) {
	folders := map[string]*folder{}
	in := func(dir string) *folder {
		if folders[dir] == nil {
			folders[dir] = &folder{discovery: d, dir: dir, sessions: map[string]*session{}}
		}
		return folders[dir]
	}
	if len(d.query.IDs) == 0 {
		for _, dir := range d.dirs {
			in(dir)
		}
	}
	var accounts []*kit.Account
	further := d.furtherOf(ctx, list)
	for _, s := range slices.Concat(list, further) {
		if s.sums == nil || s.sums.unsure {
			continue
		}
		in(s.file.dir).sessions[s.id] = s
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.sums.ledger.Ledger}, Last: s.facts.active, Model: s.facts.model, CWD: s.facts.cwd, Branch: s.facts.branch}
		accounts = append(accounts, s.spent)
	}
	dirs := slices.Collect(maps.Values(folders))
	agentfile.Parallel(len(dirs), func(i int) { dirs[i].list() })
	var agents []*agentTranscript
	for _, f := range dirs {
		agents = append(agents, f.agents...)
	}
	agentfile.Parallel(len(agents), func(i int) { agents[i].sums = d.sumsOfAgent(ctx, agents[i].path) })
	for _, f := range dirs {
		f.addAgents()
	}
	d.answer.Settle(accounts)
	for _, o := range further {
		if s := o.of; s.spent != nil && o.spent != nil {
			home := rootOf(o.file.path)
			if home == rootOf(s.file.path) {
				home = ""
			}
			s.spent.Usage = kit.JoinUsage(s.spent.Usage, o.spent.Usage, home)
		}
	}
}

// furtherOf returns the further transcripts of sessions, each as a session.
func (d *discovery) furtherOf(ctx context.Context, list []*session) (further []*session) {
	for _, s := range list {
		for _, f := range d.twins[s.id] {
			if f.path != s.file.path {
				further = append(further, &session{id: s.id, file: f, of: s})
			}
		}
	}
	agentfile.Parallel(len(further), func(i int) {
		o := further[i]
		o.sums = d.sumsOfAgent(ctx, o.file.path)
		if o.sums == nil {
			d.answer.LeaveOut(kit.NotReadable, 1)
			return
		}
		o.facts = facts{active: o.sums.answered, model: o.sums.at.model, cwd: o.sums.at.cwd, branch: o.sums.at.branch}
	})
	return further
}

// folder is a project folder.
type folder struct {
	*discovery
	dir      string
	sessions map[string]*session
	agents   []*agentTranscript
}

// agentTranscript is the transcript of a sub-agent.
type agentTranscript struct {
	path, session string // the session is empty where only the transcript names it
	sums          *totals
}

// list lists the transcripts of sub-agents: those in the folders of their sessions (from 2.1 on), and those beside their sessions (2.0).
func (f *folder) list() {
	names, err := readNames(f.ctx, f.dir)
	f.answer.Problem(err)
	all := len(f.query.IDs) == 0
	for _, name := range names {
		switch {
		case isAgentTranscript(name):
			f.agents = append(f.agents, &agentTranscript{path: filepath.Join(f.dir, name)})
		case f.sessions[name] != nil, all && kit.Is(name) && !slices.Contains(names, name+".jsonl"):
			f.listAgents(name, filepath.Join(f.dir, name, "subagents"), 0)
		}
	}
}

// maxDepth is how deep the transcripts of sub-agents are nested: those of a workflow have a folder of their own.
const maxDepth = 3

func (f *folder) listAgents(session, dir string, depth int) {
	names, err := readNames(f.ctx, dir)
	f.answer.Problem(err)
	for _, name := range names {
		switch path := filepath.Join(dir, name); {
		case isAgentTranscript(name):
			f.agents = append(f.agents, &agentTranscript{path: path, session: session})
		case !strings.Contains(name, ".") && depth < maxDepth:
			f.listAgents(session, path, depth+1)
		}
	}
}

func isAgentTranscript(name string) bool {
	return strings.HasPrefix(name, "agent-") && strings.HasSuffix(name, ".jsonl")
}

// sumsOfAgent returns the sums of a transcript that is no session; nil if it could not be read.
func (d *discovery) sumsOfAgent(ctx context.Context, path string) *totals {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	t := d.transcript(path)
	if t.Acquire(ctx) != nil {
		return nil
	}
	defer t.Release()
	if t.read(ctx, info) != nil {
		return nil
	}
	sums, err := t.exact(ctx, d.query.Usage)
	if err != nil || sums.unsure {
		return nil
	}
	return &sums
}

// addAgents adds what the sub-agents used to the accounts of their sessions.
func (f *folder) addAgents() {
	for _, a := range f.agents {
		if a.sums == nil {
			f.answer.LeaveOut(kit.NotReadable, 1)
			continue
		}
		a.session = cmp.Or(a.session, a.sums.session)
		if s := f.sessions[a.session]; s != nil {
			s.spent.Agents = append(s.spent.Agents, &a.sums.ledger.Ledger)
		} else if a.session != "" && !a.sums.answered.Before(f.query.Since) && !f.exists(a.session) {
			f.answer.LeaveOutAll(kit.NoSession, &a.sums.ledger.Ledger)
		}
	}
}

// exists reports whether a session has a transcript in the folder, which the question may leave out.
func (f *folder) exists(session string) bool {
	_, err := os.Lstat(filepath.Join(f.dir, session+".jsonl"))
	return err == nil
}
