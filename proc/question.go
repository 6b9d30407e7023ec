package proc

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// moment is a question that several callers answer.
type moment struct {
	began    time.Time
	mu       sync.Mutex
	readings map[Lister]*reading
}

type momentKey struct{} // of a context

// Together returns the context of a question that several callers answer, such as all adapters: for them Rows reads a table once, after the question began.
// It returns a context that is of one as it is.
func Together(ctx context.Context) context.Context {
	if momentOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, momentKey{}, &moment{began: time.Now(), readings: map[Lister]*reading{}})
}

// Apart returns a context in which Rows reads the table again, for a caller that knows something newer than the question.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, momentKey{}, (*moment)(nil))
}

// Asked returns when the question of ctx began, and the time of now without one. Rows returns no rows from before.
func Asked(ctx context.Context) time.Time {
	if m := momentOf(ctx); m != nil {
		return m.began
	}
	return time.Now()
}

// Rows returns the rows of a table as they were read for the question of ctx, and reads them now without one. A process that began after Asked may be missing,
// and one of the rows may have ended. So the caller reads everything else after the rows, and again, with a context of Apart, where a process that began after
// Asked could make a difference. The caller may change the rows.
func Rows(ctx context.Context, table Lister) ([]Process, error) {
	m, read := momentOf(ctx), innermost(table)
	if m == nil || !reflect.ValueOf(read).Comparable() {
		return table.List(ctx)
	}
	return m.reading(read).wait(ctx)
}

func momentOf(ctx context.Context) *moment {
	m, _ := ctx.Value(momentKey{}).(*moment)
	return m
}

// innermost returns the table from which the rows of another one come.
func innermost(table Lister) Lister {
	for {
		outer, ok := table.(interface{ Unwrap() Lister })
		if !ok {
			return table
		}
		table = outer.Unwrap()
	}
}

// reading returns the reading of a table for the question. The context of no caller ends it.
func (m *moment) reading(table Lister) *reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.readings[table]
	if r == nil {
		r = &reading{done: make(chan struct{})}
		m.readings[table] = r
		go func() {
			defer close(r.done)
			r.rows, r.err = table.List(context.Background())
		}()
	}
	return r
}
