package worktree

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// moved is one entry of a reflog: HEAD became this commit at a time.
type moved struct {
	commit, why string
	at          int64
}

// headAt returns the commit that the HEAD of a working tree had at a time, and a note for the user where it can't be known: then it is the nearest commit that is.
// An empty commit says that there was none.
func (g *Git) headAt(ctx context.Context, tree *snapshot, at time.Time) (commit, note string, err error) {
	switch {
	case tree.head == "":
		return "", "", nil
	case at.IsZero():
		return tree.head, "when it began is not known, so this is only what is not committed", nil
	}
	log, err := g.reflog(ctx, tree.tree)
	if err != nil {
		return "", "", err
	}
	for _, m := range log { // the newest first
		if m.at <= at.Unix() {
			return m.commit, "", nil
		}
	}
	if len(log) > 0 {
		switch oldest := log[len(log)-1]; {
		case strings.HasPrefix(oldest.why, "commit (initial)"):
			return "", "", nil
		case strings.HasPrefix(oldest.why, "clone: "), oldest.why == "": // git worktree add gives no reason
			return oldest.commit, "the working tree is younger, so this is what changed since it was made", nil
		}
	}
	out, err := g.ask(ctx, tree.tree, "rev-list", "--max-count=1", "--first-parent", "--min-age="+strconv.FormatInt(at.Unix(), 10), tree.head)
	if err != nil {
		return "", "", err
	}
	return line(out), "git's reflog does not reach back to then, so this goes by the dates of commits", nil
}

// reflog returns where the HEAD of a working tree has been, the newest first. It is empty where git keeps no log.
func (g *Git) reflog(ctx context.Context, dir string) ([]moved, error) {
	out, err := g.ask(ctx, dir, "log", "--no-mailmap", "--no-patch", "--walk-reflogs", "-z", "--date=unix", "--format=%H %gd %gs", "HEAD")
	if err != nil && !refused(err) {
		return nil, err
	}
	return parseReflog(out), nil
}

// parseReflog parses the output of reflog: "ID HEAD@{SECONDS} reason".
func parseReflog(out []byte) (list []moved) {
	for entry := range strings.SplitSeq(string(out), "\x00") {
		id, rest, _ := strings.Cut(entry, " ")
		selector, why, _ := strings.Cut(rest, " ")
		seconds, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(selector, "HEAD@{"), "}"), 10, 64)
		if err == nil {
			list = append(list, moved{commit: id, why: why, at: seconds})
		}
	}
	return list
}
