//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// row is one question that the program is asked.
type row struct {
	id    string
	name  string
	goal  string // at 10,000 sessions
	args  []string
	exits []int
	floor string
	cache cacheUse
	cold  bool   // it is also measured with files that are not in memory
	peer  string // the other program that is asked the same; see peers
}

// cacheUse is how a row uses the cache of facts.
type cacheUse int

const (
	noCache    cacheUse = iota // without, as long as the program has a way to go without
	emptyCache                 // with one that is empty at each run
	warmCache                  // with one that the run before filled
)

// noCacheFlag is the flag with which the program goes without a cache. A program without that flag has no cache: its rows with one are
// left out.
const noCacheFlag = "--no-cache"

// The text that is searched for is nowhere in a corpus; the other one in every session.
const (
	absentText = "zzqqxxyy"
	commonText = "make the build green"
)

// corpusRows are measured on the corpus.
var corpusRows = []row{
	{id: "live", name: "`list --json` (live)", goal: "≤ 0.04 s, ≤ 20 MB", args: []string{"list", "--json"}, floor: floorLive, cold: true, peer: "agentctl"},
	{id: "week", name: "`list --all --json` (7 days), no cache", goal: "≤ 0.5 s", args: []string{"list", "--all", "--json"}, floor: floorWeek, cold: true},
	{id: "week-cache", name: "`list --all --json` (7 days), cache", goal: "≤ 0.12 s", args: []string{"list", "--all", "--json"}, floor: floorStat, cache: warmCache, cold: true},
	{id: "all", name: "`list --all --since all --json`, first time", goal: "≤ 3 s", args: []string{"list", "--all", "--since", "all", "--json"}, floor: floorTotals, cache: emptyCache, cold: true, peer: "agentctl"},
	{id: "all-cache", name: "`list --all --since all --json`, cache", goal: "≤ 0.3 s, 100 × agentctl", args: []string{"list", "--all", "--since", "all", "--json"}, floor: floorStat, cache: warmCache, cold: true, peer: "agentctl"},
	{id: "search-week", name: "`search`, first hit of the last week", goal: "≤ 0.1 s", args: []string{"search", commonText, "--since", "7d", "--limit", "1", "--json"}, floor: floorWeek},
	{id: "search-all", name: "`search` of everything, no hit", goal: "≤ 3 s, ripgrep × 1.5, ≤ 60 MB", args: []string{"search", absentText, "--json"}, exits: []int{5}, floor: floorAll, cold: true, peer: "ripgrep"},
	{id: "usage", name: "`usage --since all --json`, first time", args: []string{"usage", "--since", "all", "--json"}, floor: floorUsage, cache: emptyCache, peer: "ccusage"},
	{id: "usage-cache", name: "`usage --since all --json`, cache", goal: "≤ 0.4 s", args: []string{"usage", "--since", "all", "--json"}, floor: floorStat, cache: warmCache, peer: "ccusage"},
}

// bench is a corpus that is being measured.
type bench struct {
	o       *options
	dir     string // has the corpus, and the folders of the programs
	corpus  string
	n       int
	now     *figures
	floors  map[string]floorFigures
	others  map[string]peerFigures
	hasFlag map[string]bool // whether a command has noCacheFlag
	self    string
}

// spacePerSession is the disk that a corpus takes, in bytes.
const spacePerSession = 1100 << 10

// bigSize returns the size of the big transcript for a corpus of n sessions: 4 GB for 10,000.
func bigSize(n int) int64 { return min(int64(n)*400<<10, 4<<30) }

// measureSize measures all rows on a corpus of n sessions, which it writes and removes.
func measureSize(ctx context.Context, o *options, n int, now *figures) (err error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(o.temporary, &disk); err != nil {
		return fmt.Errorf("%s: %w", o.temporary, err)
	}
	need := int64(n)*spacePerSession + bigSize(n)
	if free := int64(disk.Bavail) * disk.Bsize; free < need { //nolint:gosec // a disk of 8 EB
		return fmt.Errorf("%s has %d MB free, and %d sessions need %d MB: give another folder with TMPDIR, or fewer sessions with BENCH_N", o.temporary, free>>20, n, need>>20)
	}
	dir, err := os.MkdirTemp(o.temporary, "rollcall-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	o.binary = binary
	b := &bench{o: o, dir: dir, n: n, now: now, self: self, hasFlag: map[string]bool{}}
	if err := b.measureCorpus(ctx); err != nil {
		return fmt.Errorf("%d sessions: %w", n, err)
	}
	if err := os.RemoveAll(b.corpus); err != nil {
		return err
	}
	return b.measureBig(ctx)
}

func (b *bench) measureCorpus(ctx context.Context) error {
	rows := b.wanted(corpusRows)
	b.corpus = filepath.Join(b.dir, "corpus")
	b.floors, b.others = map[string]floorFigures{}, map[string]peerFigures{}
	progress("%d sessions: writing the corpus", b.n)
	if _, err := b.helper("write", b.corpus, fmt.Sprint(b.n)).run(ctx); err != nil {
		return err
	}
	if err := b.checkAnswers(ctx); err != nil {
		return err
	}
	for i := range rows {
		if err := b.measure(ctx, &rows[i]); err != nil {
			return fmt.Errorf("%s: %w", rows[i].name, err)
		}
	}
	return nil
}

// wanted leaves out the rows that were not asked for.
func (b *bench) wanted(rows []row) (list []row) {
	for _, r := range rows {
		if strings.Contains(r.id, b.o.only) {
			list = append(list, r)
		}
	}
	return list
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// helper returns this program as a helper.
func (b *bench) helper(args ...string) *command {
	return &command{args: append([]string{b.self, helperArgument}, args...), env: []string{"HOME=" + b.dir, "TMPDIR=" + b.dir, "PATH=" + os.Getenv("PATH")}}
}

// program returns the measured program with its own home, process table and folders.
func (b *bench) program(args []string, exits ...int) *command {
	home := filepath.Join(b.corpus, "home")
	return &command{args: append([]string{b.o.binary}, args...), exits: exits, within: b.dir, env: []string{
		"HOME=" + home, "HOST_PROC=" + filepath.Join(b.corpus, "proc"), "HOST_ETC=" + filepath.Join(b.corpus, "etc"),
		"XDG_CACHE_HOME=" + b.cacheFolder(), "XDG_STATE_HOME=" + filepath.Join(b.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(b.dir, "config"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"), "XDG_RUNTIME_DIR=" + b.dir, "TMPDIR=" + b.dir, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC",
	}}
}

func (b *bench) cacheFolder() string { return filepath.Join(b.dir, "cache") }

// checkAnswers compares the list of everything with the truth: what is wrong need not be measured.
func (b *bench) checkAnswers(ctx context.Context) error {
	list := filepath.Join(b.dir, "list.json")
	f, err := os.Create(list)
	if err != nil {
		return err
	}
	defer os.Remove(list)
	c := b.program([]string{"list", "--all", "--since", "all", "--json", "--strict"})
	c.out = f
	_, err = c.run(ctx)
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	_, err = b.helper("check", b.corpus, list).run(ctx)
	return err
}

// measure measures one row, its floor and the other program.
func (b *bench) measure(ctx context.Context, r *row) error {
	flag, err := b.hasNoCacheFlag(ctx, r.args[0])
	if err != nil {
		return err
	}
	f := figure{N: b.n, Row: r.id, Name: r.name, Goal: r.goal}
	args := r.args
	before := func() error { return nil }
	switch {
	case r.cache == warmCache && !flag:
		f.Missing = "this build has no cache"
		b.now.add(f)
		return nil
	case r.cache == noCache && flag:
		args = append(args[:len(args):len(args)], noCacheFlag)
	case r.cache == emptyCache:
		before = func() error { return os.RemoveAll(b.cacheFolder()) }
	}
	c := b.program(args, r.exits...)
	f.Warm, err = c.repeat(ctx, b.o.runs, before)
	if err != nil {
		return err
	}
	f.Floor, err = b.floor(ctx, r.floor, b.o.runs)
	if err != nil {
		return err
	}
	if r.cold {
		if err := b.cold(ctx, c, r, &f, before); err != nil {
			return err
		}
	}
	if r.peer != "" && !b.o.noPeers {
		f.Peer, f.PeerName, f.PeerMissing = b.peer(ctx, r.peer)
	}
	progress("%6d  %-16s %s", b.n, r.id, f.short())
	b.now.add(f)
	return nil
}

// cold measures a program and its floor once each, right after the files' pages were dropped.
func (b *bench) cold(ctx context.Context, c *command, r *row, f *figure, before func() error) error {
	for _, m := range []struct {
		c  *command
		to *sample
	}{{c, &f.Cold}, {b.helper("floor", r.floor, b.corpus), &f.ColdFloor}} {
		if err := before(); err != nil {
			return err
		}
		for _, dir := range []string{b.corpus, b.cacheFolder()} {
			if _, err := os.Stat(dir); err != nil {
				continue
			}
			if _, err := b.helper("evict", dir).run(ctx); err != nil {
				return err
			}
		}
		var err error
		*m.to, err = m.c.run(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// floorFigures are the runs of a floor on this corpus.
type floorFigures = sample

// floor returns the floor of that kind, which is measured once on each corpus.
func (b *bench) floor(ctx context.Context, kind string, runs int) (sample, error) {
	if have, ok := b.floors[kind]; ok {
		return have, nil
	}
	s, err := b.helper("floor", kind, b.corpus).repeat(ctx, runs, nil)
	if err == nil {
		b.floors[kind] = s
	}
	return s, err
}

// hasNoCacheFlag reports whether a command can go without a cache.
func (b *bench) hasNoCacheFlag(ctx context.Context, name string) (bool, error) {
	if have, ok := b.hasFlag[name]; ok {
		return have, nil
	}
	var help bytes.Buffer
	c := b.program([]string{name, "--help"})
	c.out = &help
	if _, err := c.run(ctx); err != nil {
		return false, err
	}
	b.hasFlag[name] = strings.Contains(help.String(), noCacheFlag)
	return b.hasFlag[name], nil
}

// measureBig measures the list of a home with a very big transcript that has a very long line.
func (b *bench) measureBig(ctx context.Context) error {
	size := bigSize(b.n)
	r := row{id: "big", name: fmt.Sprintf("a transcript of %s, with a line of %s: `list --all --json`", bytesText(size), bytesText(size/bigLine)),
		goal: "4 GB: ≤ 2 s, ≤ 64 MB above rest", args: []string{"list", "--all", "--json"}, floor: floorAll, cold: false}
	if len(b.wanted([]row{r})) == 0 {
		return nil
	}
	b.floors, b.others = map[string]floorFigures{}, map[string]peerFigures{}
	b.corpus = filepath.Join(b.dir, "big")
	if _, err := b.helper("big", b.corpus, fmt.Sprint(size)).run(ctx); err != nil {
		return err
	}
	return b.measure(ctx, &r)
}
