package ui

import (
	"slices"
	"time"

	"rollcall/app"
	"rollcall/app/listing"
)

// loadEvery is the shortest time between two readings of what sessions use.
const loadEvery = 5 * time.Second

// loadReader reads what sessions use, while the facts of one are shown. Its fields are used on Fyne's goroutine, but for meter, which one reading uses.
type loadReader struct {
	meter   app.LoadMeter
	read    map[app.SessionKey]*app.Load
	next    time.Time // before that nothing is read
	reading bool
}

// withLoad returns s with what it uses or left behind, as last read, and reads what it uses again if that is due.
func (d *detailPane) withLoad(s *app.Session, v *listing.View) *app.Session {
	l, u := &d.loads, d.ui
	if n := u.sessions.behind.counts.Of(s); n > 0 {
		shown := *s
		shown.LeftBehind = n
		return &shown
	}
	if !d.showsFacts || u.options.Table == nil || !s.Live() {
		return s
	}
	if now := u.host.Now(); !l.reading && !now.Before(l.next) {
		l.reading, l.next = true, now.Add(loadEvery)
		l.meter.Table = u.options.Table
		sessions := slices.Collect(v.Snapshot.All())
		go func() {
			list := make([]app.Session, len(sessions))
			for i, x := range sessions {
				list[i] = *x
			}
			l.meter.SetLoads(u.ctx, list)
			u.post(func() {
				l.reading, l.read = false, map[app.SessionKey]*app.Load{}
				for i := range list {
					l.read[list[i].Key()] = list[i].Load
				}
				u.sessions.showDetail()
			})
		}()
	}
	shown := *s
	shown.Load = l.read[s.Key()]
	return &shown
}
