package tray

import "rollcall/tray/model"

// row is one row of a platform's menu. Rows are created once and hidden while unused, so that an open menu can change.
type row struct {
	id        int32 // above 0, in the order of the menu
	label     string
	disabled  bool
	hidden    bool
	separator bool
}

// The ids of the rows, from top to bottom.
const (
	idMessage int32 = 1 + iota
	idSession       // the first of model.MaxSessions
)

const (
	idMore    = idSession + model.MaxSessions
	idAdapter = idMore + 1 // the first of model.MaxAdapters, then those of model.MaxOwn
)

const (
	idSeparator = idAdapter + model.MaxAdapters + model.MaxOwn + iota
	idOpen
	idLaunch
	idSeparatorQuit
	idRestart // hidden unless an update waits for it
	idQuit
	rowCount = int(idQuit)
)

// layOut returns the fixed rows with the contents of the model's rows.
func layOut(m model.Menu, launch bool) []row {
	rows := make([]row, rowCount)
	for i := range rows {
		rows[i] = row{id: int32(i + 1), hidden: true}
	}
	put := func(id int32, r row) {
		r.id = id
		rows[id-1] = r
	}
	next := map[model.Kind]int32{model.Message: idMessage, model.Session: idSession, model.More: idMore, model.Adapter: idAdapter}
	for _, r := range m.Rows {
		put(next[r.Kind], row{label: r.Label(), disabled: r.Kind == model.Message})
		next[r.Kind]++
	}
	put(idSeparator, row{separator: true})
	put(idOpen, row{label: "Open Rollcall"})
	put(idLaunch, row{label: "Launch…", disabled: !launch})
	put(idSeparatorQuit, row{separator: true})
	put(idQuit, row{label: "Quit"})
	return rows
}

// clicked carries out the action of the row with this id.
func (m *menu) clicked(id int32) {
	switch {
	case id == idQuit:
		go m.quitNow()
	case id == idRestart:
		go m.restartNow()
	case id == idLaunch:
		if m.opts.Launch != nil {
			go m.opts.Launch()
		}
	case id >= idSession && id < idMore:
		m.openWindow(m.sessionOf(id))
	case id >= idMore && id <= idOpen:
		m.openWindow("")
	}
}

func (m *menu) quitNow() {
	if m.opts.Quit != nil {
		m.opts.Quit()
	}
	m.quit()
}

// offerRestart shows the row that finishes an update.
func offerRestart(rows []row) {
	rows[idRestart-1] = row{id: idRestart, label: "Restart to finish the update"}
}

func (m *menu) restartNow() {
	if m.opts.Restart != nil {
		m.opts.Restart()
	}
	m.quit()
}

func (m *menu) openWindow(session string) {
	if m.opts.OpenWindow != nil {
		go m.opts.OpenWindow(session)
	}
}

// sessionOf returns the id of the session that the row shows now.
func (m *menu) sessionOf(id int32) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := idSession
	for _, r := range m.last.Rows {
		if r.Kind != model.Session {
			continue
		}
		if at == id {
			return r.Session
		}
		at++
	}
	return ""
}
