//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// byHand is between the figures and what was measured and written by hand, which stays.
const byHand = "\n<!-- What follows was measured and written by hand. -->\n"

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
	f.reasons(&b)
	b.WriteString(byHand)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, kept, _ := strings.Cut(string(before), byHand)
	b.WriteString(kept)
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
