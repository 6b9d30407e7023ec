// Package metrics describes the sessions of this machine, and what Rollcall owns, as metrics for Prometheus. It has no
// state: each call describes one look. A process that runs on calls Read and WriteFile every 15 s.
package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/store/lock"
)

// Look contains the sessions and what Rollcall owns at one moment. A nil list of locks, fuses or launches means that they are not known; it has no metrics. An
// empty list means that there are none.
type Look struct {
	Version  string // of Rollcall
	Build    string // "desktop" or "headless"
	Snapshot *app.Snapshot
	Locks    []lock.Lock
	Fuses    []fuse.Fuse
	Launches []launch.Record
	Limits   []app.AgentLimits
	Keeper   *Keeper // nil: the look is not the keeper's
}

// Keeper contains the facts about the keeper itself.
type Keeper struct {
	Since  time.Time
	Ends   map[adapters.Outcome]int // of sessions, since then
	CPU    float64                  // in seconds
	Memory float64                  // in bytes; 0: neither is known
}

// NewKeeper returns a Keeper with the processor time and the memory of this process.
func NewKeeper(since time.Time, ends map[adapters.Outcome]int) *Keeper {
	k := &Keeper{Since: since, Ends: ends}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, _ := r.Gather() // if they can't be read, the values are not known
	for _, f := range families {
		if len(f.GetMetric()) != 1 {
			continue
		}
		switch f.GetName() {
		case "process_cpu_seconds_total":
			k.CPU = f.GetMetric()[0].GetCounter().GetValue()
		case "process_resident_memory_bytes":
			k.Memory = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return k
}

// Read returns a look with this snapshot, which should have the totals of tokens. l and f may be nil. The error names the
// launches, locks or fuses that could not be read; the look has no list of them.
func Read(ctx context.Context, snap *app.Snapshot, l *launch.Launches, f *fuse.Fuses) (Look, error) {
	look := Look{Snapshot: snap}
	var errs []error
	if l != nil {
		var err error
		look.Launches, err = known(l.List())
		errs = append(errs, err)
		look.Locks, err = known(l.Locks().List())
		errs = append(errs, err)
	}
	if f != nil {
		var err error
		look.Fuses, err = known(f.List())
		errs = append(errs, err)
	}
	return look, errors.Join(append(errs, ctx.Err())...)
}

// known returns list, or an empty list in place of nil. It returns nil if a part of the list could not be read, since a
// number that is too small would look right.
func known[T any](list []T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return append([]T{}, list...), nil
}

// Write writes the metrics of a look in Prometheus' text format.
func (l *Look) Write(w io.Writer) error {
	families, err := l.registry().Gather()
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	var b bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}

// WriteFile replaces a file with the metrics of a look, for the textfile collector of node_exporter. Every user can
// read the file. A reader sees the old or the new metrics as a whole.
func (l *Look) WriteFile(path string) error {
	if err := prometheus.WriteToTextfile(path, l.registry()); err != nil {
		return fmt.Errorf("the metrics cannot be written to %s: %w", path, err)
	}
	return nil
}

// registry returns a registry with the metrics of the look alone.
func (l *Look) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(l) // never panics, since l is the only collector
	return r
}

// Describe implements prometheus.Collector. It describes nothing, since the set of metrics depends on the look.
func (l *Look) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (l *Look) Collect(ch chan<- prometheus.Metric) {
	c := collection(ch)
	c.gauge(info, 1, l.Version, l.Build)
	if l.Snapshot != nil {
		c.gauge(lookTime, float64(l.Snapshot.At.UnixMilli())/1e3)
		c.adapters(l.Snapshot)
		c.sessions(l.Snapshot)
		c.usage(l.Snapshot)
		c.limits(l.Limits, l.Snapshot.At)
	}
	if l.Keeper != nil {
		c.keeper(l.Keeper)
	}
	if l.Locks != nil {
		count := map[lock.Kind]int{lock.Auto: 0, lock.Manual: 0}
		for _, k := range l.Locks {
			count[k.Kind]++
		}
		each(c, locks, count)
	}
	if l.Fuses != nil {
		each(c, fuses, l.fuseStates())
	}
	if l.Launches != nil {
		count := map[string]int{"running": 0, "ended": 0}
		for i := range l.Launches {
			if l.Launches[i].Ended() {
				count["ended"]++
			} else {
				count["running"]++
			}
		}
		each(c, launches, count)
	}
}

func (l *Look) fuseStates() map[string]int {
	now := time.Now()
	if l.Snapshot != nil {
		now = l.Snapshot.At
	}
	count := map[string]int{"set": 0, "overdue": 0, "fired": 0}
	for i := range l.Fuses {
		switch x := &l.Fuses[i]; {
		case x.Fired():
			count["fired"]++
		case now.After(x.Expires):
			count["overdue"]++
		default:
			count["set"]++
		}
	}
	return count
}
