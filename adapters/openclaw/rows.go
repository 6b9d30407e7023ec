package openclaw

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"rollcall/adapters/internal/kit"
)

const (
	pageSize = 1000
	overlap  = 25 // rows that are asked for again, since the list changes while it is read
	// maxRows is the largest number of sessions of a gateway that are listed, the
	// newest ones. The others are counted.
	maxRows = 10_000
	// fewIDs is the largest number of sessions that are searched for one by one.
	fewIDs = 4
)

// row is a session in the answer to sessions.list. Members differ from version to
// version; those that are missing, or have another type, are zero.
type row struct {
	Key        string `json:"key"`
	SessionID  string `json:"sessionId"`
	AgentID    string `json:"agentId"`
	Label      string `json:"label"`
	Display    string `json:"displayName"`
	Derived    string `json:"derivedTitle"`
	Status     string `json:"status"`
	Active     *bool  `json:"hasActiveRun"`
	Aborted    bool   `json:"abortedLastRun"`
	RunError   string `json:"lastRunError"`
	RunID      string `json:"lastRunId"`
	Model      string `json:"model"`
	ActiveName string `json:"activeModel"`
	SpawnedBy  string `json:"spawnedBy"`
	ParentKey  string `json:"parentSessionKey"`
	Workspace  string `json:"workspaceDir"`
	SpawnedCWD string `json:"spawnedCwd"`
	Root       string `json:"sessionRoot"`
	File       string `json:"sessionFile"`

	Updated     number `json:"updatedAt"`
	Created     number `json:"createdAt"`
	Started     number `json:"startedAt"`
	Ended       number `json:"endedAt"`
	Interaction number `json:"lastInteractionAt"`
	Input       number `json:"inputTokens"`
	Output      number `json:"outputTokens"`
	Total       number `json:"totalTokens"`
	TotalFresh  *bool  `json:"totalTokensFresh"`
	Window      number `json:"contextTokens"`

	stored bool // the row comes from a sessions.json
}

// number is any number of a gateway; another type counts as none.
type number float64

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) == nil {
		*n = number(f)
	}
	return nil
}

// count returns the number as a number of tokens. It returns 0 for a value that can't
// be one.
func (n number) count() int64 {
	if n < 0 || float64(n) > 1<<53 || math.IsNaN(float64(n)) {
		return 0
	}
	return int64(n)
}

// time returns the number as a time in milliseconds since the epoch, as all times of a
// gateway are. It is zero for a value that can't be one.
func (n number) time() time.Time {
	if n < 1e11 || n > 1e14 { // before 1973 or after 5138: no time in milliseconds
		return time.Time{}
	}
	return time.UnixMilli(int64(n))
}

// page is the answer to sessions.list.
type page struct {
	Sessions *[]json.RawMessage `json:"sessions"`
	Total    *number            `json:"totalCount"`
	Next     *number            `json:"nextOffset"`
	More     bool               `json:"hasMore"`
}

// parseRows reads the rows of a page. It counts the values that are not sessions.
func parseRows(raw []json.RawMessage, skipped map[string]int) []row {
	rows := make([]row, 0, len(raw))
	for _, b := range raw {
		var r row
		err := json.Unmarshal(b, &r)
		var typ *json.UnmarshalTypeError
		switch {
		case err != nil && !errors.As(err, &typ), !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")):
			skipped["session row that is not an object"]++
			continue
		case r.Key == "" && r.SessionID == "":
			skipped["session row without a key"]++
			continue
		case err != nil:
			skipped["session row with a member of another type"]++
		}
		rows = append(rows, r)
	}
	return rows
}

// sessions lists all rows, or those of few ids. partial is the error for the missing
// ones.
func (c *client) sessions(ctx context.Context, ids []string, skipped map[string]int) (rows []row, partial, err error) {
	if len(ids) == 0 || len(ids) > fewIDs {
		return c.list(ctx, "", skipped)
	}
	seen := map[string]bool{}
	for _, id := range ids {
		id, _, _ = strings.Cut(id, idMark)
		found, p, err := c.list(ctx, id, skipped)
		if err != nil {
			return nil, nil, err
		}
		partial = errors.Join(partial, p)
		for _, r := range found {
			if !seen[r.Key] {
				seen[r.Key] = true
				rows = append(rows, r)
			}
		}
	}
	return rows, partial, nil
}

// list asks for the sessions page by page, newest first, until it has maxRows. Pages
// overlap, and the first is read again at the end: a session that takes a turn
// meanwhile moves to the front. Of a gateway that knows no offsets, as before 2026.6, only the first page is listed, and
// the others are missing.
func (c *client) list(ctx context.Context, search string, skipped map[string]int) (rows []row, partial, err error) {
	l := lister{client: c, search: search, at: map[string]int{}}
	offset := 0
	for {
		p, err := l.page(ctx, offset, pageSize, skipped)
		if err != nil {
			return nil, nil, err
		}
		if p.Next == nil || !p.More || len(l.rows) >= maxRows {
			break
		}
		next := int(p.Next.count())
		if next <= offset || len(*p.Sessions) == 0 {
			return nil, nil, &kit.FormatError{Err: fmt.Errorf("sessions.list returns the same page again at offset %d", offset)}
		}
		offset = max(next-overlap, offset+1)
	}
	if offset > 0 {
		if _, err := l.page(ctx, 0, pageSize, skipped); err != nil {
			return nil, nil, err
		}
	}
	return l.rows, l.missing(skipped), nil
}

// missing reports the sessions that the gateway has and that are not listed. Those beyond maxRows, which are older than all that are listed, are counted in
// skipped. Every other missing session is an error.
func (l *lister) missing(skipped map[string]int) error {
	switch missing := max(l.total-len(l.at), l.omitted); {
	case missing <= 0:
	case len(l.at) >= maxRows:
		skipped[fmt.Sprintf("older gateway session (only the newest %d are listed)", maxRows)] += missing
	default:
		return fmt.Errorf("it reports %d sessions but listed %d", len(l.at)+missing, len(l.at))
	}
	return nil
}

// lister gathers pages.
type lister struct {
	client      *client
	search      string
	rows        []row
	at          map[string]int // key: index in rows
	total       int
	skippedRows int // rows that were skipped count as listed
	omitted     int // rows of the last page that were left out
}

func (l *lister) page(ctx context.Context, offset, limit int, skipped map[string]int) (page, error) {
	params := map[string]any{"includeDerivedTitles": true, "includeLastMessage": false, "limit": limit}
	if l.search != "" {
		params["search"] = l.search
	}
	if offset > 0 {
		params["offset"] = offset
	}
	var p page
	if err := l.client.call(ctx, "sessions.list", params, &p); err != nil {
		return page{}, err
	}
	if p.Sessions == nil {
		return page{}, &kit.FormatError{Err: errors.New("sessions.list answered without a list")}
	}
	rows := parseRows(*p.Sessions, skipped)
	l.skippedRows += len(*p.Sessions) - len(rows)
	l.omitted = 0
	for _, r := range rows {
		if i, again := l.at[r.Key]; again {
			l.rows[i] = r // told later
			continue
		}
		if len(l.rows) >= maxRows {
			l.omitted++
			continue
		}
		l.at[r.Key] = len(l.rows)
		l.rows = append(l.rows, r)
	}
	if p.Total != nil {
		l.total = int(p.Total.count()) - l.skippedRows
	}
	return p, nil
}

func (r *row) cwd() string { return cmp.Or(r.Workspace, r.SpawnedCWD, r.Root) }

// agent returns the id of the agent that the session belongs to.
func (r *row) agent() string {
	if r.AgentID != "" {
		return r.AgentID
	}
	if rest, ok := strings.CutPrefix(r.Key, "agent:"); ok {
		id, _, _ := strings.Cut(rest, ":")
		return id
	}
	return ""
}
