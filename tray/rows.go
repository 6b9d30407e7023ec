package tray

import (
	"time"

	"rollcall/app/store/quiet"
	"rollcall/tray/model"
)

// The ids of the rows, from top to bottom.
const (
	idMessage int32 = 1 + iota
	idSession       // id of the first of model.MaxSessions rows
)

const (
	idMore    = idSession + model.MaxSessions
	idAdapter = idMore + 1 // id of the first of model.MaxAdapters rows; model.MaxOwn rows follow
)

const (
	idLimit      = idAdapter + model.MaxAdapters + model.MaxOwn // id of the first of model.MaxLimits rows
	idEndedTitle = idLimit + model.MaxLimits
	idEnded      = idEndedTitle + 1 // id of the first of model.MaxEnded rows
)

const (
	idSeparator = idEnded + model.MaxEnded + iota
	idOpen
	idQueue     // opens what waits for the user
	idTerminals // has a submenu, with the rows from idTerminal on
	idLaunch
	idSeparatorQuiet
	idQuietHour
	idQuietTomorrow
	idQuietEnd
	idSettings
	idSeparatorQuit
	idRestart // hidden unless an update needs a restart
	idQuit
)

const (
	idTerminal = idQuit + 1 // id of the first of model.MaxSessions rows
	rowCount   = int(idQuit) + model.MaxSessions
)

// layOut returns the fixed items, filled from the model's rows. canLaunch and canQuiet report whether the user can launch
// agents and turn do not disturb on.
func layOut(m model.Menu, canLaunch, canQuiet bool) []model.Item {
	rows := make([]model.Item, rowCount)
	for i := range rows {
		rows[i] = model.Item{ID: int32(i + 1), Hidden: true}
		if rows[i].ID >= idTerminal {
			rows[i].Parent = idTerminals
		}
	}
	put := func(id int32, r model.Item) {
		r.ID, r.Parent = id, rows[id-1].Parent
		rows[id-1] = r
	}
	next := map[model.Kind]int32{model.Message: idMessage, model.Session: idSession, model.More: idMore, model.Adapter: idAdapter, model.Limit: idLimit}
	for _, r := range m.Rows {
		put(next[r.Kind], model.Item{Label: r.Label(), Disabled: r.Kind == model.Message})
		next[r.Kind]++
	}
	for i, r := range m.Ended[:min(len(m.Ended), model.MaxEnded)] {
		put(idEndedTitle, model.Item{Label: "Ended", Disabled: true})
		put(idEnded+int32(i), model.Item{Label: r.Label()})
	}
	put(idSeparator, model.Item{Separator: true})
	put(idOpen, model.Item{Label: "Open Rollcall"})
	put(idQueue, model.Item{Label: "Needs you"})
	put(idLaunch, model.Item{Label: "New agent…", Disabled: !canLaunch})
	switch {
	case m.Quiet != "":
		put(idSeparatorQuiet, model.Item{Separator: true})
		put(idQuietEnd, model.Item{Label: m.Quiet})
	case canQuiet:
		put(idSeparatorQuiet, model.Item{Separator: true})
		put(idQuietHour, model.Item{Label: "Do not disturb for 1 hour"})
		put(idQuietTomorrow, model.Item{Label: "Do not disturb until tomorrow"})
	}
	put(idSettings, model.Item{Label: "Settings…"})
	put(idSeparatorQuit, model.Item{Separator: true})
	put(idQuit, model.Item{Label: "Quit"})
	return rows
}

// clicked carries out the action of the row with this id.
func (m *menu) clicked(id int32) {
	switch {
	case id >= idTerminal:
		m.showTerminal(int(id - idTerminal))
	case id == idQuit:
		go m.end(m.opts.Quit)
	case id == idRestart:
		go m.end(m.opts.Restart)
	case id == idLaunch:
		if m.opts.Launch != nil {
			go m.opts.Launch()
		}
	case id == idQueue:
		if m.opts.OpenRequest != nil {
			go m.opts.OpenRequest("")
		}
	case id == idSettings:
		if m.opts.Settings != nil {
			go m.opts.Settings()
		}
	case id >= idQuietHour && id <= idQuietEnd:
		m.setQuiet(id)
	case id >= idEnded && id < idEnded+model.MaxEnded:
		m.openWindow(m.endedOf(int(id - idEnded)))
	case id >= idSession && id < idMore:
		m.openSession(m.sessionOf(id))
	case id >= idMore && id <= idOpen:
		m.openWindow("")
	}
}

// end calls a function, which may be nil, and makes Run return.
func (m *menu) end(before func()) {
	if before != nil {
		before()
	}
	m.quit()
}

func (m *menu) openWindow(session string) {
	if m.opts.OpenWindow != nil {
		go m.opts.OpenWindow(session)
	}
}

// openSession opens the window at the session of a row, or at its request if the session waits.
func (m *menu) openSession(r model.Row) {
	if r.Waits && m.opts.OpenRequest != nil {
		go m.opts.OpenRequest(r.Session)
		return
	}
	m.openWindow(r.Session)
}

func (m *menu) setQuiet(id int32) {
	if m.opts.SetQuiet == nil {
		return
	}
	now := m.now()
	on, until := true, now.Add(time.Hour)
	switch id {
	case idQuietTomorrow:
		until = quiet.Tomorrow(now)
	case idQuietEnd:
		on, until = false, time.Time{}
	}
	go m.opts.SetQuiet(on, until)
}

// endedOf returns the id of the session in row i of the sessions that ended, or "" if there is no such row.
func (m *menu) endedOf(i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= len(m.last.Ended) {
		return ""
	}
	return m.last.Ended[i].Session
}

// sessionOf returns the model's row that the row with this id shows now; the zero value if it shows no session.
func (m *menu) sessionOf(id int32) model.Row {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := idSession
	for _, r := range m.last.Rows {
		if r.Kind != model.Session {
			continue
		}
		if at == id {
			return r
		}
		at++
	}
	return model.Row{}
}

// offerTerminals shows the submenu with the sessions of the menu that may have a terminal on this machine.
func offerTerminals(rows []model.Item, shown []model.Row) {
	next := idTerminal
	for _, r := range terminals(shown) {
		rows[next-1] = model.Item{ID: next, Label: r.Label(), Parent: idTerminals}
		next++
	}
	if next > idTerminal {
		rows[idTerminals-1] = model.Item{ID: idTerminals, Label: "Show terminal"}
	}
}

// terminals returns the rows of the sessions that may have a terminal on this machine.
func terminals(shown []model.Row) (list []model.Row) {
	for _, r := range shown {
		if r.Kind == model.Session && r.Here && len(list) < model.MaxSessions {
			list = append(list, r)
		}
	}
	return list
}

// showTerminal shows the terminal of the i-th session of the submenu.
func (m *menu) showTerminal(i int) {
	m.mu.Lock()
	list := terminals(m.last.Rows)
	m.mu.Unlock()
	if i < len(list) && m.opts.ShowTerminal != nil {
		go m.opts.ShowTerminal(list[i].Session)
	}
}
