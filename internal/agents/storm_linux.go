package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
)

// A storm runs agents of all kinds at once, does random things to them, and
// compares what Rollcall says with what was done: the lists of `rollcall list`,
// the events of `rollcall watch`, and the notifications of the tray.

// stormOptions say what a storm consists of.
type stormOptions struct {
	seed     uint64
	length   time.Duration
	lanes    int      // how many agents run at once
	plots    []string // "release: steps", one lane each; empty: drawn by the seed
	settings bool     // the user changes the settings meanwhile
	steps    int      // it is over after so many steps and changes of the settings; 0: after length
}

// storm is one run.
type storm struct {
	t       *testing.T
	s       *Sandbox
	options stormOptions
	desktop *desktoptest.Desktop
	began   time.Time
	before  int           // notifications of the desktop before the storm
	starts  chan struct{} // bounds how many agents start at once
	gateway *Gateway
	quiet   map[string]*sync.RWMutex // by agent: read-locked while one may write, locked while its folder moves

	mu       sync.Mutex // guards what follows
	steps    int        // steps that were taken, and changes of the settings
	enough   context.CancelFunc
	sessions []*stormSession
	owed     []*owed
	events   []watchEvent
	lives    int
	troubles []string
	homes    int
	names    int
	lastOpen map[string]time.Time // by agent and folder
	tally    tally

	restrictions []*restriction
}

// watchEvent is a line of `rollcall watch --json`.
type watchEvent struct {
	at      time.Time
	Event   string  `json:"event"`
	Before  string  `json:"before"`
	Session Session `json:"session"`
}

const (
	checkEvery = 5 * time.Second
	// settle is how long after an event an agent may take to write it down, and
	// Rollcall to read it; a busy machine gets up to settleMore on top.
	settle     = 3 * time.Second
	settleMore = 9 * time.Second
	// stepLimit bounds how long an agent may take to do what it was told.
	stepLimit = 90 * time.Second
)

func newStorm(t *testing.T, o stormOptions, desktop *desktoptest.Desktop) *storm {
	t.Helper()
	if len(o.plots) > 0 {
		o.lanes = len(o.plots)
	}
	st := &storm{t: t, options: o, desktop: desktop, began: time.Now(), before: len(desktop.Notifications()),
		starts: make(chan struct{}, 2), quiet: map[string]*sync.RWMutex{}, lastOpen: map[string]time.Time{}}
	st.tally.unknown = map[string]int{}
	t.Cleanup(st.report) // after the sandbox's, which prints all that it knows of a failed test
	st.s = NewSandbox(t)
	for _, release := range Releases() {
		st.quiet[release.Agent] = &sync.RWMutex{}
	}
	if err := st.prepare(); err != nil {
		t.Fatal(err)
	}
	return st
}

// run starts the lanes, checks until the time is over, and prints the result.
func (st *storm) run() {
	st.t.Helper()
	watching, stopWatch := context.WithCancel(st.t.Context())
	defer stopWatch()
	if err := st.watch(watching); err != nil {
		st.t.Fatal(err)
	}
	lanes := st.makeLanes()
	if st.needsGateway(lanes) { // which takes its time to start
		st.gateway = st.s.StartGateway(OpenClawNewest)
	}
	st.began = time.Now()
	ctx, cancel := context.WithTimeout(st.t.Context(), st.options.length)
	defer cancel()
	st.enough = cancel
	var running sync.WaitGroup
	for _, l := range lanes {
		running.Go(func() { l.run(ctx) })
	}
	if len(st.options.plots) == 0 {
		running.Go(func() { st.moveFolders(ctx) })
	}
	if st.options.settings {
		running.Go(func() {
			if err := st.changeSettings(ctx); err != nil {
				st.t.Errorf("the settings could not be changed: %v", err)
			}
		})
	}
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	st.checkUntil(done)
	st.closing()
}

// counts adds a step to those that were taken. Its caller holds mu.
func (st *storm) counts() {
	if st.steps++; st.options.steps > 0 && st.steps == st.options.steps {
		st.enough()
	}
}

// checkUntil checks every 5 s, and once more when the lanes are done.
func (st *storm) checkUntil(done <-chan struct{}) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-st.t.Context().Done():
			return
		case <-tick.C:
			st.check()
		}
	}
}

// closing gives the last events the time to be told.
func (st *storm) closing() {
	last := time.Now()
	for time.Since(last) < tellLimit+settleMore+checkEvery {
		time.Sleep(checkEvery)
		st.check()
	}
}

// watch follows `rollcall watch --json`.
func (st *storm) watch(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, headlessBinary, "watch", "--json")
	cmd.Dir, cmd.Env = st.s.Home, st.s.Env()
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("rollcall watch: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("rollcall watch: %w", err)
	}
	go func() {
		scanner := bufio.NewScanner(lines)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			e := watchEvent{at: time.Now()}
			if json.Unmarshal(scanner.Bytes(), &e) != nil {
				continue // an incomplete line at its end
			}
			st.mu.Lock()
			st.events = append(st.events, e)
			st.mu.Unlock()
		}
		_ = cmd.Wait() // ended by ctx
	}()
	return nil
}

// makeLanes returns one lane for each agent that runs at once.
func (st *storm) makeLanes() []*lane {
	var lanes []*lane
	add := func(release Release, plots []string) {
		i := len(lanes)
		rng := rand.New(rand.NewPCG(st.options.seed, uint64(i)+1))
		l := &lane{st: st, n: i, release: release, rng: rng, folder: filepath.Join(st.s.Home, fmt.Sprintf("storm%d", i))}
		l.plots, l.once = plots, plots != nil
		if plots == nil {
			l.plots = deck(rng, kindOf(release), release)
		}
		lanes = append(lanes, l)
	}
	for _, plot := range st.options.plots {
		name, steps, _ := strings.Cut(plot, ":")
		i := slices.IndexFunc(Releases(), func(r Release) bool { return r.lock == strings.TrimSpace(name) })
		if i < 0 {
			st.t.Fatalf("plot %q: no release %q", plot, name)
		}
		add(Releases()[i], []string{strings.TrimSpace(steps)})
	}
	if len(lanes) == 0 {
		for i := range st.options.lanes {
			add(stormReleases[i%len(stormReleases)], nil)
		}
	}
	return lanes
}

// stormReleases are what the lanes run, the most different first.
var stormReleases = []Release{ClaudeNewest, CodexNewest, OpenCodeNewest, PiNewest, PiOlder,
	OpenCodeOlder, CodexOlder, OpenClawNewest, CodexNewest, PiNewest, ClaudeNewest}

func (st *storm) needsGateway(lanes []*lane) bool {
	return slices.ContainsFunc(lanes, func(l *lane) bool { return l.release.Agent == OpenClawNewest.Agent })
}

// shared is the folder that all agents of a name have in common.
func (st *storm) shared(agent string) string {
	return filepath.Join(st.s.Home, "shared-"+agent)
}

// folders are all that agents work in.
func (st *storm) folders() []string {
	var out []string
	for i := range st.options.lanes {
		out = append(out, filepath.Join(st.s.Home, fmt.Sprintf("storm%d", i)))
	}
	for agent := range st.quiet {
		out = append(out, st.shared(agent))
	}
	return out
}

// since is a moment as the report states it.
func (st *storm) since(at time.Time) string {
	return fmt.Sprintf("%6.1f s", at.Sub(st.began).Seconds())
}

// trouble notes that an agent did not do what it was told, so that nothing is
// known of its session: a fault of the storm, not of Rollcall's.
func (st *storm) trouble(l *lane, plot string, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	text := fmt.Sprintf("%s %s: %q: %v", st.since(time.Now()), l.release, plot, err)
	st.troubles = append(st.troubles, text)
	fmt.Println("storm: driver:", text)
}

// until asks ok until it reports true; an error says that the time is over.
func until(limit time.Duration, what string, ok func() bool) error {
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			return fmt.Errorf("not %s within %v", what, limit)
		}
		time.Sleep(150 * time.Millisecond)
	}
	return nil
}

// pause waits; it reports false when ctx is done before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool {
	_, running := readProcess(fmt.Sprintf("/proc/%d", pid))
	return running
}
