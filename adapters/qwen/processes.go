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
	"rollcall/adapters/internal/skeleton"
	"rollcall/proc"
)

// node and finder are how the processes of Qwen Code look: the innermost of two or three works (0.15.6, 0.24.4). The home is that with the sessions.
var (
	node   = &skeleton.Node{Inner: "QWEN_CODE_NO_RELAUNCH", Serving: []string{"serve"}, Continue: []string{"--continue", "-c"}}
	finder = &skeleton.Finder{Inspect: node.Inspect, Home: runtimeOf,
		Program: node.Program("qwen", "qwen-code", "mcp", "extensions", "sessions", "auth", "board", "channel", "hooks", "review", "sandbox", "update")}
)

// runtimeOf returns the folder with the sessions that the variables of an environment name.
func runtimeOf(env func(string) string, user string) string {
	_, runtime := homesOf(env, user)
	return runtime
}

// process is a live process of Qwen Code.
type process struct {
	*skeleton.Process
	registry []string  // the folders in which its entry may be
	folder   string    // that in which the sessions of its working folder are (0.15.6, 0.24.4)
	entries  []claim   // of the registry: nothing else counts if there is one
	claims   []claim   // of its tools, or else of its command line
	began    time.Time // by the clock of its records where that is known: Started moves when the clock is set
	serves   bool      // it belongs to qwen serve, which starts other sessions in it (0.24.4): never signalled
	sessions []*session
}

// claim is a session that something names as one of a process. tool is the child whose environment does (0.24.4).
type claim struct {
	session, how string
	tool         proc.Process
}

const (
	registrySchema = 1        // the newest form of the registry's files that is known
	maxEntry       = 64 << 10 // of a file of the registry, in bytes
)

var notPlain = regexp.MustCompile(`[^A-Za-z0-9]`)

// inspect adds to a process where its entry is, and what its tools show.
func (d *discovery) inspect(p *skeleton.Process) *process {
	out := &process{Process: p, folder: notPlain.ReplaceAllString(p.Folder(), "-"), began: p.Started}
	named, _ := homesOf(p.Get, p.Get(kit.Home))
	home, known := d.Homes.OfProcess(named)
	homes := []string{home}
	d.Hidden = d.Hidden || d.Homes.Unresponsive(named)
	if !known {
		homes = d.Homes.Paths
	}
	for _, path := range homes {
		out.registry = append(out.registry, filepath.Join(path, "sessions"))
	}
	for _, row := range p.Children {
		env, _ := d.Table.Env(row.Identity)
		if id := kit.Get(env, sessionVariable); id != "" {
			out.claims = append(out.claims, claim{id, fmt.Sprintf("named by its tool, process %d", row.PID), row})
		}
	}
	if p.Named != "" && out.claims == nil {
		out.claims = []claim{{session: p.Named, how: "named by its command line"}}
	}
	return out
}

// OwnsProcess implements adapters.ProcessOwner.
func (a *Adapter) OwnsProcess(row proc.Process) bool { return finder.Owns(a.Base, row) }

// named returns what names sessions of the process.
func (p *process) named() []claim {
	if len(p.entries) > 0 {
		return p.entries
	}
	return p.claims
}

// readEntries reads what the registry says of each process.
func (d *discovery) readEntries() {
	listed := map[string][]fs.DirEntry{}
	for _, p := range d.processes {
		pids, _ := d.Table.InnerPIDs(p.Identity)
		for _, dir := range p.registry {
			files, known := listed[dir]
			if !known {
				files = d.entries(d.Ctx, dir)
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

// readEntry reads one file of the registry (0.24.4). The token in it is not read. An entry of another process with the same pid says nothing. inner reports that a pid namespace below
// this one has the pid.
func (d *discovery) readEntry(p *process, path string, pid int, inner bool) {
	data, _, err := agentfile.ReadSmall(path, maxEntry)
	if err != nil {
		d.Hidden = d.Report.Failed(path, err) || d.Hidden
		return
	}
	id := kit.Short(agentfile.Get(data, "sessionId"))
	namespace := kit.Count(data, "pidNs")
	written := time.UnixMilli(kit.Count(data, "startedAt"))
	boot, ticks, exact := strings.Cut(kit.Short(agentfile.Get(data, "procStart")), ":")
	switch own := d.Table.Domain(); {
	case kit.Count(data, "schemaVersion") > registrySchema:
		d.Report.Skip("entry of a newer registry", 1)
	case kit.Count(data, "pid") != int64(pid) || !kit.Is(id):
		d.Report.Skip("entry of the registry without a session", 1)
	case !inner && namespace != 0 && own != "" && !strings.HasSuffix(own, fmt.Sprintf(":pid:[%d]", namespace)):
	case exact && ticks != strconv.FormatUint(p.Start, 10):
	case (!exact || boot != p.Boot) && written.Before(p.Started.Add(-time.Second)): // of an earlier process, or boot
	default:
		if exact && written.UnixMilli() != 0 {
			p.began = written
		}
		p.serves = p.serves || kit.Short(agentfile.Get(data, "kind")) == "serve"
		p.entries = append(p.entries, claim{session: id, how: "named by the registry, " + filepath.Base(path)})
	}
}
