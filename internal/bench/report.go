//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// cells returns a row for a table.
func (f *figure) cells() []string {
	if f.Missing != "" || f.Text != "" {
		return []string{f.Name, f.Goal, f.Missing + f.Text}
	}
	other := ""
	switch {
	case f.PeerMissing != "":
		other = f.PeerName + ": –"
	case f.Peer.Wall > 0:
		other = fmt.Sprintf("%s %s, %s: wall ÷ %s, CPU ÷ %s", f.PeerName, seconds(f.Peer.Wall), bytesText(f.Peer.Memory),
			ratio(f.Peer.Wall, f.Warm.Wall), ratio(f.Peer.CPU, f.Warm.CPU))
	}
	return []string{f.Name, f.Goal, seconds(f.Warm.Wall), seconds(f.Warm.CPU), bytesText(f.Warm.Memory),
		ratio(f.Warm.Wall, f.Floor.Wall), ratio(f.Warm.CPU, f.Floor.CPU), seconds(f.Cold.Wall), ratio(f.Cold.Wall, f.ColdFloor.Wall), other}
}

var header = []string{"question", "goal at 10,000", "warm", "CPU", "memory", "× floor", "CPU × floor", "cold", "× floor, cold", "other program"}

// printTable prints what was measured.
func printTable(w io.Writer, f *figures) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "N\t"+strings.Join(header, "\t"))
	for i := range f.Rows {
		fmt.Fprintf(t, "%d\t%s\n", f.Rows[i].N, strings.Join(f.Rows[i].cells(), "\t"))
	}
	_ = t.Flush()
}

// introduction begins the document.
const introduction = `# Benchmarks

` + "`make bench`" + ` writes this page, and ` + "`make bench-check`" + ` compares a new run with it: see [CONTRIBUTING.md](../CONTRIBUTING.md). The corpora are seeded: 40 % of the sessions are
Claude Code's, 30 % Codex's, 20 % OpenCode's and 10 % Pi's, over 90 days, 90 % of them older than a week, 10 live; a transcript has 136 KB in the median and up to 55 MB. Each
list of everything is compared with the truth before anything is measured.

**warm** is the median of several runs of the whole program, from its start to its end, with the files in memory. **cold** is one run after the pages of all files were dropped; folders
and inodes stay in memory. **CPU** is user and system time of all its threads, **memory** the largest resident size. **floor** is a bare loop in Go, on all cores, that lists, examines and reads what
the question cannot do without and does nothing else, in the same run. Compare the ratios, not the seconds: they depend on the machine. Other programs ran
in the same run, on the same files, without a network; they answer similar questions, not the same ones: agentctl lists sessions without exact totals, ccusage sums up Claude Code's tokens
alone, ripgrep counts the lines of all files below the home.
`

// besideTabs compares the window with an earlier one, of one run by hand.
const besideTabs = `
## The window, beside the one with tabs

By hand, on a virtual screen without a graphics card, over a corpus of 1,000 sessions, on a busy machine: both programs in turns, so only the ratios count. The window with tabs
is c28398ee, before the sidebar, Markdown and the composer.

| what | goal | × the window with tabs |
| --- | --- | --- |
| memory, 50 s after the start | ≤ 1.1 | 1.02 (medians of three and four runs; 228 to 240 MB, half of it the software renderer's) |
| CPU until the window is visible | ≤ 1 | 1.00 |
| CPU of the first 20 s, with the list and the first conversation | ≤ 1 | 0.94 |
| CPU while it is open and idle | ≤ 1 | 1.02, within the spread of the runs (0.8 to 1.2); 1.7 % of a core |

A conversation shows its last 500 messages, and says that ` + "`" + `rollcall peek` + "`" + ` shows earlier ones. ` + "`" + `BenchmarkConversation500` + "`" + `, with 5,000 messages and with 500: scrolling is the same (the slowest
frame lays out for 0.05 ms, since only the offset changes), but showing them for the first time takes 28 times as long, and another width 12 times. A list that makes only the visible rows
would need the height of each message before it is shown, and the height of a wrapped text is known only once it was laid out: that is what takes the time.
`

// besideCcusage compares what is counted with ccusage, of one run by hand.
const besideCcusage = `
## What counts, beside ccusage

The sums of ` + "`" + `usage` + "`" + ` are held to the token against a count that reads every line of every file (` + "`" + `TestLedger` + "`" + `). ccusage 20.0.26 and 18, offline, on the three homes that
120 steps of that test leave (seed 5: forks, continued sessions, sub-agents, copies, removed originals):

| agent | ` + "`" + `usage` + "`" + `: input, output | ccusage 20 | the difference |
| --- | --- | --- | --- |
| Claude Code | 51,644, 5,151 | 61,331, 6,162 | 9,687 and 1,011: two files of sub-agents whose session is gone. ` + "`" + `usage` + "`" + ` leaves them out and says so. ccusage 18 has the same input and an output of 3,313: it takes the first block of an answer, whose count is not complete |
| Codex | 62,594, 5,547 | 65,572, 5,669 | 2,978 and 122: four forks that copied a single answer. ccusage recognises a copy from the second answer on |
| Pi | 50,955, 5,607 | 59,485, 6,730 | 2,812 and 315: sub-agents whose session is gone; 5,718 and 808: answers that forks copied, which ccusage counts in each file |
`

// processorTime is what was measured by hand: single questions before and after, and encoders for the cache.
const processorTime = `
## Processor time on a busy machine, 10,000 sessions

2026-11-26, AMD EPYC, 2 cores with a load of 10 to 15, database store, files in memory. "before the ledger" is e31eb70c, "one file" is 4313959b, which kept the facts and the ledger of a transcript in one entry of the cache; now the ledgers have a file
of their own. The programs ran in turns, 9 times.

| CPU, median (minimum) | before the ledger | one file | now |
| --- | --- | --- | --- |
| ` + "`" + `usage --since all --json` + "`" + `, cache | 0.81 s (0.73) | 1.20 s (1.07) | 1.01 s (0.82) |
| ` + "`" + `list --all --since all --json` + "`" + `, cache | 0.82 s (0.73) | 0.89 s (0.68) | 0.71 s (0.67) |
| ` + "`" + `status PREFIX --json` + "`" + ` | 0.69 s (0.58) | 0.59 s (0.51) | 0.59 s (0.51) |
| ` + "`" + `list --all --json` + "`" + `, cache | 0.35 s (0.32) | 0.36 s (0.28) | 0.35 s (0.23) |

- The cache has 6 MB of facts and 18 MB of ledgers, for 924,000 answers. Lists and ` + "`" + `status` + "`" + ` take no longer than before the ledger, and a list of everything 81 MB of memory instead of 97.
- ` + "`" + `usage` + "`" + ` reads the sums that each ledger holds, and single answers only of sessions with an id that is repeated. What remains above the time before the ledger is loading the ledgers (10 % of ` + "`" + `usage` + "`" + `) and looking for repeated ids (5 %). A quarter of ` + "`" + `usage` + "`" + ` is OpenCode's database. With a
  load below 2 it took 0.75 to 0.89 s of CPU and at best 0.43 s of wall time: the goal of 0.4 s is missed. With twice the heap for the garbage collector (GOGC=200, which it sets itself now) it takes × 0.89 of the CPU (15 runs in turns, a load of 10 to 20), for 10 to 40 MB.
- ` + "`" + `search` + "`" + ` of everything without a hit took 8.1 and 9.1 s of CPU, ripgrep 4.2 and 2.4 s: wall × 1.3 and × 3.1. Two runs are not enough to say whether × 2 is kept.
- When the menu opens, ` + "`" + `Core.RefreshLive` + "`" + ` asks for the live sessions alone, keeps the rows of those that had stopped, and asks for all behind it. Before, the menu waited for the question about all sessions that have changed since the tray started, which examines every transcript: Claude Code's 4,000
  (39 % of its samples), Pi's two 1,000 each (33 %). ` + "`" + `BenchmarkRefresh/tray/again` + "`" + ` (before) and ` + "`" + `/live` + "`" + ` (now), five pairs of 100 openings with a load of 8 to 20: p50 × 0.16 to 0.38 (88 to 273 ms before, 23 to 74 ms now), p99 × 0.24 to 1.0, median × 0.37 (255 to 575 ms before, 86 to 454 ms now: the load decides it).
  The processor time of an opening grows, × 1.2 to 1.6, since the question about all still follows, for what began and ended between two questions. On a quiet machine the question about all took 71 to 78 ms of CPU, p50 46 to 50 ms, p99 78 to 89 ms, and that about live sessions 24 to 30 ms, p50 15 to 20 ms, p99 24 ms. At the panel of a real tray on a quiet machine, one pair each: openings 200 ms apart p50 98 ms before and 88 ms now, p99 508 and 140 ms; 1 s apart p50 130 and 106 ms, p99 192 and 153 ms.
- With a load of 10, the menu waited in 40 of 203 openings at the panel for a question about all of Claude Code's sessions that a watched change had started, up to 1.4 s. The question about live sessions interrupts it now. In 89 openings an agent that is not installed answered last: it waited for a second reading of the
  process table (1.5 readings for each opening, 1.1 now). Of the processor time of a question 42 % was finding out who listens on the port of the OpenClaw gateway, half of it since the kernel's tables in /proc walk its table of connections, whose size follows from the memory (5 ms each). ` + "`" + `sock_diag` + "`" + ` lists the listening sockets alone, and each process is
  read once: 19 ms before, 3 ms now. ` + "`" + `BenchmarkRefresh/tray/live` + "`" + `, before and now, seven pairs of 30 openings with a load of 8 to 21: p50 × 0.56, p99 × 0.62, CPU × 0.63. At the panel of a quiet machine it makes no difference that can be seen (200 openings: p50 95 ms, p99 145 ms; 88 and 140 ms before): the goal of 40 ms is missed.
- At the panel of a real tray, an opening was measured part by part (46 openings a second apart, a load of 10 to 16; medians: 107 ms in all). The question about live sessions took 37 ms, and 65 ms passed from its last answer to the panel's:

  | part of an opening | before | now |
  | --- | --- | --- |
  | waiting until the adapters have asked for the process table | 0.7 ms | 3 ms |
  | reading it, 300 processes | 3 to 5 times, one after another, 4 ms each on a free processor | once |
  | Claude Code's transcripts of the live sessions | 7 ms of CPU: the names of 4,000 in 203 folders | 2 ms: the stamps of the folders |
  | rows, icon and tooltip, until the panel has its answer | 65 ms, beside the question about all sessions, which began at once | 0.5 ms |

  The question about all sessions now follows after 0.3 s. The rows are sent before the icon, which a call over the bus carries in all sizes. Four agents that are not installed no longer make the answer wait for another reading of the process table, and a
  reading waits as long as adapters come, at most 3 ms. Before and now, three pairs of 12 openings a second apart at the panel, a load of 10 to 20: p50 142 and 28 ms (× 0.19), p99 298 and 104 ms (× 0.35), CPU × 0.85. No adapter is behind what remains of the p99:
  the processors had other work. The openings that nothing disturbed took 11 to 14 ms. On a quiet machine (200 openings at the panel, each right after a change, 600 ms apart): p50 20 ms, p99 35 ms, at most 41 ms, so that the goal of 40 ms is
  reached; five windows were visible after 0.23 s in the median and 0.40 s at most.
- The program compiled 60 regular expressions at its start that only judge commands. They are compiled when they are used: ` + "`" + `--version` + "`" + ` wall × 0.49 (21 runs in turns), ` + "`" + `list --json` + "`" + ` × 0.89, ` + "`" + `status PREFIX` + "`" + ` × 0.89 (CPU × 0.98), ` + "`" + `usage` + "`" + ` no difference (a load of 12).

## The encoder of the cache

The encoder of package factcache follows the types with reflection. Others were measured in place of it on the 12,251 values that the cached list of 10,000 sessions loads, in one process, one goroutine, the best of five. That list takes 1.0 s of
CPU in the same minute.

| encoder | decoding | size | share of the list |
| --- | --- | --- | --- |
| factcache | 62 ms | 23.8 MB | 6 % |
| encoding/gob, types sent once | 65 ms | 24.5 MB | 6 % |
| encoding/gob, each value by itself | 1,989 ms | 135 MB | 199 % |
| encoding/json | 627 ms | 39.0 MB | 63 % |
| github.com/ugorji/go/codec 1.3.2, MessagePack, fields by position | 69 ms | 24.2 MB | 7 % |
| the same, CBOR | 91 ms | 24.2 MB | 9 % |
| github.com/vmihailenco/msgpack 5.4.1, fields by position | 117 ms | 24.3 MB | 12 % |

The time allows MessagePack or CBOR. They encode exported fields only, and the facts of all adapters are unexported: the values were measured through types with the same layout and exported names. The own encoder stays until the facts have
exported fields. gob with its types sent once does not serve: the entries of one file come from several processes, whose numbers of types differ.
`

// writeDocument writes the page with all figures.
func writeDocument(path string, f *figures) error {
	var b strings.Builder
	b.WriteString(introduction)
	fmt.Fprintf(&b, "\nLast measured: %s, %s, on %s. %s\n", f.Date, f.Version, f.Machine, f.Note)
	sizes := make([]int, 0, 4)
	for i := range f.Rows {
		if n := f.Rows[i].N; !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	slices.Sort(sizes)
	for _, n := range sizes {
		if n > 0 {
			f.section(&b, n)
		}
	}
	f.otherRows(&b)
	b.WriteString(besideTabs)
	b.WriteString(besideCcusage)
	b.WriteString(processorTime)
	f.reasons(&b)
	return os.WriteFile(path, []byte(b.String()), 0o644) //nolint:gosec // a page of the repository
}

func (f *figures) section(b *strings.Builder, n int) {
	fmt.Fprintf(b, "\n## %d sessions\n\n| %s |\n|%s\n", n, strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for i := range f.Rows {
		if row := &f.Rows[i]; row.N == n && row.Missing == "" && row.Text == "" {
			fmt.Fprintf(b, "| %s |\n", strings.Join(row.cells(), " | "))
		}
	}
}

// otherRows lists what was measured on a desktop.
func (f *figures) otherRows(b *strings.Builder) {
	first := true
	for i := range f.Rows {
		row := &f.Rows[i]
		if row.Text == "" {
			continue
		}
		if first {
			b.WriteString("\n## Tray and window\n\nOn a virtual screen with a real panel, with 10,000 sessions on disk, 300 processes and 10 live agents.\n\n| what | goal | measured |\n| --- | --- | --- |\n")
			first = false
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", row.Name, row.Goal, row.Text)
	}
}

// reasons lists what was not measured, and why.
func (f *figures) reasons(b *strings.Builder) {
	var lines []string
	note := func(text string) {
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	for i := range f.Rows {
		row := &f.Rows[i]
		if row.Missing != "" {
			note(fmt.Sprintf("%s: %s.", row.Name, row.Missing))
		}
		if row.PeerMissing != "" && row.PeerMissing != peers[row.PeerName].without {
			note(fmt.Sprintf("%s with %d sessions: %s.", row.PeerName, row.N, row.PeerMissing))
		} else if row.PeerMissing != "" {
			note(row.PeerMissing + ".")
		}
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n## Not measured\n\n")
	for _, line := range lines {
		b.WriteString("- " + line + "\n")
	}
}
