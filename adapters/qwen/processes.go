package qwen

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// program is how the processes of Qwen Code look: the innermost of two or three works (0.15.6, 0.24.4).
var program = &kit.NodeAgent{Command: "qwen", Package: "qwen-code", Inner: "QWEN_CODE_NO_RELAUNCH",
	NotSessions: []string{"mcp", "extensions", "sessions", "auth", "channel", "hooks", "review"},
	Serving:     []string{"serve"},
	Continue:    []string{"--continue", "-c"},
	Home: func(env []string) string {
		_, runtime := homesOf(func(name string) string { return kit.Get(env, name) }, kit.Get(env, kit.Home))
		return runtime
	}}

// process is a live process of Qwen Code.
type process struct {
	*kit.NodeProcess
	registry []string  // the folders in which its entry may be
	folder   string    // that in which the sessions of its working folder are (0.15.6, 0.24.4)
	entries  []entry   // of the registry
	began    time.Time // by the clock of its records where that is known: Started moves when the clock is set
	tools    []tool    // its children
	sessions []*session
}

// tool is a child. session is the session whose tool it is, where its environment says it (0.24.4). runs reports that it is a tool's at all.
type tool struct {
	proc.Process
	session string
	runs    bool
}

// entry is what a file of the registry says (0.24.4). The token in it is not read.
type entry struct{ session, path string }

const (
	schema   = 1        // the newest form of the registry's files that is known
	maxEntry = 64 << 10 // of a file of the registry, in bytes
)

var notPlain = regexp.MustCompile(`[^A-Za-z0-9]`)

// inspect adds to a process where its entry is, and what its tools show.
func (d *discovery) inspect(p *kit.NodeProcess) *process {
	out := &process{NodeProcess: p, folder: notPlain.ReplaceAllString(p.CWD, "-"), began: p.Started}
	env, _ := d.Table.Env(p.Identity)
	named, _ := homesOf(func(name string) string { return kit.Get(env, name) }, kit.Get(env, kit.Home))
	home, known := d.roots.OfProcess(named)
	homes := []string{home}
	if d.hidden = d.hidden || d.roots.Unresponsive(named); !known {
		homes = d.roots.Paths
	}
	for _, path := range homes {
		out.registry = append(out.registry, filepath.Join(path, "sessions"))
	}
	for _, row := range p.Children {
		env, _ := d.Table.Env(row.Identity)
		id := kit.Get(env, "QWEN_CODE_SESSION_ID")
		out.tools = append(out.tools, tool{row, id, id != "" || kit.Get(env, "QWEN_CODE") != ""})
	}
	return out
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(row proc.Process) bool { return program.Owns(a.Base, row) }

// names reports whether the process or what it shows names a session as its own.
func (p *process) names(id string) bool {
	return p.Named == id || slices.ContainsFunc(p.entries, func(e entry) bool { return e.session == id }) ||
		slices.ContainsFunc(p.tools, func(t tool) bool { return t.session == id })
}

// readEntries reads what the registry says of each process.
func (d *discovery) readEntries() {
	listed := map[string][]fs.DirEntry{}
	for _, p := range d.processes {
		pids, _ := d.Table.InnerPIDs(p.Identity)
		for _, dir := range p.registry {
			files, known := listed[dir]
			if !known {
				var err error
				files, err = agentfile.Entries(d.ctx, dir)
				d.failed(dir, err)
				listed[dir] = files
			}
			for _, f := range files {
				name, isEntry := strings.CutSuffix(f.Name(), ".json")
				number, _, _ := strings.Cut(name, "-")
				if pid, err := strconv.Atoi(number); isEntry && err == nil && slices.Contains(append(pids, p.PID), pid) {
					d.readEntry(p, filepath.Join(dir, f.Name()), pid, slices.Contains(pids, pid))
				}
			}
		}
	}
}

// readEntry reads one file of the registry. An entry of another process with the same pid says nothing. inner reports that a pid namespace below
// this one has the pid.
func (d *discovery) readEntry(p *process, path string, pid int, inner bool) {
	data, _, err := agentfile.ReadSmall(path, maxEntry)
	if err != nil {
		d.failed(path, err)
		return
	}
	number := func(name string) int64 {
		n, _ := agentfile.Int(agentfile.Get(data, name))
		return n
	}
	id := kit.Short(agentfile.Get(data, "sessionId"))
	switch {
	case number("schemaVersion") > schema:
		d.answer.Skip("entry of a newer registry", 1)
		return
	case number("pid") != int64(pid) || !kit.Is(id):
		d.answer.Skip("entry of the registry without a session", 1)
		return
	}
	namespace, written := number("pidNs"), time.UnixMilli(number("startedAt"))
	boot, ticks, exact := strings.Cut(kit.Short(agentfile.Get(data, "procStart")), ":")
	switch own := d.Table.Domain(); {
	case !inner && namespace != 0 && own != "" && !strings.HasSuffix(own, fmt.Sprintf(":pid:[%d]", namespace)):
		return
	case exact && ticks != strconv.FormatUint(p.Start, 10):
		return
	case (!exact || boot != p.Boot) && written.Before(p.Started.Add(-time.Second)): // of an earlier process, or boot
		return
	case exact && written.UnixMilli() != 0:
		p.began = written
	}
	p.entries = append(p.entries, entry{id, path})
}
