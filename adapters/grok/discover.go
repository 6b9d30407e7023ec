package grok

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	ctx    context.Context
	query  adapters.Query
	now    time.Time
	answer *kit.Answer

	homes     kit.Roots
	processes []*process
	sessions  []*session
	journals  map[string]journal // by home, of those that had to be read
	hidden    bool               // something that a live process may have was not read
}

// session is the folder of a session. Its Chat is events.jsonl.
type session struct {
	kit.Chat
	id      string
	events  events
	updates updates
	summary summary
	owners  []*process // that have it, the oldest first
	unread  bool       // events.jsonl could not be read
	partly  bool       // updates.jsonl could not be read
	above   *session   // whose sub-agent it is
	verdict kit.Verdict
	spent   *kit.Account
}

// beside is a further file of a session's folder.
type beside struct {
	kit.Chat
	of *session
}

func (s *session) path(name string) string { return filepath.Join(filepath.Dir(s.Path), name) }

// owner returns the process that has the session; nil if none has.
func (s *session) owner() *process {
	if len(s.owners) == 0 {
		return nil
	}
	return s.owners[0]
}

// begin starts a question: it reads the processes, and finds the homes.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, ctx: ctx, query: q, now: a.Now(), answer: kit.NewAnswer(), journals: map[string]journal{}}
	d.homes = kit.Roots{Answer: d.answer, Store: "sessions"}
	d.takeCensus()
	var used []string
	for _, p := range d.processes {
		p.home, p.known = d.homes.OfProcess(p.home)
		d.hidden = d.hidden || d.homes.Unresponsive(p.home)
		if p.known {
			used = append(used, p.home)
		}
	}
	d.homes.Find(a.Base, homeOf(a.Env, a.Home), used, d.now)
	d.processes = slices.DeleteFunc(d.processes, func(p *process) bool {
		return p.known && !slices.Contains(d.homes.Paths, p.home) && !d.homes.Unresponsive(p.home)
	})
	d.homes.InUse = slices.ContainsFunc(d.processes, func(p *process) bool { return !p.files || p.log != "" || len(p.held) > 0 })
	return d
}

// list lists the sessions of all homes.
func (d *discovery) list() {
	for _, home := range d.homes.Paths {
		store := filepath.Join(home, "sessions")
		all := d.answer.Folders(d.ctx, store, func(ctx context.Context, folder string) { d.listFolder(ctx, home, filepath.Join(store, folder)) })
		d.hidden = d.hidden || !all
	}
}

// listFolder lists the sessions of one working folder.
func (d *discovery) listFolder(ctx context.Context, home, dir string) {
	entries, err := agentfile.Entries(ctx, dir)
	d.hidden = d.answer.Failed(dir, err) || d.hidden
	for _, e := range entries {
		if !kit.Is(e.Name()) || !agentfile.MayBeFolder(dir, e) {
			continue
		}
		chat, ok, hidden := d.answer.Stat(home, filepath.Join(dir, e.Name(), "events.jsonl"))
		d.hidden = d.hidden || hidden
		if ok {
			d.sessions = append(d.sessions, &session{Chat: chat, id: e.Name()})
		}
	}
}

// read reads the sessions that a process has and those that the query asks for. What is beside the events has prompts, tokens and names.
func (d *discovery) read() {
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return !d.wants(s) })
	kit.ReadAll(d.ctx, d.answer, d.events, d.query, d.sessions, func(s *session, read events) bool {
		d.answer.SkipAll(read.skipped)
		s.events = read
		return read.known > 0 || s.Info.Size() == 0
	}, func(s *session) { s.unread = true })
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return s.unread && s.owner() == nil })
	kit.ReadAll(d.ctx, d.answer, d.updates, d.query, d.besides("updates.jsonl"), func(f *beside, read updates) bool {
		d.answer.SkipAll(read.skipped)
		f.of.updates = read
		return true
	}, func(f *beside) { f.of.partly = true })
	kit.ReadAll(d.ctx, d.answer, d.summaries, d.query, d.besides("summary.json"), func(f *beside, read summary) bool {
		f.of.summary = read
		return true
	}, func(*beside) {})
	for _, s := range d.sessions {
		d.link(s)
	}
}

// link finds the session that started a sub-agent: the one whose records name it, or else one that its process has, too.
func (d *discovery) link(s *session) {
	for _, o := range d.sessions {
		isNamed := slices.Contains(o.updates.agents, s.id) && o.Home == s.Home
		if s.summary.isSub() && (isNamed || s.above == nil && s.owner() != nil && s.owner() == o.owner() && !o.summary.isSub()) {
			s.above = o
		}
	}
	for _, p := range s.owners {
		if !s.summary.isSub() {
			p.mains++
		}
	}
}

// besides returns the files with a name in the folders of the sessions.
func (d *discovery) besides(name string) (list []*beside) {
	for _, s := range d.sessions {
		if chat, ok, _ := d.answer.Stat(s.Home, s.path(name)); ok {
			list = append(list, &beside{chat, s})
		}
	}
	return list
}

// wants reports whether a session has to be read: a process has it, or the query asks for it.
func (d *discovery) wants(s *session) bool {
	isRecent := d.query.Since.IsZero() || !s.Info.ModTime().Before(d.query.Since) || d.mayBeLive(s)
	return s.owner() != nil || kit.Asked(d.query, s.id) && (isRecent || len(d.query.IDs) > 0)
}

// mayBeLive reports whether a process whose sessions can't be seen may have a session: it was written since the process began.
func (d *discovery) mayBeLive(s *session) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return !p.files && p.entry == "" && p.uses(s.Home) && !s.Info.ModTime().Before(p.Started.Add(-kit.StartSlack))
	})
}

// maxWatched is the largest number of folders that are watched for sessions that run.
const maxWatched = 30

// watchPaths returns the folders in which sessions appear, and those of running sessions.
func (d *discovery) watchPaths() []string {
	var watch []string
	for _, home := range d.homes.Paths {
		watch = kit.AppendNew(watch, filepath.Dir(home), home, filepath.Join(home, "sessions"))
	}
	for home := range d.journals {
		watch = kit.AppendNew(watch, filepath.Join(home, "logs"))
	}
	for _, s := range d.sessions {
		if s.owner() != nil && len(watch) < maxWatched {
			watch = kit.AppendNew(watch, filepath.Dir(s.Path), filepath.Dir(filepath.Dir(s.Path)))
		}
	}
	return watch
}
