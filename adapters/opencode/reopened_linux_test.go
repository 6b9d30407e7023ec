package opencode

import (
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest/scene"
	"rollcall/proc"
)

// reopened is a session whose process was killed in mid-turn.
type reopened struct {
	*store
	fixture *scene.Environment
	id      string
	died    time.Time // when its last message was begun
	text    string    // of the log
}

// killedInTurn makes a session with an open answer, logged by a run whose process
// is gone.
func killedInTurn(t *testing.T, died time.Time) *reopened {
	t.Helper()
	r := &reopened{store: newStore(t, tables), fixture: scene.New(t), died: died}
	r.id = r.session(died.Add(-5 * time.Second).UnixMilli())
	r.message(r.id, died.Add(-4*time.Second).UnixMilli(), userData, textPart)
	r.message(r.id, died.UnixMilli(), openData)
	r.log("aaaa1111", died.Add(-20*time.Second), `message="creating instance" directory=/home/dev/p`)
	r.log("aaaa1111", died.Add(-3*time.Second), "message=loop session.id="+r.id)
	return r
}

func (r *reopened) log(run string, at time.Time, text string) {
	r.text += lineAt(at, run, text)
	r.write("log/opencode.log", r.text)
}

func (r *reopened) start(began time.Time, args ...string) proc.Identity {
	r.Helper()
	return r.startIn("/home/dev/p", began, args...)
}

func (r *reopened) startIn(folder string, began time.Time, args ...string) proc.Identity {
	r.Helper()
	return r.fixture.Procs.Start(scene.Spec{Comm: "opencode", Exe: "/opt/opencode.exe", CWD: folder,
		Args: append([]string{"opencode"}, args...), Env: []string{"HOME=" + r.home}, Started: began})
}

// look asks a new adapter, which remembers nothing.
func (r *reopened) look(t *testing.T) adapters.Session {
	t.Helper()
	a := New(adapters.Config{Home: r.home, Env: func(string) string { return "" }, Table: r.fixture.Table})
	sessions, _, err := asked(t, a, adapters.Query{})
	if err != nil {
		t.Error(err)
	}
	return sessions[r.id]
}

func (r *reopened) want(t *testing.T, process proc.Identity, state string) {
	t.Helper()
	got := r.look(t)
	if is := string(got.Status) + "/" + string(got.Outcome); is != state || got.Process != process {
		t.Errorf("%s in process %d (%s), want %s in %d", is, got.Process.PID, got.Evidence, state, process.PID)
	}
}

// An answer left open before the present process began is not its turn, however it
// was begun and however soon after.
func TestReopenedAfterDeath(t *testing.T) {
	for name, args := range map[string][]string{"by id": {"-s", "ID"}, "the latest": {"-c"}, "inline": {"--session=ID"}} {
		for _, pause := range []time.Duration{40 * time.Millisecond, 900 * time.Millisecond, 5 * time.Second} {
			t.Run(name+" after "+pause.String(), func(t *testing.T) {
				r := killedInTurn(t, time.Now().Add(-time.Minute))
				r.want(t, proc.Identity{}, "stopped/died")
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "ID", r.id)
				}
				began := r.died.Add(pause)
				viewer := r.start(began, args...)
				r.want(t, viewer, "idle/died")
				r.log("bbbb2222", began.Add(3*time.Second), `message="creating instance" directory=/home/dev/p`)
				r.want(t, viewer, "idle/died")
				r.message(r.id, began.Add(10*time.Second).UnixMilli(), userData, textPart)
				r.log("bbbb2222", began.Add(11*time.Second), "message=loop session.id="+r.id)
				r.want(t, viewer, "working/")
				r.message(r.id, began.Add(12*time.Second).UnixMilli(), doneData)
				r.want(t, viewer, "idle/completed")
				r.fixture.Procs.End(viewer.PID)
				r.want(t, proc.Identity{}, "stopped/completed")
			})
		}
	}
}

// A session is open in two terminals. When one of them has ended, the other works on the turn that it begins, also
// before its log names the session, and shortly after the last step of the first.
func TestPromptedBeforeItsLogNamesIt(t *testing.T) {
	for name, folder := range map[string]string{"in its folder": "/home/dev/p", "from another folder": "/home/dev/q"} {
		t.Run(name, func(t *testing.T) {
			r := killedInTurn(t, time.Now().Add(-2*time.Second))
			r.log("aaaa1111", r.died, "message=loop session.id="+r.id)
			began := r.died.Add(-10 * time.Second)
			viewer := r.startIn(folder, began, "-s", r.id)
			r.want(t, viewer, "idle/died")
			r.message(r.id, r.died.Add(time.Second).UnixMilli(), userData, textPart)
			r.message(r.id, r.died.Add(1100*time.Millisecond).UnixMilli(), openData)
			r.want(t, viewer, "working/")
			r.log("bbbb2222", began.Add(time.Second), `message="creating instance" directory=`+folder)
			r.want(t, viewer, "working/")
			r.log("bbbb2222", r.died.Add(1050*time.Millisecond), "message=loop session.id="+r.id)
			r.want(t, viewer, "working/")
		})
	}
}

// Who only has a session open does not take its turn from the process that runs it.
func TestOpenedWhileItWorks(t *testing.T) {
	r := killedInTurn(t, time.Now().Add(-time.Minute))
	runner := r.start(r.died.Add(-22 * time.Second))
	r.want(t, runner, "working/")
	viewer := r.start(r.died.Add(5*time.Second), "-s", r.id)
	r.want(t, runner, "working/")
	r.fixture.Procs.End(runner.PID)
	r.want(t, viewer, "idle/died")
	r.fixture.Procs.End(viewer.PID)
	r.want(t, proc.Identity{}, "stopped/died")
}

// `opencode run -s` was begun to go on: it works, also before it has stored that.
func TestRunGoesOnAfterDeath(t *testing.T) {
	r := killedInTurn(t, time.Now().Add(-4*time.Second))
	r.want(t, r.start(r.died.Add(500*time.Millisecond), "run", "-s", r.id, "go on"), "working/")
}

// A new terminal interface in the folder is not in the turn of one that was killed
// a moment before.
func TestStartedAfterDeath(t *testing.T) {
	r := killedInTurn(t, time.Now().Add(-10*time.Second))
	r.start(r.died.Add(300 * time.Millisecond))
	r.want(t, proc.Identity{}, "stopped/died")
}

// A session is open in two terminals. When that one is killed in which its turn runs, the session
// lives on in the other, unless that has another session by now.
func TestOpenInTwoTerminals(t *testing.T) {
	r := killedInTurn(t, time.Now().Add(-time.Minute))
	other := r.start(r.died.Add(-52 * time.Second))
	r.log("bbbb2222", r.died.Add(-50*time.Second), `message="creating instance" directory=/home/dev/p`)
	r.log("bbbb2222", r.died.Add(-40*time.Second), "message=loop session.id="+r.id)
	r.want(t, other, "idle/died")
	r.log("bbbb2222", r.died.Add(10*time.Second), "message=loop session.id="+sesA)
	r.want(t, proc.Identity{}, "stopped/died")
}
