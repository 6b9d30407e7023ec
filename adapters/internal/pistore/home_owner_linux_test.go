package pistore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
)

// Root lists the agents of all users, from the homes that their processes name.
func TestAgentsOfOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start processes of other users")
	}
	const someone = 65534
	theirs := newFixture(t)
	ours := &fixture{TB: t, home: filepath.Join(t.TempDir(), "home"), table: theirs.table, agents: theirs.agents}
	ours.check(os.MkdirAll(filepath.Join(ours.home, ".pi", "agent", "sessions"), 0o755))
	p, _ := theirs.start(agentname.Pi, theirs.cwd(), fmt.Sprintf("ROLLCALL_TEST_UID=%d", someone))
	if uid, err := theirs.table.UID(p.Identity); err != nil || uid != someone {
		t.Fatalf("the process is of user %d, %v", uid, err)
	}
	s := newScript(idA, theirs.cwd(), p.Started.Add(second)).begin().sys(second).prompt(2*second, "theirs")
	theirs.put(s)
	theirs.check(filepath.WalkDir(theirs.home, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, someone, someone)
	}))
	ours.put(newScript(idC, ours.cwd(), time.Now().Add(-time.Hour)).begin().prompt(second, "ours").answer(2*second, "stop"))
	a := ours.store(agentname.Pi)
	got, _, err := ask(t, a, adapters.Query{})
	if x := got[idA]; err != nil || x.Process != p.Identity || x.Status != adapters.Working {
		t.Errorf("%+v, %v", x, err)
	}
	if x := got[idC]; x.Status != adapters.Stopped {
		t.Errorf("ours: %+v", x)
	}
}
