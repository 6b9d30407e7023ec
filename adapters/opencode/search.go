package opencode

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/adapters/internal/sqlitero"
)

// storedSession is where the messages of a session are.
type storedSession struct {
	id, directory string
	changed       time.Time
	store         string // the database
	next          bool   // it is in the tables of OpenCode 2 only
}

// Conversations implements adapters.Searcher. The sessions of a database are searched some
// at a time, the newest first, in SQL. A session in several stores is searched in the one
// in which Discover finds it.
func (a *Adapter) Conversations(ctx context.Context, since time.Time) ([]adapters.Conversation, error) {
	d := a.begin(ctx, adapters.Query{})
	if d.absent {
		return nil, adapters.ErrAbsent
	}
	var list []adapters.Conversation
	for _, r := range d.roots {
		for _, s := range a.storedSessions(ctx, r, d.answer) {
			s = slices.DeleteFunc(s, func(s storedSession) bool { return s.changed.Before(since) })
			list = append(list, conversations(s)...)
		}
	}
	_, err := d.answer.Result(ctx, a.product.Title)
	return list, err
}

// storedSessions lists the sessions of a root by their database.
func (a *Adapter) storedSessions(ctx context.Context, r *root, answer *kit.Answer) map[string][]storedSession {
	newest := map[string]storedSession{}
	for _, path := range r.databases {
		list, err := a.listDatabase(ctx, path)
		answer.Problem(err)
		for _, s := range list {
			if known, there := newest[s.id]; !there || known.changed.Before(s.changed) {
				newest[s.id] = s
			}
		}
	}
	stores := map[string][]storedSession{}
	for _, s := range newest {
		stores[s.store] = append(stores[s.store], s)
	}
	return stores
}

// listDatabase lists the sessions of a database.
func (a *Adapter) listDatabase(ctx context.Context, path string) ([]storedSession, error) {
	info, err := statDatabase(path)
	if info == nil {
		return nil, err
	}
	var list []storedSession
	_, err = sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		list = nil
		r := &reading{db: db}
		if err := r.tables(ctx); err != nil {
			return err
		}
		return db.Each(ctx, r.storedQuery(), nil, func(scan func(...any) error) error {
			s := storedSession{store: path}
			var updated millis
			err := scan(&s.id, &s.directory, &updated, &s.next)
			s.changed = updated.time()
			list = append(list, s)
			return err
		})
	})
	if err != nil {
		return nil, a.databaseProblem(ctx, path, info, err)
	}
	return list, nil
}

// storedQuery selects all sessions of a database.
func (r *reading) storedQuery() string {
	newest := "0"
	if len(r.rows) > 0 {
		newest = "coalesce((SELECT m.time_updated FROM session_message m WHERE m.session_id = s.id ORDER BY m.seq DESC LIMIT 1), 0)"
	}
	query := "SELECT s.id AS id, coalesce(s.directory, ''), max(coalesce(s.time_updated, s.time_created, 0), " + newest + ") AS changed, %d AS gen FROM %s s"
	switch {
	case len(r.next) > 0 && r.hasV1():
		return fmt.Sprintf(query, 1, "session_v2") + " UNION ALL " + fmt.Sprintf(query, 0, "session") + " WHERE s.id NOT IN (SELECT id FROM session_v2)"
	case len(r.next) > 0:
		return fmt.Sprintf(query, 1, "session_v2")
	case r.hasV1():
		return fmt.Sprintf(query, 0, "session")
	}
	return "SELECT '' AS id, '', 0, 0 AS gen LIMIT 0"
}

const (
	// firstBatch is how many sessions of a database are searched first, so that the first
	// hits come soon. Each further batch is twice as large, up to lastBatch.
	firstBatch = 16
	lastBatch  = 512
)

// conversations returns the conversations of the sessions of one store, for the search.
func conversations(sessions []storedSession) (list []adapters.Conversation) {
	slices.SortFunc(sessions, func(a, b storedSession) int {
		return cmp.Or(b.changed.Compare(a.changed), strings.Compare(a.id, b.id))
	})
	pages := &sqlitero.Pages{}
	for n := firstBatch; len(sessions) > 0; n = min(2*n, lastBatch) {
		batch := sessions[:min(n, len(sessions))]
		sessions = sessions[len(batch):]
		list = append(list, adapters.Conversation{Changed: batch[0].changed,
			Search: func(ctx context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
				if !pages.MayContain(ctx, batch[0].store, q.Pattern) {
					return nil, nil
				}
				return searchDatabase(ctx, batch, q, found)
			}})
	}
	return list
}

// searchDatabase searches sessions of one database. It reports the hits only after all sessions
// were read: until then a writer can make the view inconsistent.
func searchDatabase(ctx context.Context, batch []storedSession, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
	path := batch[0].store
	bySession := map[string][]adapters.Hit{}
	long := 0
	_, err := sqlitero.Read(ctx, path, func(ctx context.Context, db *sqlitero.DB) error {
		clear(bySession)
		long = 0
		finders := map[string]*conversationFinder{}
		for _, s := range batch {
			finders[s.id] = newFinder(s, q, func(h adapters.Hit) error {
				bySession[h.Session] = append(bySession[h.Session], h)
				return nil
			})
		}
		var err error
		long, err = searchRows(ctx, db, q, finders)
		if err == nil {
			var more int
			more, err = searchNext(ctx, db, q, finders)
			long += more
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, sqlitero.Problem(ctx, path, err, "try again", "if the agent can't open it either, move it away")
	}
	for _, s := range batch {
		for _, h := range bySession[s.id] {
			if err := found(h); err != nil {
				return nil, err
			}
		}
	}
	return kit.Skipped(long), nil
}

// searchRows searches the parts of sessions, and counts those that are too long. The query
// makes SQLite read only the rows of these sessions, in the order of the conversation; a part
// is decoded only where its text can contain the pattern.
func searchRows(ctx context.Context, db *sqlitero.DB, q *adapters.SearchQuery, finders map[string]*conversationFinder) (long int, err error) {
	var old []string
	for id, f := range finders {
		if !f.next {
			old = append(old, id)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	marks, args := idList(old)
	err = db.Each(ctx, `SELECT m.session_id, m.time_created, p.id,
		CASE WHEN octet_length(p.data) <= `+maxPart+` THEN p.data END,
		CASE WHEN octet_length(m.data) <= `+maxPart+` THEN m.data END
		FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id IN `+marks+` ORDER BY m.session_id, m.time_created, m.id, p.id`, args, func(scan func(...any) error) error {
		var session, partID, data, owner sql.RawBytes
		var created millis
		if err := scan(&session, &created, &partID, &data, &owner); err != nil {
			return err
		}
		switch {
		case data == nil:
			long++
		case q.Pattern.MayContain(data):
			return finders[string(session)].part(string(partID), data, messageOf(owner, created))
		}
		return nil
	})
	return long, err
}

// maxPart is the size of the largest part that is searched, in bytes.
const maxPart = "8388608"

// messageOf reads the message to which a part belongs.
func messageOf(data []byte, created millis) (m message) {
	if json.Unmarshal(data, &m) != nil {
		m = message{}
	}
	m.Time.Created = cmp.Or(m.Time.Created, created)
	return m
}

// conversationFinder finds hits in the parts of one session.
type conversationFinder struct {
	kit.Finder
	next bool
}

func newFinder(s storedSession, q *adapters.SearchQuery, found func(adapters.Hit) error) *conversationFinder {
	return &conversationFinder{next: s.next, Finder: kit.Finder{Query: q, Found: found,
		Hit: adapters.Hit{Session: s.id, CWD: s.directory, Changed: s.changed}}}
}

// part searches one part. It skips parts and messages in an unknown form.
func (f *conversationFinder) part(id string, data []byte, of message) error {
	var p part
	if json.Unmarshal(data, &p) != nil {
		return nil
	}
	p.ID = id
	return f.AddItems(p.items(&of))
}
