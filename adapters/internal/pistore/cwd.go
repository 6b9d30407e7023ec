package pistore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rollcall/adapters/internal/agentfile"
	"rollcall/bounded"
	"rollcall/proc"
)

// placeProcesses corrects the folders of processes that opened a session of another
// folder (--session, /resume): these processes keep their own working directory but
// work in the session's folder. In a terminal Pi watches the repository in which it
// works, and nothing else shows that folder. Before 0.65 it watched the repository of
// its own folder.
func (d *discovery) placeProcesses() {
	heads := map[string]proc.FileID{}
	for _, p := range d.processes {
		if !p.watchesElsewhere {
			continue
		}
		found := map[string]bool{}
		for _, s := range d.live {
			if p.watches[headFolder(s.cwd, heads)] && p.uses(s.root) {
				found[s.cwd] = true
			}
		}
		if len(found) == 1 { // several are folders of one repository
			for cwd := range found {
				p.cwd, p.moved = cwd, true
			}
		}
	}
}

// readWatches finds the processes that may work in another folder, and returns their
// number.
func (d *discovery) readWatches() (strayed int) {
	heads := map[string]proc.FileID{}
	for _, p := range d.processes {
		p.watches = map[proc.FileID]bool{}
		if p.contained { // its folders have other names here
			continue
		}
		watched, _ := d.store.Table.Watched(p.Identity) // without them the folder is not known, as on other systems
		for _, id := range watched {
			p.watches[id] = true
		}
		p.watchesElsewhere = len(p.watches) > 0 && !p.watches[headFolder(p.cwd, heads)]
		if p.watchesElsewhere {
			strayed++
		}
	}
	return strayed
}

// isInOtherRepository reports whether a process works in another repository than that
// of a session. The form of the session's id shows that its version watches the
// session's repository.
func (p *process) isInOtherRepository(s *session) bool {
	heads := map[string]proc.FileID{}
	own := headFolder(p.cwd, heads)
	_, numbered := sequence(s.id)
	return numbered && p.watches[own] && headFolder(s.cwd, heads) != own && mayExist(s.cwd)
}

// mayExist reports whether path exists, or is on a file system that does not answer.
func mayExist(path string) bool {
	if !bounded.Answers(path) {
		return true
	}
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// headFolder returns the folder with the HEAD of the repository that dir is in. It is
// zero if dir is in none, or if that can't be read.
func headFolder(dir string, known map[string]proc.FileID) proc.FileID {
	id, there := known[dir]
	if there || !bounded.Answers(dir) {
		return id
	}
	for at := filepath.Clean(dir); filepath.IsAbs(at); at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		info, err := os.Stat(git)
		if err == nil && !info.IsDir() {
			git = gitDir(git)
		}
		if err == nil {
			id = identify(git)
		}
		if err == nil || at == filepath.Dir(at) {
			break
		}
	}
	known[dir] = id
	return id
}

// gitDir returns the folder that the file .git of a worktree or submodule points to.
func gitDir(file string) string {
	f, _, err := agentfile.OpenUntouched(file)
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

// identify returns the identity of a folder, which does not depend on its name. It
// returns zero if there is no folder.
func identify(path string) proc.FileID {
	if !bounded.Answers(path) {
		return proc.FileID{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return proc.FileID{}
	}
	id, _ := proc.FileIDOf(info)
	return id
}
