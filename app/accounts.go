package app

import (
	"slices"

	"rollcall/adapters"
)

// HomesOf returns the homes that sessions of an agent on this machine are in, in the order of the sessions.
func HomesOf(sessions []Session, agent adapters.Name) (homes []string) {
	for i := range sessions {
		if s := &sessions[i]; s.Agent == agent && s.Machine == "" && s.Home != "" && !slices.Contains(homes, s.Home) {
			homes = append(homes, s.Home)
		}
	}
	return homes
}

// nameAccounts returns the sessions with their Account. It does not change the list, which others may have.
func (c *Core) nameAccounts(sessions []Session) []Session {
	if c.cfg.Account == nil {
		return sessions
	}
	named := sessions
	several := map[adapters.Name]bool{}
	type account struct {
		agent adapters.Name
		home  string
	}
	names := map[account]string{}
	for i := range sessions {
		s := &sessions[i]
		if s.Home == "" {
			continue
		}
		if _, known := several[s.Agent]; !known {
			several[s.Agent] = len(HomesOf(sessions, s.Agent)) > 1
		}
		key := account{s.Agent, s.Home}
		if _, known := names[key]; !known {
			names[key] = c.cfg.Account(s.Agent, s.Home, several[s.Agent])
		}
		if name := names[key]; name != s.Account {
			if &named[0] == &sessions[0] {
				named = slices.Clone(sessions)
			}
			named[i].Account = name
		}
	}
	return named
}
