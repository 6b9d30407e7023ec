package claudecode

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"rollcall/adapters/internal/uuid"
	"rollcall/proc"
)

// ownersByTime finds the transcripts of processes without a registry entry, which versions up
// to 2.0.77 do not write: a transcript belongs to a process in its folder that was running when
// it was written last. If several processes qualify, the session has several owners.
func (d *discovery) ownersByTime(unregistered []claude) {
	if d.table.err != nil {
		d.blindWithoutTable()
		return
	}
	inFolder := make(map[string][]claude)
	for _, p := range unregistered {
		if d.table.Alive(p.Identity) {
			inFolder[p.cwd] = append(inFolder[p.cwd], p)
		}
	}
	for _, cwd := range slices.Sorted(maps.Keys(inFolder)) { // sorted for a stable result: two folders can share a name of transcripts
		d.assignOwners(inFolder[cwd], d.candidates(inFolder[cwd]))
	}
}

// blindWithoutTable marks the sessions that may be running: the recent ones of versions
// whose end can't be seen in the registry.
func (d *discovery) blindWithoutTable() {
	for _, s := range d.sessions {
		if s.file == nil || d.now.Sub(s.file.info.ModTime()) > unseenLimit {
			continue
		}
		if d.load(s); !hasRegistry(s.facts.version) {
			s.unknownBecause = "the process table could not be read"
		}
	}
}

// candidates returns the transcripts that can belong to one of the given processes,
// which share a folder. The newest comes first.
func (d *discovery) candidates(here []claude) []*session {
	slug := projectName(here[0].cwd)
	var found []*session
	for _, s := range d.sessions {
		if s.file == nil || len(s.live) > 0 || s.movedTo != "" || !slices.ContainsFunc(here, func(p claude) bool { return d.canWrite(p, s) }) {
			continue
		}
		d.load(s)
		if s.err == nil && (s.facts.cwd == here[0].cwd || s.facts.cwd == "" && filepath.Base(s.file.dir) == slug) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *session) int { return b.file.info.ModTime().Compare(a.file.info.ModTime()) })
	return found
}

// canWrite reports whether p can be the process that wrote to s last.
func (d *discovery) canWrite(p claude, s *session) bool {
	if s.file.info.ModTime().Before(p.Started.Add(minStartTime)) && !d.wasEntered(p, s) {
		return false
	}
	if p.root != "" && !within(s.file.path, p.root) {
		return false
	}
	if d.unreadableEntries[p.PID] != "" {
		return true
	}
	d.load(s)
	switch f := &s.facts; {
	case hasRegistry(f.version):
		return d.lostEntry(p, s)
	case f.printed && !p.oneShot && !f.started.Before(p.Started):
		return false // another run, with -p
	}
	return !d.leftAt(s).After(p.Started) // otherwise p would have ended
}

// minStartTime is the shortest time from the start of Claude Code to its first record:
// 2.0.50 took 0.6 s. An earlier record is another process's, unless the registry said
// that the process continued that session.
const minStartTime = 200 * time.Millisecond

// entryTime is the time after which a started process has its registry entry, unless it
// shows a start dialog. 2.1.100 took 2 s on a busy machine.
const entryTime = 5 * time.Second

// lostEntry reports whether s, of a version with a registry, can be the session of a process
// whose entry was removed while it runs. It decides by the entry's earlier content; else by an
// id in the process's arguments, unless a /clear followed; else by the folder. A session whose
// process left an entry or recorded its end is not a candidate. In versions that don't record
// their end, a session that has just begun is not a candidate either.
func (d *discovery) lostEntry(p claude, s *session) bool {
	f := &s.facts
	switch named := p.session(); {
	case s.endedEntry != nil || !f.turn.closedBy.Before(p.Started):
		return false
	case d.wasEntered(p, s), named == s.id:
		return true
	case !f.turn.closedBy.IsZero() || !recordsItsEnd(f.version) && d.now.Sub(p.Started) < entryTime:
		return false
	default:
		return named == "" || !f.cleared.IsZero()
	}
}

// wasEntered reports whether p's registry entry named s when it was read last.
func (d *discovery) wasEntered(p claude, s *session) bool {
	before, known := d.adapter.lastEntry(p.Identity)
	return known && before.id == s.id
}

// lastEntry returns a process's registry entry as it was read last.
func (a *Adapter) lastEntry(p proc.Identity) (e entry, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, known = a.entries[p]
	return e, known
}

// session returns the session that the process's arguments name, to begin or to
// continue it; "" if none.
func (p *claude) session() string {
	for i, arg := range p.args {
		flag, id, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(p.args) {
			id = p.args[i+1]
		}
		switch flag {
		case "--session-id", "--resume", "-r":
			if uuid.Is(id) && !slices.Contains(p.args, "--fork-session") {
				return id
			}
		}
	}
	return ""
}

func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// assignOwners assigns the transcripts to the processes.
func (d *discovery) assignOwners(here []claude, found []*session) {
	if len(found) == 0 {
		return
	}
	live := found
	unsure := len(here) == 1 && len(found) > 1
	if f := &found[0].facts; unsure && (!f.cleared.IsZero() || f.planned != "") && !f.started.Before(here[0].Started) {
		live, unsure = found[:1], false // /clear begins a new one in the same process
	}
	if typed := d.typedInto(here, found); unsure && typed != nil {
		live, unsure = []*session{typed}, false
	}
	for _, s := range live {
		s.owners = slices.DeleteFunc(slices.Clone(here), func(p claude) bool { return !d.canWrite(p, s) })
		s.candidates, s.ambiguous = len(found), unsure
		for _, p := range s.owners {
			if why := d.unreadableEntries[p.PID]; why != "" {
				s.unknownBecause = why
			}
		}
	}
	dropSharedOwners(here, live)
}

// typedInto returns the only transcript that the history has named since the only
// process here began, if a user can type into that process. It returns nil if there are
// several transcripts, or none.
func (d *discovery) typedInto(here []claude, found []*session) (typed *session) {
	if len(here) != 1 || here[0].oneShot || here[0].root == "" {
		return nil
	}
	h := d.history(here[0].root, here[0].Started)
	for _, s := range found {
		if h.last[s.id].at.Before(here[0].Started) {
			continue
		}
		if typed != nil {
			return nil
		}
		typed = s
	}
	return typed
}

// dropSharedOwners removes owners that other sessions need. A process that started after a
// session's first record does not own the session if another process started before that
// record: it is less likely that the later process resumed the session. The only owner of a
// session owns no other session.
func dropSharedOwners(here []claude, live []*session) {
	for _, s := range live {
		begun := func(p claude) bool { return !p.Started.After(s.facts.started.Add(clockSlack)) }
		if slices.ContainsFunc(s.owners, begun) {
			s.owners = slices.DeleteFunc(s.owners, func(p claude) bool { return !begun(p) })
		}
	}
	if len(live) > len(here) {
		return
	}
	for range live {
		for _, s := range live {
			if len(s.owners) != 1 {
				continue
			}
			taken := s.owners[0].Identity
			for _, other := range live {
				if other != s && len(other.owners) > 1 {
					other.owners = slices.DeleteFunc(other.owners, func(p claude) bool { return p.Identity == taken })
				}
			}
		}
	}
}

// projectName returns the name of the folder in which Claude Code keeps the transcripts
// of a working directory, and "" for a path that is too long. The name can't be
// decoded: many paths have the same one.
func projectName(cwd string) string {
	const limit = 200
	units := utf16.Encode([]rune(cwd))
	name := make([]byte, len(units))
	for i, u := range units {
		name[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			name[i] = byte(u)
		}
	}
	if len(name) > limit { // a hash follows, which isn't known
		return ""
	}
	return string(name)
}

// unseenLimit is the time after its last recorded activity for which a session whose process
// can't be seen may still be running.
const unseenLimit = 24 * time.Hour

// pids returns the pids of processes, for a sentence: "1, 2 or 3".
func pids(list []claude) string {
	var all []string
	for _, p := range list {
		all = append(all, strconv.Itoa(p.PID))
	}
	last := len(all) - 1
	return strings.TrimPrefix(strings.Join(all[:last], ", ")+" or "+all[last], " or ")
}
