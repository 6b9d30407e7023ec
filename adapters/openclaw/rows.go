package openclaw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	pageSize = 1000
	overlap  = 25 // rows that are asked for again, since the list moves while it is read
	maxPages = 50 // 48,750 sessions
	// fewIDs is up to how many sessions are searched for one by one.
	fewIDs = 4
)

// row is a session as sessions.list tells it. Members differ from version to
// version; those that are not there, or have another type, are zero.
type row struct {
	Key        string `json:"key"`
	SessionID  string `json:"sessionId"`
	Kind       string `json:"kind"`
	AgentID    string `json:"agentId"`
	Label      string `json:"label"`
	Display    string `json:"displayName"`
	Derived    string `json:"derivedTitle"`
	Last       string `json:"lastMessagePreview"`
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

	stored bool // of a sessions.json
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

// count is a number of tokens.
func (n number) count() int64 {
	if n < 0 || float64(n) > 1<<53 || math.IsNaN(float64(n)) {
		return 0
	}
	return int64(n)
}

// time is a time in milliseconds since the epoch, as all of a gateway's are.
func (n number) time() time.Time {
	if n < 1e11 || n > 1e14 { // before 1973 or after 5138: no time in milliseconds
		return time.Time{}
	}
	return time.UnixMilli(int64(n))
}

// page is the answer to sessions.list.
type page struct {
	Sessions []json.RawMessage `json:"sessions"`
	Total    *number           `json:"totalCount"`
	Next     *number           `json:"nextOffset"`
	More     bool              `json:"hasMore"`
}

// parseRows reads the rows of a page. What is no session is counted.
func parseRows(raw []json.RawMessage, skipped map[string]int) []row {
	rows := make([]row, 0, len(raw))
	for _, b := range raw {
		var r row
		err := json.Unmarshal(b, &r)
		var typ *json.UnmarshalTypeError
		switch {
		case err != nil && !errors.As(err, &typ), !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")):
			skipped["session row that is no object"]++
			continue
		case r.Key == "" && r.SessionID == "":
			skipped["session row without key"]++
			continue
		case err != nil:
			skipped["session row with a member of another type"]++
		}
		rows = append(rows, r)
	}
	return rows
}

// sessions lists all rows, or those of few ids. partial says what is missing.
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

// list pages through the sessions, newest first. Pages overlap and the first is
// read again at the end: a session that takes a turn meanwhile moves to the front.
// A gateway that knows no offset (2026.5.18) gives all at once.
func (c *client) list(ctx context.Context, search string, skipped map[string]int) (rows []row, partial, err error) {
	paged := c.hello.Protocol >= 4
	l := lister{client: c, search: search, at: map[string]int{}}
	offset := 0
	for n := 0; ; n++ {
		p, err := l.page(ctx, offset, pageSize, paged, skipped)
		if err != nil {
			return nil, nil, err
		}
		if paged && p.More && p.Next == nil {
			if _, err := l.page(ctx, 0, maxPages*pageSize, paged, skipped); err != nil {
				return nil, nil, err
			}
			break
		}
		if !paged || p.Next == nil || !p.More {
			break
		}
		next := int(p.Next.count())
		if next <= offset || len(p.Sessions) == 0 {
			return nil, nil, &formatError{fmt.Errorf("sessions.list does not get on at offset %d", offset)}
		}
		if n+1 >= maxPages {
			return l.rows, fmt.Errorf("it has more than %d sessions; the oldest are not listed", len(l.rows)), nil
		}
		offset = max(next-overlap, offset+1)
	}
	if offset > 0 {
		if _, err := l.page(ctx, 0, pageSize, paged, skipped); err != nil {
			return nil, nil, err
		}
	}
	if l.total > 0 && len(l.at) < l.total {
		partial = fmt.Errorf("it says it has %d sessions and listed %d", l.total, len(l.at))
	}
	return l.rows, partial, nil
}

// lister gathers pages.
type lister struct {
	client *client
	search string
	rows   []row
	at     map[string]int // key: index in rows
	total  int
	odd    int // rows that were skipped count as listed
}

func (l *lister) page(ctx context.Context, offset, limit int, paged bool, skipped map[string]int) (page, error) {
	params := map[string]any{"includeDerivedTitles": true, "includeLastMessage": false}
	if l.search != "" {
		params["search"] = l.search
	}
	if paged {
		params["limit"] = limit
	}
	if offset > 0 {
		params["offset"] = offset
	}
	var p page
	if err := l.client.call(ctx, "sessions.list", params, &p); err != nil {
		return page{}, err
	}
	if p.Sessions == nil {
		return page{}, &formatError{errors.New("sessions.list answered without a list")}
	}
	rows := parseRows(p.Sessions, skipped)
	l.odd += len(p.Sessions) - len(rows)
	for _, r := range rows {
		if i, again := l.at[r.Key]; again {
			l.rows[i] = r // told later
			continue
		}
		l.at[r.Key] = len(l.rows)
		l.rows = append(l.rows, r)
	}
	if p.Total != nil {
		l.total = int(p.Total.count()) - l.odd
	}
	return p, nil
}

func (r *row) cwd() string { return first(r.Workspace, r.SpawnedCWD, r.Root) }

// agent is the id of the agent that the session belongs to.
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
