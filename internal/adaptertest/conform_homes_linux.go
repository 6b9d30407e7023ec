package adaptertest

import (
	"path/filepath"

	"rollcall/adapters"
)

// namedHome: a home that the user names in the settings is read as the agent's own, which need not exist.
func namedHome(c *check) {
	s := c.agent.Start("/home/dev/proj", "hello")
	s.Answer("fine")
	if !s.Remote {
		s.Exit()
	}
	other := c.in(c.T) // another user's home, without the agent, and another machine
	home := filepath.Join(c.agent.Store(), c.subject.Home)
	other.environment.Named = []string{home}
	sessions, _ := other.fine(adapters.Query{})
	other.expect(sessions, s)
	if got := sessions[s.ID]; got.Home != "" && got.Home != home && filepath.Dir(got.Home) != home {
		c.Errorf("its home is %q, want %q", got.Home, home)
	}
}
