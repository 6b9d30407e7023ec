package pistore

import (
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
		if s.exact {
			s.spent = &kit.Account{ID: s.id, Ledgers: []*kit.Ledger{&s.ledger.Ledger}, Last: s.active(), Model: s.model, CWD: s.cwd, Marked: true}
			accounts = append(accounts, s.spent)
		}
	}
	agentfile.Parallel(len(all), func(i int) { d.addAgents(all[i]) })
	kit.Settle(accounts)
	for _, s := range all {
		if s.spent != nil && s.writer() == d.store.name {
			d.answer.Copies(s.spent.Copies)
		}
	}
}

// maxDepth is how deep the sessions of sub-agents are nested: <session>/<agent>/run-N/session.jsonl.
const maxDepth = 4

// addAgents adds what the sub-agents of a session used. pi-subagents keeps their sessions in a folder beside that of the session, with its name.
func (d *discovery) addAgents(s *session) {
	dir, plain := strings.CutSuffix(s.path, ".jsonl")
	if info, err := os.Stat(dir); s.spent == nil || !plain || err != nil || !info.IsDir() {
		return
	}
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
			f, err = d.transcript(path).read(d.ctx, info, true, true)
		}
		if err == nil && f.known && f.exact {
			s.spent.Ledgers = append(s.spent.Ledgers, &f.ledger.Ledger)
		} else {
			d.answer.LeaveOut(kit.NotReadable, 1)
		}
		return nil
	})
}
