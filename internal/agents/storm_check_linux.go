package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tally counts what the checks found.
type tally struct {
	lists, checks, wrong int
	unknown              map[string]int // by agent and reason
	unknowns             int
	told                 map[string]bool // differences that were printed
	extras               map[string]int  // rows that are nobody's, by id: in how many lists
	failures             int             // lists that could not be had
	slowest              time.Duration
}

// check lists everything once and compares it with the truth.
func (st *storm) check() {
	versions := st.versions()
	begun := time.Now()
	roll, err := st.s.List("--all")
	done := time.Now()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.tally.lists++
	st.tally.slowest = max(st.tally.slowest, done.Sub(begun))
	if err != nil {
		st.tally.failures++
		fmt.Println("storm: WRONG: no list:", err)
		return
	}
	for _, x := range st.sessions {
		if x.version != versions[x] || !x.comparable(begun, done) {
			continue
		}
		st.tally.checks++
		x.checked = x.version
		v := x.judge(roll)
		switch {
		case v.wrong != "":
			st.tally.wrong++
			st.differs(x, v.wrong)
		case v.unknown != "":
			st.tally.unknowns++
			st.tally.unknown[x.release.String()+": "+withoutNumbers(v.unknown)]++
			st.differs(x, "unknown: "+v.unknown)
		}
	}
	st.strangers(roll)
}

// versions are those of all sessions now.
func (st *storm) versions() map[*stormSession]int {
	st.mu.Lock()
	defer st.mu.Unlock()
	out := map[*stormSession]int{}
	for _, x := range st.sessions {
		out[x] = x.version
	}
	return out
}

// strangers counts the rows that no session of the storm explains. A row counts
// when it is in three lists running: an agent that starts is seen before its
// driver knows of it.
func (st *storm) strangers(roll Roll) {
	if st.tally.extras == nil {
		st.tally.extras = map[string]int{}
	}
	seen := map[string]bool{}
	for i := range roll.Sessions {
		row := &roll.Sessions[i]
		if row.Parent != "" || st.explains(row) {
			continue
		}
		seen[row.ID] = true
		st.tally.extras[row.ID]++
		if st.tally.extras[row.ID] == 3 && !st.gatewayHas(row.ID) {
			st.tally.wrong++
			fmt.Printf("storm: WRONG %s: a row that is no session: %v in %s\n", st.since(time.Now()), *row, row.CWD)
		}
	}
	for id := range st.tally.extras {
		if !seen[id] && st.tally.extras[id] < 3 {
			delete(st.tally.extras, id)
		}
	}
}

// explains reports whether a row belongs to a session of the storm, known or not.
func (st *storm) explains(row *Session) bool {
	for _, x := range st.sessions {
		if x.is(row) {
			return true
		}
		// Codex stores a thread that was left before its first turn.
		if row.Agent == x.release.Agent && row.CWD == x.folder && row.Status == "stopped" && markOf(row) == "" && x.turn == noTurn && !x.running {
			return true
		}
		// While something happens to it, or where it can't be told from another.
		vague := x.since.IsZero() || x.lost || x.hidden || x.replaced || x.silentNow()
		if vague && row.Agent == x.release.Agent && (x.remote || row.CWD == x.folder || row.PID != 0 && row.PID == x.pid) {
			return true
		}
	}
	return false
}

// differs prints a difference, once for each state of a session.
func (st *storm) differs(x *stormSession, said string) {
	if st.tally.told == nil {
		st.tally.told = map[string]bool{}
	}
	key := fmt.Sprint(x.mark, x.version)
	if st.tally.told[key] {
		return
	}
	st.tally.told[key] = true
	word := "WRONG"
	if strings.HasPrefix(said, "unknown: ") {
		word = "unknown"
	}
	fmt.Printf("storm: %s %s: list says %s\n", word, st.since(time.Now()), said)
	fmt.Printf("    true: %s\n%s%s", x.describe(), st.reproduction(x), processFacts(x.pid))
}

// processFacts says what the process table has of a process, for a difference.
func processFacts(pid int) string {
	if pid == 0 {
		return ""
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return fmt.Sprintf("      its process: %v\n", err)
	}
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	folder, _ := os.Readlink(filepath.Join(dir, "cwd"))
	return fmt.Sprintf("      its process: %q in %s, %.60s\n", command, folder, stat)
}

// reproduction is what was done to a session, and how to do it again.
func (st *storm) reproduction(x *stormSession) string {
	var b strings.Builder
	fmt.Fprintf(&b, "    %s of %s in %s", x.mark, x.release, x.folder)
	if x.home != "" {
		fmt.Fprintf(&b, ", home %s", x.home)
	}
	fmt.Fprintf(&b, ", id %q, process %d\n    again: STORM_PLOT=%q SEED=%d make storm\n", x.id, x.pid, x.release.lock+": "+x.plot, st.options.seed)
	for _, step := range x.steps {
		fmt.Fprintf(&b, "      %s  (+%5.1f s) %s\n", st.since(step.at), step.at.Sub(x.began).Seconds(), step.what)
	}
	return b.String()
}

// withoutNumbers makes reasons that differ only in numbers the same.
func withoutNumbers(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, text)
	for strings.Contains(text, "##") {
		text = strings.ReplaceAll(text, "##", "#")
	}
	return text
}
