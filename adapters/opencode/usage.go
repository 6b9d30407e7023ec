package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"rollcall/adapters/internal/kit"
)

// usageRows selects the messages of 1.x, and usageNext those of OpenCode 2, of the sessions in the list %s.
var (
	usageRows = "SELECT m.session_id, m.id, coalesce(m.time_created, 0), '', coalesce(" + dataOf + ", '') FROM message m WHERE m.session_id IN %s"
	usageNext = fmt.Sprintf("SELECT m.session_id, m.id, coalesce(m.time_created, 0), m.type, coalesce(CASE WHEN length(m.data) <= %d THEN m.data ELSE %s END, '')", bigData, nextData) +
		" FROM session_message m WHERE m.session_id IN %s AND m.type IN ('user', 'assistant')"
)

// keepUsage takes over what this process or an earlier one knew of the usage of sessions that have not changed since. It
// must be called also where no usage is wanted: the next question may want it.
func (r *reading) keepUsage() {
	for _, f := range r.sessions {
		if old := r.before(f); old != nil && old.logged {
			f.ledger, f.logged = old.ledger, true
		}
	}
}

// usage reads the usage of the sessions by time, unless it is known. It returns nil if there was no time for all
// sessions: the usage of the others is not known then.
func (r *reading) usage(ctx context.Context) error {
	limited, cancel := kit.WithMargin(ctx)
	defer cancel()
	var missing []string
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		if f := r.sessions[id]; !f.logged || !r.saved.Fetch(r.path+"#"+id, &f.ledger) {
			f.ledger, f.logged = kit.SavedLedger{}, false
			missing = append(missing, id)
		}
	}
	imported := func(id string) bool { return r.sessions[id].next != nil && r.sessions[id].next.claims }
	for ids := range slices.Chunk(missing, listLimit) {
		var old, next []string // the messages that 2.0 has imported are still in the tables of 1.x
		for _, id := range ids {
			if !imported(id) {
				old = append(old, id)
			}
			if r.sessions[id].next != nil {
				next = append(next, id)
			}
		}
		err := errors.Join(r.usageOf(limited, usageRows, old), r.usageOf(limited, usageNext, next))
		if err == nil {
			r.logged(ids)
		}
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			r.want.usage = false // the next question reads again
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) usageOf(ctx context.Context, rows string, ids []string) error {
	if len(ids) == 0 || rows == usageRows && !r.hasV1() {
		return nil
	}
	marks, args := idList(ids)
	messages := map[string][]usedMessage{}
	err := r.db.Each(ctx, fmt.Sprintf(rows, marks), args, func(scan func(...any) error) error {
		var session, role string
		var m message
		var created millis
		var data []byte
		if err := scan(&session, &m.ID, &created, &role, &data); err != nil {
			return err
		}
		_ = json.Unmarshal(data, &m) // of what is not JSON, or has another form, the rest counts
		m.Time.Created, m.Role = cmp.Or(m.Time.Created, created), cmp.Or(role, m.Role)
		messages[session] = append(messages[session], m.used())
		return nil
	})
	for id, list := range messages {
		if f := r.sessions[id]; f != nil && err == nil {
			f.addUsed(list)
		}
	}
	return err
}

// usedMessage is what the usage of a session needs of a message.
type usedMessage struct {
	id, role string
	at       millis
	answers  bool // it is an answer that came to its end, or that used something
	entry    kit.Entry
}

// used returns what the usage needs of a message. The time in the message's data has priority over the row's time, which can be the time of an import.
func (m *message) used() usedMessage {
	u := usedMessage{id: m.ID, role: m.Role, at: m.Time.Created}
	if m.Role != "assistant" {
		return u
	}
	u.entry = kit.Entry{At: u.at.time(), CWD: m.Path.CWD}
	if model := cmp.Or(m.ModelID, m.Model.ModelID, m.Model.ID); model != "" {
		u.entry.Model = strings.TrimPrefix(cmp.Or(m.Provide, m.Model.ProviderID)+"/"+model, "/")
	}
	if m.Tokens != nil {
		u.entry.Tokens = m.Tokens.counts()
	}
	if m.Cost != nil {
		u.entry.CostUSD = *m.Cost
	}
	if u.at > 0 && m.Time.Completed > 0 { // a fork copies its messages with new ids
		u.entry.ID = xxhash.Sum64String(fmt.Sprint(u.at, m.Time.Completed, u.entry.Model, u.entry.Tokens, u.entry.CostUSD)) | 1
	}
	u.answers = m.Time.Completed > 0 && m.Error == nil || u.entry.Tokens.Output > 0
	return u
}

// addUsed adds the answers of a session to its ledger. A turn is an answer whose previous message is the user's.
func (f *facts) addUsed(list []usedMessage) {
	slices.SortFunc(list, func(a, b usedMessage) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	for i, u := range list {
		if u.role != "assistant" {
			continue
		}
		u.entry.Copied = u.at < f.created
		if u.answers && i > 0 && list[i-1].role == "user" {
			u.entry.Turns = 1
		}
		f.ledger.Add(u.entry)
	}
}

// settle finds which of the answers of sessions count for which of them.
func (d *discovery) settle(sessions map[string]*facts) {
	var accounts []*kit.Account
	d.spent = map[string]*kit.Account{}
	for id, f := range sessions {
		if f.tokens == nil || !f.logged {
			continue
		}
		a := &kit.Account{ID: id, Ledgers: []*kit.Ledger{&f.ledger.Ledger}, Last: f.activity.time(), Model: f.model, CWD: f.cwd, Marked: true,
			Known: &kit.Known{Tokens: *f.tokens, CostUSD: f.stated()}}
		d.spent[id] = a
		accounts = append(accounts, a)
	}
	d.answer.Settle(accounts)
}

// stated returns the cost that the row states, without rounding errors.
func (f *facts) stated() float64 { return math.Round(f.cost*1e9) / 1e9 }

// logged notes that all usage of sessions is known.
func (r *reading) logged(ids []string) {
	for _, id := range ids {
		r.sessions[id].logged = true
		r.note(id)
	}
}
