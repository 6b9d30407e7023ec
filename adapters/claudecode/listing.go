package claudecode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rollcall/adapters"
	"rollcall/adapters/internal/uuid"
)

// file is a transcript file as the folder shows it.
type file struct {
	id, path, dir string
	info          fs.FileInfo
}

// listProject lists <session id>.jsonl in a project folder. Transcripts may be
// symbolic links; links reports whether any entry is one. A file that vanishes
// meanwhile is left out.
func listProject(dir string) (files []file, unexpected int, links bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, 0, false, nil
	}
	var problem error
	if err != nil {
		problem = adapters.Unreadable(dir, err)
	}
	for _, d := range entries {
		id, ok := strings.CutSuffix(d.Name(), ".jsonl")
		if !ok || d.IsDir() || strings.HasPrefix(id, "agent-") { // sub-agents and warm-ups of 2.0.x
			continue
		}
		if !uuid.Is(id) {
			unexpected++
			continue
		}
		path := filepath.Join(dir, d.Name())
		links = links || d.Type()&fs.ModeSymlink != 0
		info, err := d.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problem = adapters.Unreadable(path, err)
		case !info.Mode().IsRegular():
			unexpected++
		default:
			files = append(files, file{id: id, path: path, dir: dir, info: info})
		}
	}
	return files, unexpected, links, problem
}
