//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// peer is another program that answers a similar question.
type peer struct {
	names   []string // of its program
	args    []string // after it; the home is added where inHome is set
	inHome  bool
	exits   []int
	runs    int
	without string // why it is not measured where it is not installed
}

// peers are the other programs by the name that a row gives.
var peers = map[string]peer{
	"agentctl": {names: []string{"agentctl"}, args: []string{"list", "-a", "--json"}, runs: 1, without: "agentctl is not installed: its package is not in the npm registry"},
	"ccusage":  {names: []string{"ccusage"}, args: []string{"daily", "--json", "--offline"}, runs: 1, without: "ccusage is not installed (make bench-peers)"},
	"ripgrep":  {names: []string{"rg"}, args: []string{"-uu", "-i", "-a", "-c", absentText}, inHome: true, exits: []int{1}, runs: 3, without: "ripgrep is not installed"},
}

// peerFigures are the runs of another program on a corpus, or why there are none.
type peerFigures struct {
	sample
	missing string
}

// peer measures another program, once on each corpus. It has the corpus's home, no network, and a process table of its own, so that it sees
// nothing of this machine's sessions.
func (b *bench) peer(ctx context.Context, name string) (s sample, called, missing string) {
	if have, ok := b.others[name]; ok {
		return have.sample, name, have.missing
	}
	found := b.measurePeer(ctx, peers[name])
	b.others[name] = found
	return found.sample, name, found.missing
}

func (b *bench) measurePeer(ctx context.Context, p peer) (found peerFigures) {
	program := b.findPeer(p.names)
	switch {
	case program == "":
		return peerFigures{missing: p.without}
	case os.Getuid() != 0:
		return peerFigures{missing: "only root can run it in namespaces of its own"}
	}
	home := filepath.Join(b.corpus, "home")
	args := append([]string{program}, p.args...)
	if p.inHome {
		args = append(args, home)
	}
	c := &command{args: args, exits: p.exits, alone: true, limit: b.o.limit, within: b.dir,
		env: []string{"HOME=" + home, "TMPDIR=" + b.dir, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1"}}
	runs := p.runs
	var err error
	if runs > 1 {
		found.sample, err = c.repeat(ctx, runs, nil)
	} else { // it takes minutes: the files are in memory from the rows before
		found.sample, err = c.run(ctx)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		found.missing = "not finished in " + b.o.limit.String()
	case err != nil:
		found.missing = err.Error()
	}
	return found
}

// findPeer returns the path of a program: of the npm installation, or of the system.
func (b *bench) findPeer(names []string) string {
	for _, name := range names {
		if path, err := filepath.Abs(filepath.Join(b.o.peers, "node_modules", ".bin", name)); err == nil {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
