package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// Versions before 2.1.151 do not record whether they work or wait: those up to 2.0.77, and up to 2.1.83 inside of another program,
// have no registry entry at all, later ones an entry without a status that can be relied on. Inside of another program (an SDK, an editor over ACP) an
// entry has no status in 2.1.128 and 2.1.185, and has one in 2.1.318 and 2.1.332. For such a process the only facts are its folder
// and its start. If exactly one session of the folder was written since then, and by no other process, it is the session of the
// process, and unknown.

var (
	floor       = kit.Floor{Title: "Claude Code", Version: "2.1.151"}                           // the registry shows what a session waits for
	hostedFloor = kit.Floor{Title: "Claude Code inside of another program", Version: "2.1.318"} // its entry has a status
)

// firstClosing is the first version of which an orderly end is the last record (cost-state), at the latest; it is not in 2.1.175.
const firstClosing = "2.1.270"

// hasStatus reports whether the entry shows what its process does.
func (e *entry) hasStatus() bool { return e.status != "" && kit.AtLeast(e.version, floor.Version) }

// folderProcess is a process whose session is found by its folder, because no registry entry shows the session's status.
type folderProcess struct {
	claude
	version  string     // empty if not known
	entry    string     // name of its registry entry; empty: none that could be read
	recorded string     // entrypoint in its registry entry
	session  string     // that its registry entry names
	why      string     // its registry entry could not be read
	late     bool       // there was no time to read what shows its session
	found    []*session // that can be its own
	earlier  bool       // they were written before its start, which is later than it was if the clock was set since
}

// addByFolder adds a process with a registry entry that does not show a status. why is set if the entry could not be read, because of err.
func (d *discovery) addByFolder(p proc.Process, e *entry, why string, err error) {
	d.claimed[p.PID] = true
	c := claude{Process: p, cwd: e.cwd, root: e.root()}
	if i := slices.IndexFunc(d.table.claudes, func(c claude) bool { return c.Identity == p.Identity }); i >= 0 {
		c = d.table.claudes[i]
	}
	c.cwd = cmp.Or(e.cwd, c.cwd)
	if c.cwd == "" {
		c.cwd, _ = d.table.CWD(p.Identity)
	}
	c.root = e.root()
	f := &folderProcess{claude: c, version: e.version, session: e.id, why: why, late: adapters.IsOutOfTime(err), recorded: e.entrypoint}
	if e.id != "" {
		f.entry = filepath.Base(e.path)
	}
	d.byFolder = append(d.byFolder, f)
}

// assignByFolder finds the sessions of processes whose registry entry does not show a status, or is missing.
func (d *discovery) assignByFolder(roots []string) {
	for _, p := range d.table.claudes {
		if !d.claimed[p.PID] && p.excludedAs == "" && p.cwd != "" && d.table.Alive(p.Identity) {
			d.byFolder = append(d.byFolder, &folderProcess{claude: p})
		}
	}
	ctx, cancel := kit.Part(d.ctx, 4)
	defer cancel()
	claims := make(map[*session]int)
	for _, p := range d.byFolder {
		d.candidates(ctx, p, roots, p.Started)
		p.earlier = len(p.found) == 0 && p.mate != ""
		if p.earlier { // the transcript names the teammate that its command line names
			d.candidates(ctx, p, roots, p.Started.Add(-24*time.Hour))
		}
		for _, s := range p.found {
			claims[s]++
		}
	}
	for _, p := range d.byFolder {
		if len(p.found) == 1 && claims[p.found[0]] == 1 && !p.earlier {
			p.found[0].owner = p
			continue
		}
		for _, s := range p.found {
			s.maybe = append(s.maybe, p)
		}
	}
}

// candidates adds the sessions that were written since a time and can be that of p.
func (d *discovery) candidates(ctx context.Context, p *folderProcess, roots []string, since time.Time) {
	for _, root := range roots {
		if p.root == "" || p.root == root {
			d.candidatesBelow(ctx, p, root, since)
		}
	}
}

func (d *discovery) candidatesBelow(ctx context.Context, p *folderProcess, root string, since time.Time) {
	add := func(s *session) {
		if d.load(ctx, s); p.canBe(s) && !slices.Contains(p.found, s) {
			p.found = append(p.found, s)
		}
	}
	dirs := projectsOf(ctx, root, p.cwd)
	if p.isNamed() {
		dirs = nil
	}
	for _, dir := range dirs {
		l := d.adapter.listProject(ctx, ctx, dir, allSessions, nil)
		d.answer.Problem(l.err)
		if l.late > 0 || adapters.IsOutOfTime(l.err) {
			p.why = cmp.Or(p.why, "the transcripts of its folder were not examined in time")
			p.late = true
		}
		for i := range l.files {
			if f := &l.files[i]; !f.info.ModTime().Before(since) {
				d.session(f.id).setFile(f)
				add(d.sessions[f.id])
			}
		}
	}
	if s := d.sessions[p.session]; s != nil && s.file != nil {
		add(s)
	}
}

// doubtLate marks as doubtful the sessions that a process may have of which there was no time to read which one it has: in whatever folder, since a session
// can be resumed in another one than its own.
func (d *discovery) doubtLate() {
	for _, p := range d.byFolder {
		if !p.late {
			continue
		}
		for _, s := range d.wanted {
			if s.file == nil || s.maybeLive() || adapters.IsOutOfTime(s.err) || s.file.info.ModTime().Before(p.Started) || !p.canBe(s) {
				continue
			}
			if root := rootOf(s.file.path); p.root == "" || root == "" || root == p.root {
				s.unknownBecause = fmt.Sprintf("pid %d may run it: %s", p.PID, p.why)
			}
		}
	}
}

// canBe reports whether s, which was read, can be the session of p, which runs in its folder.
func (p *folderProcess) canBe(s *session) bool {
	if len(s.live) > 0 || s.foreignEntry != nil || s.endedEntry != nil {
		return false
	}
	f := &s.facts
	if f.team != p.team || f.mate != p.mate {
		return false
	}
	// The last record of another process, which ended.
	return f.turn.closedBy.IsZero() || f.turn.closedBy.Sub(p.Started).Abs() <= startSlack
}

// decideByFolder returns the state of a session that belongs to a process by its folder: idle if the end of its turn is recorded.
func (d *discovery) decideByFolder(s *session) adapters.State {
	p, entry := s.owner, "no registry entry"
	if p.entry != "" {
		entry = "registry " + p.entry + " has no status"
	}
	why := cmp.Or(p.why, p.belowFloor(s.facts.version))
	said := fmt.Sprintf("%s; pid %d by its folder and start; %s", cmp.Or(why, entry), p.PID, d.lastRecord(s))
	if s.err == nil && p.why == "" && s.facts.turn.state.over() {
		return kit.Idle(s.facts.turn.outcome(), said)
	}
	return kit.Unknown("it works, or may wait for you: " + said)
}

// belowFloor returns why the status of the process is not known if it is of an older version than is supported, and else "". version is that of
// the session's records.
func (p *folderProcess) belowFloor(version string) string {
	version = cmp.Or(p.version, version)
	least := floor
	if p.entry != "" && cmp.Or(p.recorded, p.entrypoint) != "cli" {
		least = hostedFloor
	}
	if least.IsOlder(version) {
		return least.Reason(version)
	}
	return ""
}

// isNamed reports whether a registry entry names the session of the process for certain. Entries before 2.1.151 can have the id of an earlier session.
func (p *folderProcess) isNamed() bool {
	return p.session != "" && kit.AtLeast(p.version, floor.Version)
}

// decideMaybe returns the state of a session that can belong to several processes, or to a process that can have other sessions.
func (d *discovery) decideMaybe(s *session) adapters.State {
	var pids []string
	for _, p := range s.maybe {
		pids = append(pids, strconv.Itoa(p.PID))
	}
	why := "no registry entry"
	if s.maybe[0].entry != "" {
		why = "registry " + s.maybe[0].entry + " has no status"
	}
	if s.maybe[0].earlier {
		why += ", and its start is after the last record: the clock was set since, or it has begun no session yet"
	}
	why = cmp.Or(s.maybe[0].belowFloor(s.facts.version), why)
	return kit.Unknown(fmt.Sprintf("pid %s in its folder may run it: %s; %s", strings.Join(pids, " or "), why, d.lastRecord(s)))
}

// sessionless returns a row for each process that no session of the answer runs in for certain: a new version writes its registry
// entry only after its trust dialog, and an old version writes a transcript only at the first prompt. A process whose files
// can't be seen from here gets no row: it may have a session.
func (d *discovery) sessionless() []adapters.Session {
	var rows []adapters.Session
	for _, p := range d.byFolder {
		hidden := p.home == "" || len(d.table.innerPIDs(p.Identity)) > 0
		if len(p.found) == 1 && p.found[0].owner == p || p.session == "" && p.why == "" && hidden {
			continue
		}
		row := adapters.ProcessSession(Name, p.Process, p.cwd)
		row.Parent = p.lead
		setEntrypoint(&row, cmp.Or(p.recorded, p.entrypoint))
		switch {
		case p.unresponsive:
			row = adapters.UnresponsiveProcess(Name, p.Process, p.cwd, p.home)
		case p.why != "":
			row.Status = adapters.Unknown
			row.Evidence = fmt.Sprintf("process %d: open; %s", p.PID, p.why)
		case len(p.found) > 0:
			row.Status = adapters.Unknown
			row.Evidence = fmt.Sprintf("process %d: open; no registry entry shows which of %d sessions of its folder it has", p.PID, len(p.found))
		case p.oneShot:
			row.Status = adapters.Working
			row.Evidence = fmt.Sprintf("process %d: runs with -p, no session yet", p.PID)
		case !p.hosted && p.version == "":
			row.Evidence += "; it may be at a question of its own (trust this folder?)"
		}
		if len(d.query.IDs) == 0 || slices.Contains(d.query.IDs, row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}

// root returns the configuration folder that the entry is in.
func (e *entry) root() string { return filepath.Dir(filepath.Dir(e.path)) }
