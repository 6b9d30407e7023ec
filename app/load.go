package app

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"rollcall/proc"
)

// Load is what a session uses: its process and those below it, but for the processes of other sessions and what is below these. It is of processes that live:
// what ended processes used is not in it.
type Load struct {
	Processes int
	Processor time.Duration // since the processes began
	Memory    uint64        // resident bytes; memory that several processes share counts for each
	// Share is the share of one processor that was used since the reading before, where HasShare is set.
	Share    float64
	HasShare bool
	// Shared reports that the process has further sessions, whose part can't be told.
	Shared bool
}

// Short returns the load for a column: "12 %, 340 MB", without the share where it is not known.
func (l *Load) Short() string {
	text := humanize.Bytes(l.Memory)
	if l.HasShare {
		text = fmt.Sprintf("%.0f %%, ", 100*l.Share) + text
	}
	return text
}

// Text returns the load in words: "12 % of a processor and 340 MB in 5 processes"; empty: it is not known.
func (l *Load) Text() string {
	if l == nil {
		return ""
	}
	text := humanize.Bytes(l.Memory) + " in " + english.Plural(l.Processes, "process", "")
	if l.HasShare {
		text = fmt.Sprintf("%.0f %% of a processor and ", 100*l.Share) + text
	}
	if l.Shared {
		text += ", with those of other sessions"
	}
	return text
}

// LoadMeter reads what sessions use. It is not safe for concurrent use.
type LoadMeter struct {
	Table proc.Lister

	at   time.Time // of the last reading
	used map[proc.Identity]time.Duration
}

// SetLoads sets Load of the live sessions on this machine, by one reading of the process table for all. A sub-agent in its parent's process has none. Processes
// that can't be read are left out.
func (m *LoadMeter) SetLoads(ctx context.Context, sessions []Session) {
	hosts := map[proc.Identity]int{} // the sessions of each process
	for i := range sessions {
		if s := &sessions[i]; hasProcess(s) && s.Parent == "" {
			hosts[s.Process]++
		}
	}
	if len(hosts) == 0 {
		return
	}
	list, _ := m.Table.List(ctx)
	before, took := m.used, time.Since(m.at)
	m.at = time.Now()
	m.used = map[proc.Identity]time.Duration{}
	for i := range sessions {
		s := &sessions[i]
		s.Load = nil
		if !hasProcess(s) || s.Parent != "" && hosts[s.Process] > 0 {
			continue
		}
		l := Load{Shared: s.Shared || hosts[s.Process] > 1}
		var spent time.Duration
		for _, id := range ownTree(list, s.Process, hosts) {
			used, err := m.Table.Load(id)
			if err != nil {
				continue
			}
			l.Processes++
			l.Processor += used.Processor
			l.Memory += used.Memory
			spent += max(0, used.Processor-before[id])
			m.used[id] = used.Processor
		}
		_, l.HasShare = before[s.Process]
		if l.HasShare {
			l.Share = spent.Seconds() / took.Seconds()
		}
		if l.Processes > 0 {
			s.Load = &l
		}
	}
}

// ownTree returns root and the processes below it, without those of other sessions and what is below these.
func ownTree(list []proc.Process, root proc.Identity, hosts map[proc.Identity]int) []proc.Identity {
	own, others := []proc.Identity{root}, map[int]bool{}
	for _, p := range proc.Descendants(list, root) {
		if hosts[p.Identity] > 0 || others[p.PPID] {
			others[p.PID] = true
			continue
		}
		own = append(own, p.Identity)
	}
	return own
}
