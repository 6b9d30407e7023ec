package opencode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// mixed is a home that 1.1.65 and 1.18.33 use at the same time: the old one began
// a moment after the new one, so that their logs began within the same seconds.
type mixed struct {
	*elsewhere
	newer, older           proc.Identity
	newSession, oldSession string
	hidden                 bool
}

// unseen is a process table that can't tell open files, as that of Windows.
type unseen struct{ proc.Lister }

func (unseen) OpenFiles(proc.Identity) ([]string, error)       { return nil, proc.ErrUnsupported }
func (unseen) Appended(proc.Identity, string) ([]int64, error) { return nil, proc.ErrUnsupported }

const oldFolder = "/home/dev/old"

// newMixed has the session of 1.18.33 in a turn and that of 1.1.65 done with one.
func newMixed(t *testing.T, folder string, hidden bool) *mixed {
	t.Helper()
	m := &mixed{elsewhere: newElsewhere(t), hidden: hidden}
	began := m.now.Add(-2 * time.Minute)
	m.newer = m.startNew(began)
	m.older = m.startOld(began.Add(time.Second), folder)
	m.newSession = m.session(began.Add(20 * time.Second).UnixMilli())
	m.message(m.newSession, began.Add(20*time.Second).UnixMilli(), userData, textPart)
	m.message(m.newSession, began.Add(21*time.Second).UnixMilli(), openData)
	m.write("log/opencode.log", lineAt(began.Add(3*time.Second), "aaaa1111", `message="creating instance" directory=/home/dev/p`)+
		lineAt(began.Add(20*time.Second), "aaaa1111", "message=loop session.id="+m.newSession))
	m.oldSession = m.jsonSession(folder, began.Add(30*time.Second))
	m.writeOldLog(began.Add(4*time.Second), m.oldSession, began.Add(30*time.Second))
	return m
}

func (m *mixed) startNew(began time.Time) proc.Identity {
	log := filepath.Join(m.data, "log", sharedName)
	return m.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: []string{"opencode"},
		Env: []string{"HOME=" + m.home}, Files: []string{log, filepath.Join(m.data, "opencode.db")}, Started: began})
}

// startOld starts 1.1.65, whose log begins three seconds later.
func (m *mixed) startOld(began time.Time, folder string) proc.Identity {
	log := filepath.Join(m.data, "log", began.Add(3*time.Second).UTC().Format(oldName))
	return m.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/old/opencode", CWD: folder, Args: []string{"opencode"},
		Env: []string{"HOME=" + m.home}, Files: []string{log}, Started: began})
}

func (m *mixed) writeOldLog(began time.Time, session string, worked time.Time) {
	stamp := func(at time.Time) string { return "INFO  " + at.UTC().Format("2006-01-02T15:04:05") + " +1ms " }
	m.write("log/"+began.UTC().Format(oldName), stamp(began)+"service=default version=1.1.65 args=[] opencode\n"+
		stamp(worked)+"service=session.prompt step=0 sessionID="+session+" loop\n")
}

// jsonSession stores a session of 1.1.65 whose turn is over.
func (m *mixed) jsonSession(folder string, at time.Time) string {
	id := m.id("ses")
	m.write("storage/session/p/"+id+".json", fmt.Sprintf(`{"id":%q,"directory":%q,"title":"old","version":"1.1.65","time":{"created":%d,"updated":%d}}`,
		id, folder, at.UnixMilli(), at.UnixMilli()))
	for _, data := range []string{userData, doneData} {
		message := m.id("msg")
		data = strings.ReplaceAll(data, "%d", fmt.Sprint(at.UnixMilli()))
		m.write("storage/message/"+id+"/"+message+".json", `{"id":"`+message+`",`+data[1:])
		m.write("storage/part/"+message+"/"+m.id("prt")+".json", textPart)
	}
	return id
}

// roll asks a new adapter, which remembers nothing, and gives the rows by session
// and process.
func (m *mixed) roll(t *testing.T) (sessions map[string]adapters.Session, rows []string) {
	t.Helper()
	var table proc.Lister = m.fixture.Table
	if m.hidden {
		table = unseen{table}
	}
	a := New(adapters.Config{Home: m.home, Env: func(string) string { return "" }, Table: table, Now: func() time.Time { return m.now }})
	sessions, _, err := asked(t, a, adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	for id, s := range sessions {
		if s.IsProcess() {
			rows = append(rows, id+" ("+s.Evidence+")")
		}
	}
	return sessions, rows
}

func (m *mixed) want(t *testing.T, id string, process proc.Identity, states ...string) {
	t.Helper()
	sessions, rows := m.roll(t)
	got := sessions[id]
	state := strings.TrimSuffix(string(got.Status)+"/"+string(got.Outcome), "/")
	if got.Process != process || !slices.Contains(states, state) {
		t.Errorf("%s in process %d (%s), want %s in %d", state, got.Process.PID, got.Evidence, states, process.PID)
	}
	if len(rows) > 0 {
		t.Errorf("rows without a session: %v", rows)
	}
}

// Neither version is given what the other one's process did, whichever is killed,
// in one folder or in two.
func TestVersionsShareHome(t *testing.T) {
	for _, folder := range []string{"/home/dev/p", oldFolder} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			m := newMixed(t, folder, false)
			both := func(t *testing.T) {
				t.Helper()
				m.want(t, m.newSession, m.newer, "working")
				m.want(t, m.oldSession, m.older, "idle/completed")
			}
			t.Run("both live", both)
			t.Run("the old one is killed", func(t *testing.T) {
				m := newMixed(t, folder, false)
				m.fixture.Procs.End(m.older.PID)
				m.want(t, m.newSession, m.newer, "working")
				m.want(t, m.oldSession, proc.Identity{}, "stopped/completed")
			})
			t.Run("another one begins", func(t *testing.T) {
				m := newMixed(t, folder, false)
				m.fixture.Procs.End(m.older.PID)
				m.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: "/home/dev/p", Args: []string{"opencode"},
					Env: []string{"HOME=" + m.home}, Files: []string{"/tmp"}, Started: m.now.Add(-2*time.Minute + 2*time.Second)}) // it has yet to open its log
				m.want(t, m.newSession, m.newer, "working")
				m.want(t, m.oldSession, proc.Identity{}, "stopped/completed")
			})
			t.Run("the new one is killed", func(t *testing.T) {
				m.fixture.Procs.End(m.newer.PID)
				m.want(t, m.newSession, proc.Identity{}, "stopped/died")
				m.want(t, m.oldSession, m.older, "idle/completed")
			})
		})
	}
}

// Where open files can't be seen, neither log says which version a process is:
// what can be either's is unknown, and nothing is called died or another one's.
func TestVersionsShareHomeUnseen(t *testing.T) {
	m := newMixed(t, "/home/dev/p", true)
	m.fixture.Procs.End(m.older.PID)
	m.want(t, m.newSession, proc.Identity{}, "unknown")
	m.want(t, m.oldSession, proc.Identity{}, "unknown")
	m.fixture.Procs.End(m.newer.PID)
	m.want(t, m.newSession, proc.Identity{}, "stopped/died")
	m.want(t, m.oldSession, proc.Identity{}, "stopped/completed")
}

// Two processes of 1.1.65 that began in the same second write one log: which of
// its sessions are whose is unknown, and neither has a run of the shared log.
func TestOwnLogsAreNoSharedRuns(t *testing.T) {
	m := newMixed(t, "/home/dev/p", false)
	second := m.startOld(m.now.Add(-2*time.Minute+time.Second), "/home/dev/p")
	m.fixture.Procs.End(m.newer.PID)
	m.want(t, m.newSession, proc.Identity{}, "stopped/died")
	sessions, _ := m.roll(t)
	if got := sessions[m.oldSession]; got.Status != adapters.Unknown || !strings.Contains(got.Evidence, fmt.Sprint(second.PID)) {
		t.Errorf("the session of either of two is %s (%s)", got.Status, got.Evidence)
	}
}

// A store tells the versions apart as well: what no log names yet belongs to no
// process that keeps its sessions elsewhere.
func TestStoresTellVersionsApart(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		m := newMixed(t, "/home/dev/p", false)
		m.fixture.Procs.End(m.older.PID)
		id := m.jsonSession("/home/dev/p", m.now.Add(-time.Second))
		m.want(t, id, proc.Identity{}, "stopped/completed")
	})
	t.Run("a database", func(t *testing.T) {
		m := newMixed(t, "/home/dev/p", false)
		m.fixture.Procs.End(m.newer.PID)
		id := m.session(m.now.Add(-time.Second).UnixMilli())
		m.message(id, m.now.Add(-time.Second).UnixMilli(), userData, textPart)
		m.want(t, id, proc.Identity{}, "stopped/died")
	})
}

// While a process writes files, their folders are watched beside the database.
func TestWatchBothStores(t *testing.T) {
	m := newMixed(t, oldFolder, false)
	a := New(adapters.Config{Home: m.home, Env: func(string) string { return "" }, Table: m.fixture.Table, Now: func() time.Time { return m.now }})
	folder := filepath.Join(m.data, "storage", "session", "p")
	asked(t, a, adapters.Query{})
	if !slices.Contains(a.WatchPaths(), folder) {
		t.Errorf("watched: %v", a.WatchPaths())
	}
	m.fixture.Procs.End(m.older.PID)
	asked(t, a, adapters.Query{})
	if slices.Contains(a.WatchPaths(), folder) {
		t.Errorf("watched although nothing writes there: %v", a.WatchPaths())
	}
}
