package tray

import "rollcall/tray/model"

// offerTerminals shows the submenu with the sessions of the menu that may have a terminal on this machine.
func offerTerminals(rows []row, shown []model.Row) {
	next := idTerminal
	for _, r := range terminals(shown) {
		rows[next-1] = row{id: next, label: r.Label(), parent: idTerminals}
		next++
	}
	if next > idTerminal {
		rows[idTerminals-1] = row{id: idTerminals, label: "Show terminal"}
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
