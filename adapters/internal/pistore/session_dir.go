package pistore

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/bounded"
)

// Pi stores its sessions in the folder that --session-dir names, else PI_CODING_AGENT_SESSION_DIR, else sessionDir in the settings of the project or, without
// it, in those of the user, and directly in that folder; else below its own folder, by working directory (main.js and settings-manager.js of 1.6.0). A relative
// path is in the working directory. It erases its command line soon after its start, so that such a folder is remembered once it was seen: in a command
// line, or as the place of the session that a tool of Pi names.

// setSessionDir sets the folder in which a Pi stores its sessions, as far as that is not the usual one.
func (p *process) setSessionDir() {
	home := p.env[kit.Home]
	if p.agent != Pi || !p.known || p.unresponsive != "" || p.contained || home == "" {
		return
	}
	dir := cmp.Or(p.flagDir, p.env["PI_CODING_AGENT_SESSION_DIR"])
	if dir == "" && p.cwd != "" && bounded.Answers(p.cwd) {
		set, _ := readSettings(filepath.Join(p.cwd, ".pi", "settings.json")) // what is not valid JSON Pi ignores as well
		dir = set.SessionDir
	}
	dir = below(dir, home, p.cwd)
	if dir != "" && bounded.Answers(dir) {
		p.namedFolders = append(slices.Clone(p.namedFolders), dir)
		p.folders = append(p.folders, agentproc.RealPath(dir))
	}
}

// below resolves a path that may begin with ~ or be relative to a working directory, and returns "" for none.
func below(path, home, cwd string) string {
	if dir := expandHome(path, home); dir != "" || path == "" || !filepath.IsAbs(cwd) {
		return dir
	}
	return filepath.Join(cwd, path)
}

// toolFolders returns the folders of the sessions that the tools of a process name, where these are not below Pi's own folder.
func (p *process) toolFolders() (dirs []string) {
	for _, k := range p.children {
		dir := filepath.Dir(k.file)
		name := filepath.Base(dir)
		isUsual := strings.HasPrefix(name, "--") && strings.HasSuffix(name, "--")
		if filepath.IsAbs(dir) && !isUsual {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// addRemembered lets the processes of Pi that do not show where they store their sessions use the remembered folders that hold sessions directly: a command
// line that is erased may have named one.
func (d *discovery) addRemembered(dirs []string) {
	dirs = slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		if !bounded.Answers(dir) {
			return true
		}
		entries, err := agentfile.Entries(d.ctx, dir)
		return err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isSession(e.Name()) })
	})
	for _, p := range d.processes {
		shows := p.flagDir != "" || p.env["PI_CODING_AGENT_SESSION_DIR"] != ""
		if p.agent == Pi && p.known && !shows && slices.ContainsFunc(d.roots.Paths, p.uses) {
			p.folders = append(slices.Clone(p.folders), dirs...)
		}
	}
}

// resumeDir returns the folder in which a session is stored directly, to be named when it is resumed; "" for one in the usual place.
func (s *Store) resumeDir(id string) string {
	for _, dir := range s.Recent.Use(nil, s.Now()) {
		if !bounded.Answers(dir) {
			continue
		}
		entries, err := agentfile.Entries(context.Background(), dir)
		if err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), "_"+id+".jsonl") }) {
			return dir
		}
	}
	return ""
}

// freshLimit is more than a Pi that was never prompted has written to its terminal: 3 KB to 6 KB. With a first prompt it writes at least as much to its
// session again, and the answer to its terminal.
const freshLimit = 16 << 10

// mayStoreElsewhere reports whether a process that has stored nothing where it is looked for may have had a turn, so that its session is in a folder that is
// not known.
func (d *discovery) mayStoreElsewhere(p *process) bool {
	n, err := d.store.Table.Written(p.Identity)
	return p.agent == Pi && !p.contained && (err != nil || n > freshLimit)
}
