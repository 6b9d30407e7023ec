package claudecode

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/adapters/internal/agentfile"
)

// summaryLimit is the number of bytes at the beginning of a transcript in which titles of other sessions are searched for.
const summaryLimit = 32 << 10

var summaryMark = []byte(`{"type":"summary"`)

// addSummaries adds the titles of the sessions that have no other. Up to 2.0.x, Claude Code writes the title of a session at the beginning of the transcript of a
// session that begins later, and names the last record of the first one (1.0.128): it is the title as long as that record is the last.
func (d *discovery) addSummaries() {
	byDir := map[string][]*session{}
	for _, s := range d.wanted {
		if f := &s.facts; s.file != nil && s.err == nil && floor.IsOlder(f.version) && f.customTitle == "" && f.aiTitle == "" {
			byDir[s.file.dir] = append(byDir[s.file.dir], s)
		}
	}
	dirs := slices.Collect(maps.Keys(byDir))
	agentfile.Parallel(len(dirs), func(i int) {
		found := d.summariesIn(dirs[i])
		for _, s := range byDir[dirs[i]] {
			s.summary = cmp.Or(found[s.facts.spoken], found[s.facts.leaf])
		}
	})
}

// summariesIn returns the titles in the transcripts of a project folder, by the records that they name. Of several for one record, that in the transcript
// that was written last counts.
func (d *discovery) summariesIn(dir string) map[uint64]string {
	names, _ := d.adapter.namesIn(d.ctx, dir) // the problem was reported when the transcripts were listed
	type head struct {
		info fs.FileInfo
		text []byte
	}
	var heads []head
	for _, name := range names {
		if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		if agentfile.Ended(d.ctx) != nil {
			d.answer.Skip("transcript in which there was no time to search for titles", 1)
			continue
		}
		f, info, err := agentfile.OpenRegular(filepath.Join(dir, name))
		if err != nil { // reported for the session of the transcript
			continue
		}
		text, err := io.ReadAll(io.LimitReader(f, summaryLimit))
		_ = f.Close()
		if err == nil && bytes.Contains(text, summaryMark) {
			heads = append(heads, head{info, text})
		}
	}
	slices.SortStableFunc(heads, func(a, b head) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	found := map[uint64]string{}
	for _, h := range heads {
		for line := range bytes.Lines(h.text) {
			addSummary(found, line)
		}
	}
	delete(found, 0)
	return found
}

func addSummary(found map[uint64]string, line []byte) {
	if !bytes.HasPrefix(line, summaryMark) {
		return
	}
	var title, leaf []byte
	if agentfile.Members(line, agentfile.Into("summary", &title), agentfile.Into("leafUuid", &leaf)) == nil {
		found[hash(leaf)] = text(title)
	}
}
