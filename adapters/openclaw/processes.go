package openclaw

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
	"rollcall/proc"
)

// ownerState is the state of the process to which a state folder belongs.
type ownerState int

const (
	ownerNone     ownerState = iota // no lock, no process: never started, or ended cleanly
	ownerAlive                      // its process runs
	ownerGone                       // its process is gone and left its lock: it crashed
	ownerLongGone                   // the same, so long ago that it is not reported
)

type owner struct {
	state ownerState
	pid   int
}

// crashReportTime is the time for which a crashed gateway is reported as an error.
const crashReportTime = 24 * time.Hour

// ownerOf returns whether the process that a lock names is alive, or how it ended.
func (s *search) ownerOf(l lock, locked bool, path string) owner {
	if !locked {
		return owner{}
	}
	o := owner{state: ownerGone, pid: l.PID}
	p, err := s.adapter.Table.Find(l.PID)
	switch {
	case err == nil && s.isOwner(p, l):
		o.state = ownerAlive
	case err != nil && !errors.Is(err, proc.ErrGone):
		o.state = ownerAlive // not known: a process that may be alive is not reported as dead
	case s.isOldLock(path):
		o.state = ownerLongGone
	}
	return o
}

// isOwner reports whether the process with the lock's pid wrote the lock.
func (s *search) isOwner(p proc.Process, l lock) bool {
	if runtime.GOOS == "linux" && l.Start != 0 {
		return p.Start == l.Start
	}
	if at, err := time.Parse(time.RFC3339, l.CreatedAt); err == nil && p.Started.After(at.Add(2*time.Second)) {
		return false // began after the lock was written
	}
	return looksLikeGateway(s.adapter.Table, p)
}

// isOldLock reports whether a lock is older than the last start of the machine, or than
// crashReportTime.
func (s *search) isOldLock(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return true
	}
	if s.adapter.Now().Sub(fi.ModTime()) > crashReportTime {
		return true
	}
	init, err := s.adapter.Table.Find(1)
	return err == nil && fi.ModTime().Before(init.Started)
}

// gatewayProcess is a running gateway.
type gatewayProcess struct {
	proc.Process
	env      map[string]string // of the variables that are needed
	stateDir string
	config   string
	port     int
	foreign  bool // another user's, or of another home folder
}

// title is the process title that a gateway gives itself. Linux cuts it in comm.
const title = "openclaw-gateway"

// looksLikeGateway reports whether a process is an OpenClaw gateway: by the title that
// it gives itself, or by its arguments before it does so.
func looksLikeGateway(table proc.Lister, p proc.Process) bool {
	if p.Comm != "" && strings.HasPrefix(title, p.Comm) && len(p.Comm) >= 15 {
		return true
	}
	if !agentproc.IsInterpreter(p.Comm) && !adapters.IsNamed(p.Comm, "openclaw") {
		return false
	}
	args, err := table.Args(p.Identity)
	if err != nil || len(args) == 0 {
		return false
	}
	if filepath.Base(args[0]) == title {
		return true
	}
	claw, gateway := false, false
	for i, arg := range args {
		base := filepath.Base(arg)
		claw = claw || base == "openclaw" || base == "openclaw.mjs" || strings.Contains(filepath.ToSlash(arg), "/openclaw/")
		gateway = gateway || arg == "gateway" && runsGateway(args[i+1:])
	}
	return claw && gateway
}

// runsGateway reports whether the words after `openclaw gateway` run a gateway: all
// sub-commands but "run" are only clients of one (2026.2.26, 2026.9.6).
func runsGateway(args []string) bool {
	return len(args) == 0 || args[0] == "run" || strings.HasPrefix(args[0], "-")
}

// OwnsProcess implements adapters.ProcessOwner: a gateway, also one of another home folder. The
// launcher that 2026.2.26 leaves as the parent of a gateway and the commands that only talk to
// a gateway are not owned.
func (a *Adapter) OwnsProcess(p proc.Process) bool {
	if !looksLikeGateway(a.Table, p) {
		return false
	}
	if _, err := a.Table.Env(p.Identity); err != nil {
		return false
	}
	rows, err := a.Table.List(context.Background())
	return err == nil && !slices.ContainsFunc(rows, func(child proc.Process) bool {
		return child.PPID == p.PID && looksLikeGateway(a.Table, child)
	})
}

var variables = []string{"HOME", "USERPROFILE", "OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "OPENCLAW_PROFILE",
	"OPENCLAW_GATEWAY_PORT", "OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_PASSWORD"}

// processes lists the gateways in a process table. The launcher that 2026.2.26 leaves as the parent of a
// gateway (comm "openclaw") has the same arguments as the gateway: of a parent and its child,
// only the child is listed.
func processes(table proc.Lister, rows []proc.Process, home string) []gatewayProcess {
	var found []gatewayProcess
	parents := map[int]bool{}
	for _, p := range rows {
		if looksLikeGateway(table, p) {
			g := gatewayProcess{Process: p}
			g.read(table, home)
			found = append(found, g)
			parents[p.PPID] = true
		}
	}
	return slices.DeleteFunc(found, func(g gatewayProcess) bool { return parents[g.PID] })
}

// read finds the state folder of the process from its environment. A process with another home
// folder counts as another user's, even if it runs as the same user.
func (g *gatewayProcess) read(table proc.Lister, ours string) {
	entries, err := table.Env(g.Identity)
	if err != nil {
		g.foreign = errors.Is(err, fs.ErrPermission)
		return
	}
	g.env = map[string]string{}
	for _, name := range variables {
		g.env[name] = strings.TrimSpace(kit.Get(entries, name))
	}
	home := cmp.Or(g.env["OPENCLAW_HOME"], g.env["HOME"], g.env["USERPROFILE"])
	g.foreign = home != "" && filepath.Clean(home) != filepath.Clean(ours)
	g.config = expandHome(g.env["OPENCLAW_CONFIG_PATH"], home)
	g.port, _ = strconv.Atoi(g.env["OPENCLAW_GATEWAY_PORT"])
	if g.foreign {
		return
	}
	args, _ := table.Args(g.Identity)
	switch dir, profile := expandHome(g.env["OPENCLAW_STATE_DIR"], home), profileName(cmp.Or(profileArg(args), g.env["OPENCLAW_PROFILE"])); {
	case dir != "":
		g.stateDir = dir
	case home != "" && profile != "":
		g.stateDir = filepath.Join(home, ".openclaw-"+profile)
	case home != "":
		g.stateDir = filepath.Join(home, ".openclaw")
	}
	n, _ := strconv.Atoi(kit.Option(args, "--port"))
	g.port = validPort(cmp.Or(n, g.port))
}

// profileArg returns the profile that a gateway is started with, while its arguments
// still name it.
func profileArg(args []string) string {
	if slices.Contains(args, "--dev") {
		return "dev"
	}
	return kit.Option(args, "--profile")
}
