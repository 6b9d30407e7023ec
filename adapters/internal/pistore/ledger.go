package pistore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// settle finds which of the answers in the files count for which session.
func (d *discovery) settle(all []*session) {
	var accounts []*kit.Account
	for _, s := range all {
		if s.isExact() {
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger}, Last: s.active(), Model: s.model, CWD: s.cwd}
			for _, o := range s.twins {
				s.spent.Ledgers = append(s.spent.Ledgers, &o.ledger)
			}
			accounts = append(accounts, s.spent)
		}
	}
	agentfile.Parallel(len(all), func(i int) { d.addAgents(all[i]) })
	if len(d.query.IDs) == 0 && d.store.Name() == Pi {
		d.leaveOutOrphans()
	}
	kit.Settle(accounts)
	for _, s := range all {
		if s.spent != nil && s.writer() == d.store.Name() {
			d.answer.Copies(s.spent.Copies)
		}
	}
}

// maxDepth is how deep the sessions of sub-agents are nested: <session>/<agent>/run-N/session.jsonl, or <session>/forks/<fork>.jsonl, each of which can have
// sub-agents again.
const maxDepth = 24

// addAgents adds what the sub-agents of a session used. pi-subagents keeps their sessions in a folder beside that of the session, with its name.
func (d *discovery) addAgents(s *session) {
	dir, plain := strings.CutSuffix(s.path, ".jsonl")
	if info, err := os.Stat(dir); s.spent == nil || !plain || err != nil || !info.IsDir() {
		return
	}
	s.spent.Agents = d.agentsIn(dir)
}

// agentsIn returns what the sub-agents used whose sessions are below a folder.
func (d *discovery) agentsIn(dir string) (ledgers []*kit.Ledger) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case d.ctx.Err() != nil:
			d.answer.LeaveOut(kit.NotInTime, 1)
			return fs.SkipAll
		case err != nil:
			d.answer.LeaveOut(kit.NotReadable, 1)
			return fs.SkipAll
		}
		if rel, _ := filepath.Rel(dir, path); e.IsDir() && strings.Count(rel, string(filepath.Separator)) >= maxDepth {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return nil
		}
		var f facts
		info, err := e.Info()
		if err == nil {
			f, err = d.store.transcripts.Read(d.ctx, path, info, d.query.Once)
		}
		switch {
		case err != nil, f.known && !f.isExact():
			d.answer.LeaveOut(kit.NotReadable, 1)
		case f.known:
			ledgers = append(ledgers, &f.ledger)
		default:
			d.answer.LeaveOut(kit.NotRecognised, 1)
		}
		return nil
	})
	return ledgers
}

// leaveOutOrphans counts the sub-agents in the folders of sessions whose file is gone.
func (d *discovery) leaveOutOrphans() {
	for _, root := range d.roots.Paths {
		folders, _ := agentfile.Entries(d.ctx, root) // what can't be read was said when the sessions were listed
		for _, folder := range folders {
			dir := filepath.Join(root, folder.Name())
			inside, _ := agentfile.Entries(d.ctx, dir)
			for _, e := range inside {
				path := filepath.Join(dir, e.Name())
				if _, err := os.Lstat(path + ".jsonl"); e.IsDir() && sessionName.MatchString(e.Name()) && errors.Is(err, fs.ErrNotExist) {
					d.answer.LeaveOutAll(kit.NoSession, d.agentsIn(path)...)
				}
			}
		}
	}
}
