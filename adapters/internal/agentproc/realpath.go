package agentproc

import (
	"path/filepath"

	"rollcall/bounded"
)

// RealPath resolves the symbolic links in a path, as far as the path exists and its file system answers.
func RealPath(path string) string {
	path = filepath.Clean(path)
	if !bounded.Answers(path) {
		return path
	}
	if resolved, err := EvalSymlinks(path); err == nil {
		return resolved
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(RealPath(parent), filepath.Base(path))
	}
	return path
}
