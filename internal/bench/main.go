//go:build linux

// Command bench measures the built program on corpora of sessions (package corpus), beside a bare loop that does the same
// reads, and beside other programs where they are installed. It writes docs/benchmarks.md and the figures behind it;
// with -check it compares the figures with the committed ones instead. See make bench.
//
// The corpus is written to a temporary folder, which is removed. The programs see it as HOME and, through HOST_PROC and HOST_ETC, as the
// process table: no real home and no real process is read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	binary    string // the program that is measured
	desktop   string // not empty: the tray is measured as well, of the desktop build
	peers     string // folder of an npm installation with other programs
	temporary string
	sizes     []int
	runs      int
	only      string // part of the ids of the rows that are measured; empty: all
	limit     time.Duration
	check     bool
	baseline  string
	document  string
	version   string
	note      string // a sentence about the circumstances
	noPeers   bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == helperArgument {
		if err := help(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	var sizes string
	flag.StringVar(&o.binary, "binary", "build/rollcall-headless", "the program that is measured")
	flag.StringVar(&o.desktop, "desktop", "", "measure the tray with the desktop build; empty: without")
	flag.StringVar(&o.peers, "peers", "build/peers", "folder into which npm installed other programs")
	flag.StringVar(&o.temporary, "tmp", os.TempDir(), "folder for the corpus: 0.7 MB for each session, which is removed")
	flag.StringVar(&sizes, "n", "100,1000,10000", "numbers of sessions, separated by commas")
	flag.IntVar(&o.runs, "runs", 3, "how often each command is run; the median counts")
	flag.StringVar(&o.only, "rows", "", "only the rows whose name has this text; they replace those of the figures so far")
	flag.DurationVar(&o.limit, "limit", 150*time.Second, "after which another program is ended")
	flag.BoolVar(&o.check, "check", false, "compare with the committed figures, and write nothing")
	flag.BoolVar(&o.noPeers, "no-peers", false, "measure no other programs")
	flag.StringVar(&o.baseline, "baseline", "internal/bench/figures.json", "the committed figures")
	flag.StringVar(&o.document, "document", "docs/benchmarks.md", "the document that is written")
	flag.StringVar(&o.note, "note", "", "a sentence about the circumstances, for the document")
	flag.StringVar(&o.version, "version", "", "of the program, for the document")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := parseSizes(sizes, &o)
	if err == nil {
		err = run(ctx, &o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func parseSizes(text string, o *options) error {
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 10 || n > 100_000 {
			return fmt.Errorf("-n is a list of numbers from 10 to 100000, not %q", text)
		}
		o.sizes = append(o.sizes, n)
	}
	if o.runs < 1 {
		return errors.New("-runs is at least 1")
	}
	return nil
}

// run measures everything, then writes or compares. What was measured before an error is written, so that the next
// run can be of the rest.
func run(ctx context.Context, o *options) error {
	committed, err := readFigures(o.baseline)
	if err != nil {
		return err
	}
	now := &figures{Machine: machine(), Version: o.version, Note: o.note, Date: time.Now().UTC().Format(time.DateOnly)}
	var failed error
	for _, n := range o.sizes {
		failed = measureSize(ctx, o, n, now)
		if failed != nil {
			break
		}
	}
	if failed == nil && o.desktop != "" {
		failed = measureDesktop(ctx, o, now)
	}
	printTable(os.Stdout, now)
	if o.check {
		return errors.Join(failed, compare(os.Stdout, committed, now))
	}
	committed.merge(now)
	if err := committed.write(o.baseline); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, writeDocument(o.document, committed))
}
