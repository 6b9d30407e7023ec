package pistore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rollcall/proc"
)

// placeProcesses corrects the folders of processes that opened a session of
// another folder (--session, /resume): they stay where they are and work in the
// session's folder. In a terminal Pi watches the repository that it works in,
// which is all that shows it. Before 0.65 it watched that of its own folder, which
// is no sign of anything.
func (d *discovery) placeProcesses() {
	heads := map[string]proc.FileID{}
	for _, p := range d.processes {
		if !p.strayed {
			continue
		}
		found := map[string]bool{}
		for _, s := range d.live {
			if p.watches[headFolder(s.cwd, heads)] && p.uses(s.root) {
				found[s.cwd] = true
			}
		}
		if len(found) == 1 { // more are folders of one repository
			for cwd := range found {
				p.cwd = cwd
			}
		}
	}
}

// readWatches finds the processes that may work in another folder, and returns
// how many.
func (d *discovery) readWatches() (strayed int) {
	heads := map[string]proc.FileID{}
	for _, p := range d.processes {
		p.watches = map[proc.FileID]bool{}
		watched, _ := d.table.Watched(p.Identity) // without them nothing tells, as on other systems
		for _, id := range watched {
			p.watches[id] = true
		}
		if p.strayed = len(p.watches) > 0 && !p.watches[headFolder(p.cwd, heads)]; p.strayed {
			strayed++
		}
	}
	return strayed
}

// notIn says whether a process surely works in another repository than that of a
// session. The form of the id tells that the session's version watches the
// session's repository.
func (p *process) notIn(s *session) bool {
	heads := map[string]proc.FileID{}
	own := headFolder(p.cwd, heads)
	_, numbered := sequence(s.id)
	return numbered && p.watches[own] && headFolder(s.cwd, heads) != own && there(s.cwd)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// headFolder is the folder with the HEAD of the repository that dir is in, zero if
// it is in none.
func headFolder(dir string, known map[string]proc.FileID) proc.FileID {
	if id, there := known[dir]; there {
		return id
	}
	at := filepath.Clean(dir)
	for filepath.IsAbs(at) {
		git := filepath.Join(at, ".git")
		if info, err := os.Stat(git); err == nil {
			if !info.IsDir() {
				git = gitDir(git)
			}
			known[dir] = identify(git)
			break
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return known[dir]
}

// gitDir is where the file .git of a worktree or submodule points to.
func gitDir(file string) string {
	f, _, err := openRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, 4096)
	n, _ := f.Read(line)
	path, ok := bytes.CutPrefix(bytes.TrimSpace(line[:n]), []byte("gitdir: "))
	if !ok {
		return ""
	}
	if dir := string(path); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(filepath.Dir(file), string(path))
}

// identify tells folders apart whatever they are called; zero where there is none.
func identify(path string) proc.FileID {
	info, err := os.Stat(path)
	if err != nil {
		return proc.FileID{}
	}
	id, _ := proc.FileIDOf(info)
	return id
}
