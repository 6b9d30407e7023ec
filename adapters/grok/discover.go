package grok

import (
	"context"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	*skeleton.Look
	processes []*process
	sessions  []*session
	journals  map[string]journal // by home, of those that had to be read
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
	verdict adapters.State
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
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "sessions"), journals: map[string]journal{}}
	for _, p := range finder.Find(d.Look) {
		d.Hidden = d.Hidden || d.Homes.Unresponsive(p.Home)
		d.readOpenFiles(p)
	}
	d.Homes.InUse = slices.ContainsFunc(d.processes, func(p *process) bool { return !p.files || p.log != "" || len(p.held) > 0 })
	return d
}

// list lists the sessions of all homes.
func (d *discovery) list() { d.Stores(d.listFolder) }

// listFolder lists the sessions of one working folder.
func (d *discovery) listFolder(ctx context.Context, home, dir string) {
	entries, err := agentfile.Entries(ctx, dir)
	d.Hidden = d.Report.Failed(dir, err) || d.Hidden
	for _, e := range entries {
		if !kit.Is(e.Name()) || !agentfile.MayBeFolder(dir, e) {
			continue
		}
		chat, ok, hidden := d.Report.Stat(home, filepath.Join(dir, e.Name(), "events.jsonl"))
		d.Hidden = d.Hidden || hidden
		if ok {
			d.sessions = append(d.sessions, &session{Chat: chat, id: e.Name()})
		}
	}
}

// read reads the sessions that a process has and those that the query asks for. What is beside the events has prompts, tokens and names.
func (d *discovery) read() {
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return !d.wants(s) })
	skeleton.Read(d.Look, d.events, d.sessions, func(s *session, read events) bool {
		s.events = read
		return read.known > 0 || s.Info.Size() == 0
	}, func(s *session) { s.unread = true })
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return s.unread && s.owner() == nil })
	skeleton.Read(d.Look, d.updates, d.besides("updates.jsonl"), func(f *beside, read updates) bool {
		f.of.updates = read
		return true
	}, func(f *beside) { f.of.partly = true })
	skeleton.Read(d.Look, d.summaries, d.besides("summary.json"), func(f *beside, read summary) bool {
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
		if chat, ok, _ := d.Report.Stat(s.Home, s.path(name)); ok {
			list = append(list, &beside{chat, s})
		}
	}
	return list
}

// wants reports whether a session has to be read: a process has it, or the query asks for it.
func (d *discovery) wants(s *session) bool {
	isRecent := d.IsRecent(s.Info.ModTime()) || d.mayBeLive(s)
	return s.owner() != nil || kit.Asked(d.Query, s.id) && (isRecent || len(d.Query.IDs) > 0)
}

// mayBeLive reports whether a process whose sessions can't be seen may have a session: it was written since the process began.
func (d *discovery) mayBeLive(s *session) bool {
	return slices.ContainsFunc(d.processes, func(p *process) bool {
		return !p.files && p.entry == "" && p.Uses(s.Home) && p.Precedes(s.Info.ModTime())
	})
}

// maxWatched is the largest number of folders that are watched for sessions that run.
const maxWatched = 30

// watchPaths returns the folders in which sessions appear, and those of running sessions.
func (d *discovery) watchPaths() []string {
	watch := d.Watched()
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
