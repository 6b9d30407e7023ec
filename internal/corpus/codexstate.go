package corpus

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

//go:embed codex.sql
var codexSchema string

// codexStates collects what stands in Codex's state database and its index of
// names. It is safe for concurrent use.
type codexStates struct {
	mu      sync.Mutex
	threads []codexThread
}

type codexThread struct {
	*session
	path string
}

func (c *codexStates) add(s *session, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.threads = append(c.threads, codexThread{s, path})
}

// codexIndex writes state_5.sqlite, with the last rows in its log, and
// session_index.jsonl, where the user's names stand.
func (w *writer) codexIndex() error {
	threads := w.states.threads
	if len(threads) == 0 {
		return nil
	}
	slices.SortFunc(threads, func(a, b codexThread) int { return a.end.Compare(b.end) })
	root := filepath.Join(w.home, ".codex")
	var index strings.Builder
	for _, t := range threads {
		if t.Title != "" {
			fmt.Fprintf(&index, `{"id":%q,"thread_name":%q,"updated_at":%q}`+"\n", t.ID, t.Title, t.end.Format(stamp))
		}
	}
	if err := w.file(filepath.Join(root, "session_index.jsonl"), w.Now, "%s", index.String()); err != nil {
		return err
	}
	if err := w.codexHistory(root); err != nil {
		return err
	}
	db, err := createDatabase(filepath.Join(root, "state_5.sqlite"), codexSchema)
	if err != nil {
		return err
	}
	insert := db.prepare(`INSERT INTO threads (id, rollout_path, created_at, updated_at, source, model_provider, cwd, title,
		sandbox_policy, approval_mode, tokens_used, has_user_event, git_branch, cli_version, first_user_message, model, thread_source, preview)
		VALUES (?, ?, ?, ?, 'cli', 'mock', ?, ?, '{"type":"workspace-write"}', 'never', ?, 1, ?, '0.142.5', ?, ?, 'user', ?)`)
	for i, t := range threads {
		if i == len(threads)*9/10 {
			db.checkpoint()
		}
		insert(t.ID, t.path, t.start.Unix(), t.end.Unix(), t.CWD, t.Prompt, t.Tokens.Input, t.Branch, t.Prompt, t.Model, t.Prompt)
	}
	return db.leave(w)
}

func (w *writer) codexHistory(root string) error {
	f, err := os.Create(filepath.Join(root, "history.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewWriter(f)
	for _, t := range w.states.threads {
		fmt.Fprintf(b, `{"session_id":%q,"ts":%d,"text":%q}`+"\n", t.ID, t.start.Unix(), t.Prompt)
	}
	return b.Flush()
}
