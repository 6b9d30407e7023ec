package worktree

import (
	"bytes"
	"strings"
)

// status is what git status says of one working tree.
type status struct {
	changed, conflicts, untracked int
	ignored                       []string // paths; a folder ends with "/"
}

// parseStatus reads git status --porcelain=v2 -z. Paths are bytes: they need not
// be text. A renamed file is followed by its former name as a field of its own.
func parseStatus(out []byte) status {
	var s status
	skip := false
	for field := range bytes.SplitSeq(out, []byte{0}) {
		if skip || len(field) < 2 {
			skip = false
			continue
		}
		switch field[0] {
		case '1':
			s.changed++
		case '2':
			s.changed++
			skip = true
		case 'u':
			s.changed++
			s.conflicts++
		case '?':
			s.untracked++
		case '!':
			s.ignored = append(s.ignored, string(field[2:]))
		}
	}
	return s
}

// FileStat is how much one file differs.
type FileStat struct {
	Path       string // as git has it: bytes, with "/"
	From       string // its former path, when it was renamed
	Insertions int
	Deletions  int
	Binary     bool
}

// Stat sums files up.
type Stat struct {
	Files, Insertions, Deletions int
}

func sum(files []FileStat) Stat {
	s := Stat{Files: len(files)}
	for _, f := range files {
		s.Insertions += f.Insertions
		s.Deletions += f.Deletions
	}
	return s
}

// parseDiff reads git diff --raw --numstat -z: first ":mode mode id id M NUL path
// NUL" for each file, then "ins TAB del TAB path NUL"; for a rename the path is
// followed, or in the second part made up, by two fields, and a binary file has
// hyphens. Files that were only touched are left out: git lists them when it may
// not refresh its index.
func parseDiff(out []byte) []FileStat {
	var files []FileStat
	same := map[string]bool{} // contents aside, nothing is different
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields); i++ {
		if raw, ok := strings.CutPrefix(fields[i], ":"); ok && i+1 < len(fields) {
			i++
			f := strings.Fields(raw)
			if len(f) == 5 && (f[4][0] == 'R' || f[4][0] == 'C') {
				i++
			} else if len(f) == 5 {
				same[fields[i]] = f[4] == "M" && f[0] == f[1]
			}
			continue
		}
		parts := strings.SplitN(fields[i], "\t", 3)
		if len(parts) != 3 {
			continue
		}
		f := FileStat{Path: parts[2], Binary: parts[0] == "-"}
		f.Insertions, f.Deletions = number(parts[0]), number(parts[1])
		if f.Path == "" && i+2 < len(fields) {
			f.From, f.Path = fields[i+1], fields[i+2]
			i += 2
		}
		if f.Insertions+f.Deletions > 0 || f.Binary || !same[f.Path] {
			files = append(files, f)
		}
	}
	return files
}

func number(s string) int {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// hiddenFiles counts the files that git was told not to look at, out of git
// ls-files -v -z: their changes show in no status. The tag is a small letter for
// assume-unchanged, S for skip-worktree.
func hiddenFiles(out []byte, present func(path string) bool) int {
	n := 0
	for field := range bytes.SplitSeq(out, []byte{0}) {
		if len(field) < 3 {
			continue
		}
		tag := field[0]
		if (tag == 'S' || 'a' <= tag && tag <= 'z') && present(string(field[2:])) {
			n++
		}
	}
	return n
}
