package cline

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/skeleton"
	"rollcall/adapters/internal/sqlitero"
	"rollcall/bounded"
)

// discovery holds the state of one call of Discover.
type discovery struct {
	*Adapter
	*skeleton.Look
	processes []*process
	roots     []*root
	sessions  []*session
}

// session is what was read of one session.
type session struct {
	kit.Chat // its manifest, and then its conversation
	manifest
	root   *root
	folder string // of its files
	talk   conversation
	unread bool // its conversation could not be read

	above     *session // of a sub-agent: the session that spawned it
	owner     *process // that hosts it, or that resumed it
	doubt     string   // why its process can't be known
	terminals int      // with the hub as owner: the processes that can be its terminal
	spent     *kit.Account
	turn      turn
}

func (s *session) manifestFile() string {
	return filepath.Join(s.folder, filepath.Base(s.folder)+".json")
}

// conversationFile returns the file of a session's conversation.
func (s *session) conversationFile() string {
	return filepath.Join(s.folder, cmp.Or(s.agent, s.id)+".messages.json")
}

// begin starts a call: it reads the processes first, and finds the roots to look in.
func (a *Adapter) begin(ctx context.Context, q adapters.Query) *discovery {
	d := &discovery{Adapter: a, Look: skeleton.Begin(ctx, a.Base, q, "sessions")}
	for _, p := range finder.List(d.Look) {
		d.processes = append(d.processes, a.inspect(p))
	}
	d.Homes.InUse = len(d.processes) > 0
	d.findRoots()
	return d
}

// look reads the processes first and the files after them, once.
func (a *Adapter) look(ctx context.Context, q adapters.Query) (adapters.Roll, error) {
	d := a.begin(ctx, q)
	roll, err := d.Run(d.watched, d.list, d.match, d.readConversations, d.addSessions, d.addProcesses)
	if q.Once {
		a.databases.Forget()
	}
	return roll, err
}

// list finds the sessions, and reads their manifests.
func (d *discovery) list() {
	var listed []*session
	for _, r := range d.roots {
		all := d.Report.Folders(d.Ctx, r.sessions, func(_ context.Context, id string) {
			s := &session{root: r, folder: filepath.Join(r.sessions, id)}
			chat, ok, hidden := d.Report.Stat(r.data, s.manifestFile())
			if ok && chat.Info.Size() > 4<<20 { // no manifest is so large
				ok, hidden = false, d.Report.Failed(chat.Path, agentfile.ErrTooLarge)
			}
			s.Chat, r.hidden = chat, r.hidden || hidden
			if ok {
				listed = append(listed, s)
			} else if !hidden && kit.MayExist(s.folder) {
				d.Report.Skip("folder of a session without a manifest", 1)
			}
		})
		r.hidden = r.hidden || !all
	}
	skeleton.Read(d.Look, d.transcripts, listed, func(s *session, read facts) bool {
		s.manifest, s.modified = read.manifest, s.Info.ModTime()
		if s.newer {
			d.Report.Skip("manifest in a form that is newer than Rollcall supports", 1)
		}
		if s.id == filepath.Base(s.folder) {
			d.sessions = append(d.sessions, s)
		} else {
			d.Report.Skip("manifest of another session than its folder", 1)
		}
		return true
	}, func(s *session) { s.root.hidden = true })
	for _, r := range d.roots {
		d.addAgents(r)
	}
}

// readConversations reads the conversations of the sessions that the query asks for, and drops the others.
func (d *discovery) readConversations() {
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool {
		isRecent := s.owner != nil || s.doubt != "" || d.Homes.NoTable || !kit.Latest(s.modified, s.ended).Before(d.Query.Since)
		return !kit.Asked(d.Query, s.id) || len(d.Query.IDs) == 0 && !isRecent
	})
	var stored []*session
	for _, s := range d.sessions {
		chat, ok, hidden := d.Report.Stat(s.root.data, s.conversationFile())
		s.Chat, s.unread = chat, hidden
		if ok {
			stored = append(stored, s)
		}
	}
	skeleton.Read(d.Look, d.transcripts, stored, func(s *session, read facts) bool {
		s.talk = read.talk
		return true
	}, func(s *session) { s.unread = true })
	for _, s := range d.sessions {
		d.readTurn(s)
	}
}

// addSessions adds the sessions that the query asks for.
func (d *discovery) addSessions() {
	if d.Query.Usage {
		d.settle()
	}
	for _, s := range d.sessions {
		d.Add(d.row(s))
	}
}

// row returns a session for the answer.
func (d *discovery) row(s *session) adapters.Session {
	v := d.verdict(s)
	t := &s.talk
	out := adapters.Session{
		ID: s.id, Agent: Name, Parent: s.parent, Model: cmp.Or(t.model, s.model), Version: s.version,
		Files: []string{s.conversationFile(), s.manifestFile()},
		State: v,
		Place: adapters.Place{CWD: s.cwd, Branch: s.branch, Home: s.root.data},
		Topic: adapters.Topic{Title: s.title, FirstPrompt: cmp.Or(t.firstPrompt, s.prompt), LastPrompt: cmp.Or(t.lastPrompt, s.prompt)},
		Spent: adapters.Spent{CostUSD: s.cost, Context: adapters.Context{Used: t.context}},
		Times: adapters.Times{StartedAt: s.started, TurnStartedAt: cmp.Or(t.prompted, s.started),
			LastActivityAt: kit.Latest(s.started, s.ended, t.updated, t.last.at)},
	}
	out.Doing, out.DoingSince = t.doing()
	if now := &s.turn; now.prompt != "" {
		out.LastPrompt, out.TurnStartedAt = now.prompt, now.prompted
	}
	if now := &s.turn; v.Status == adapters.Waiting && !now.asked.IsZero() {
		out.Doing, out.DoingSince = now.question(), now.asked
	}
	if used, _ := s.used(); !s.unread {
		out.Tokens = &used
	}
	out.Usage = s.spent.Steps()
	if s.owner != nil && v.Status != adapters.Stopped {
		out.Owner = adapters.Owner{Process: s.owner.Identity, Shared: s.owner.hub || s.parent != "", Unattended: s.owner.hub && s.terminals == 0}
	}
	return out
}

// used returns what a session used: what its conversation holds or, if that is more, what Cline states. During a turn it states what was used before.
func (s *session) used() (t adapters.Tokens, stated bool) {
	t = s.talk.ledger.Tokens()
	if s.stated != nil {
		rest := s.stated.Minus(t)
		stated = min(rest.Input, rest.Output, rest.CacheRead, rest.CacheWrite) >= 0
		if stated {
			t = *s.stated
		}
	}
	return t, stated
}

// settle finds which of the answers in the conversations count for which session.
func (d *discovery) settle() {
	var accounts []*kit.Account
	for _, s := range d.sessions {
		if s.unread {
			continue
		}
		s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.talk.ledger}, Last: cmp.Or(s.talk.last.at, s.started), Model: s.model, CWD: s.cwd, Branch: s.branch}
		if used, stated := s.used(); stated {
			s.spent.Known = &kit.Known{Tokens: used, CostUSD: s.cost}
		}
		accounts = append(accounts, s.spent)
	}
	d.Report.Settle(accounts)
}

// addProcesses adds the rows of the terminals that have no session yet.
func (d *discovery) addProcesses() {
	for _, p := range d.processes {
		if !p.hub && !p.hosts && !p.shows {
			d.AddProcess(p.Row(d.Look, p.root == nil || p.root.hidden, false, p.doubt))
		}
	}
}

// watched returns the folders in which something changes when a session begins or a status changes.
func (d *discovery) watched() (paths []string) {
	for _, r := range d.roots {
		paths = append(paths, r.sessions, r.databases, r.data)
	}
	for _, s := range d.sessions {
		if s.owner != nil && bounded.Answers(s.folder) {
			paths = append(paths, s.folder)
		}
	}
	return paths
}

// addAgents adds the sub-agents of a root's sessions, which only the database has.
func (d *discovery) addAgents(r *root) {
	path := filepath.Join(r.databases, "sessions.db")
	agents, err := d.databases.Read(d.Ctx, path, readAgents)
	if err != nil { // there is no problem if it does not exist
		d.Report.Problem(sqlitero.Problem(d.Ctx, path, err, "Cline is writing it: try again", "sub-agents are missing; Cline makes it again from its other files"))
		return
	}
	byID := map[string]*session{}
	for _, s := range d.sessions {
		if s.root == r {
			byID[s.id] = s
		}
	}
	for _, m := range agents {
		if up := byID[m.parent]; up != nil {
			byID[m.id] = &session{manifest: m, root: r, folder: up.folder, above: up}
			d.sessions = append(d.sessions, byID[m.id])
		}
	}
}

// agentRows gives the sub-agents in the form of manifests, the oldest first.
const agentRows = `SELECT json_object('session_id', session_id, 'parent', parent_session_id, 'agent', agent_id, 'status', status, 'started_at', started_at,
	'ended_at', ended_at, 'updated_at', updated_at, 'model', model, 'cwd', cwd, 'prompt', substr(prompt, 1, 4096),
	'metadata', CASE WHEN length(metadata_json) < 1000000 AND json_valid(metadata_json) THEN json(metadata_json) END) FROM sessions
	WHERE is_subagent = 1 AND parent_session_id IS NOT NULL AND agent_id IS NOT NULL ORDER BY started_at`

// readAgents returns the sub-agents in a database.
func readAgents(ctx context.Context, db *sqlitero.DB) (agents []manifest, err error) {
	if columns, err := db.Columns(ctx, "sessions"); err != nil || !columns["is_subagent"] {
		return nil, errors.Join(err, sqlitero.ErrTables)
	}
	err = db.Each(ctx, agentRows, nil, func(scan func(...any) error) error {
		var row []byte
		if err := scan(&row); err != nil {
			return err
		}
		m, err := parseManifest(row)
		m.parent = kit.Short(agentfile.Get(row, "parent"))
		m.agent = kit.Short(agentfile.Get(row, "agent"))
		m.modified = agentfile.Time(agentfile.Get(row, "updated_at"))
		if err == nil && strings.HasPrefix(m.agent, "agent_") && !strings.ContainsAny(m.agent, `/\`) && len(m.agent) < 200 { // it can be the name of a file
			agents = append(agents, m)
		}
		return nil
	})
	return agents, err
}
