package worktree

import (
	"path/filepath"

	"rollcall/app/lock"
	"rollcall/bounded"
)

func base(path string) string { return filepath.Base(filepath.Clean(path)) }

// within reports whether folder is root or is inside it. It follows symbolic links. It compares folders by identity, or
// by name if the file system of folder does not answer.
func within(folder, root string) bool {
	if !bounded.Answers(folder) {
		rel, err := filepath.Rel(root, folder)
		return err == nil && filepath.IsLocal(rel)
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	return lock.Within(root, filepath.Clean(folder))
}
