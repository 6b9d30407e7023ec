package openclaw_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/gatewaytest"
	"rollcall/internal/must"
	"rollcall/proc"
)

// tree is a /proc of made-up processes.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) *tree {
	p := &tree{t, t.TempDir()}
	p.put("stat", "btime 1795230000\n")
	p.put("sys/kernel/random/boot_id", "b\n")
	return p
}

func (p *tree) put(path, content string) {
	p.t.Helper()
	path = filepath.Join(p.root, path)
	must.Do(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(p.t, os.WriteFile(path, []byte(content), 0o600))
}

func (p *tree) process(pid, ppid int, comm string, start uint64, args, env []string) {
	p.put(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, comm, ppid, pid, pid, start))
	p.put(fmt.Sprintf("%d/comm", pid), comm+"\n")
	p.put(fmt.Sprintf("%d/cmdline", pid), strings.Join(args, "\x00")+"\x00")
	p.put(fmt.Sprintf("%d/environ", pid), strings.Join(env, "\x00")+"\x00")
}

func (p *tree) table() *proc.Table { return proc.OpenAt(p.root, p.root) }

// TestProcessFound: a gateway whose state lies elsewhere is found by its process,
// with the folder, the port and the token that it was started with.
func TestProcessFound(t *testing.T) {
	w := newFixture(t)
	g := w.gateway(gatewaytest.Options{Token: "of-the-process"})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	state := filepath.Join(w.home, "elsewhere")
	w.write("elsewhere/openclaw.json", `{"gateway": {"port": 1, "auth": {"mode": "token"}}}`)
	p := newTree(t)
	launcher := []string{"openclaw"}
	p.process(40, 1, "openclaw", 10, launcher, nil)
	p.process(41, 40, "openclaw-gatewa", 20, []string{"openclaw-gateway"}, []string{"HOME=" + w.home, "OPENCLAW_STATE_DIR=" + state,
		fmt.Sprintf("OPENCLAW_GATEWAY_PORT=%d", g.Port()), "OPENCLAW_GATEWAY_TOKEN=of-the-process"})
	p.process(50, 1, "openclaw-gatewa", 30, []string{"openclaw-gateway"}, []string{"HOME=/home/somebody", "OPENCLAW_GATEWAY_PORT=1"})
	w.cfg.Table = p.table()
	if s := one(t, w.adapter()); s.Status != adapters.Working {
		t.Errorf("%+v", s)
	}
}

// TestProfile: a gateway that was started with --profile is that of the profile's
// folder, as its lock says, and not of the default one: the option stands neither in
// its environment nor, once it runs, in its arguments.
func TestProfile(t *testing.T) {
	w := newFixture(t)
	g := w.gateway(gatewaytest.Options{Token: "of-the-profile"})
	g.Update(gatewaytest.Session{Key: "k", SessionID: "s", Running: true})
	w.write(".openclaw-work/openclaw.json", `{"gateway": {"auth": {"mode": "token", "token": "of-the-profile"}}}`)
	w.write(fmt.Sprintf(".openclaw-work/tmp/openclaw-%d/gateway.state.lock", os.Getuid()), fmt.Sprintf(
		`{"pid":41,"startTime":20,"port":%d,"configPath":"%[2]s/openclaw.json","stateDir":"%[2]s"}`, g.Port(), w.home+"/.openclaw-work"))
	p := newTree(t)
	p.process(41, 1, "openclaw-gatewa", 20, []string{"openclaw-gateway"}, []string{"HOME=" + w.home})
	p.process(42, 1, "MainThread", 30, []string{"node", "/opt/openclaw/openclaw.mjs", "--profile", "slow", "gateway", "run"}, []string{"HOME=" + w.home})
	w.cfg.Table = p.table()
	roll, err := discover(t, w.adapter(), adapters.Query{})
	if len(roll.Sessions) != 1 || roll.Sessions[0].Status != adapters.Working {
		t.Errorf("%+v", roll.Sessions)
	}
	onlyProblem(t, err, adapters.ErrUnreadable, "process 42 is running, but nothing listens there")
}

// TestStartingProcess: a gateway that runs and does not listen yet is said to start.
func TestStartingProcess(t *testing.T) {
	w := newFixture(t)
	w.write(".openclaw/openclaw.json", `{"gateway": {"port": 1}}`)
	p := newTree(t)
	p.process(41, 1, "MainThread", 20, []string{"node", "/opt/node_modules/openclaw/openclaw.mjs", "gateway", "run"}, []string{"HOME=" + w.home})
	w.cfg.Table = p.table()
	_, err := discover(t, w.adapter(), adapters.Query{})
	onlyProblem(t, err, adapters.ErrUnreadable, "process 41 is running, but nothing listens there")
}

// TestOwnsProcess: gateways are owned, under each name that they go by; what starts
// one, what only talks to one, and other programs of Node.js are not.
func TestOwnsProcess(t *testing.T) {
	w := newFixture(t)
	p := newTree(t)
	home := []string{"HOME=" + w.home}
	script := func(args ...string) []string {
		return append([]string{"node", "/opt/node_modules/openclaw/openclaw.mjs"}, args...)
	}
	p.process(40, 1, "openclaw", 10, script("gateway", "run"), home)
	p.process(41, 40, "openclaw-gatewa", 20, []string{"openclaw-gateway"}, home)
	p.process(42, 1, "MainThread", 30, script("gateway", "run", "--port", "1"), home)
	p.process(43, 1, "node", 40, script("gateway"), []string{"HOME=/home/somebody"})
	p.process(44, 1, "node", 50, script("gateway", "status"), home)
	p.process(45, 1, "node", 60, script("agent", "--message", "x"), home)
	p.process(46, 1, "node", 70, []string{"node", "server.js", "gateway"}, home)
	p.process(47, 1, "bash", 80, []string{"openclaw", "gateway"}, home)
	w.cfg.Table = p.table()
	a := w.adapter()
	for pid, want := range map[int]bool{40: false, 41: true, 42: true, 43: true, 44: false, 45: false, 46: false, 47: false} {
		row, err := w.cfg.Table.Find(pid)
		must.Do(t, err)
		if got := a.OwnsProcess(row); got != want {
			t.Errorf("process %d (%s): owned is %v", pid, row.Comm, got)
		}
	}
}
