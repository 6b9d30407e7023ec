package adaptertest

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
	"rollcall/proc"
)

const rollout = ".codex/sessions/2026/rollout-1.jsonl"

// record makes a recording of a Codex that works in /home/dev/proj, and a shell
// that runs beside it.
func record(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		tree{t}.file(filepath.Join(dir, name), content)
	}
	write("home/"+rollout, `{"cwd":"/home/dev/proj","note":"/home/dev/.codex stays in texts"}`+"\n")
	write("home/.codex/locks/1.lock", "")
	write("home/.codex/locks/free.lock", "")
	tree{t}.link(filepath.Join(dir, "home/.codex/latest"), "sessions")
	database(t, filepath.Join(dir, "home/.codex/state_5.sqlite"))
	write("mtimes.json", `{"`+rollout+`": 1795239208.896, ".codex/state_5.sqlite": 1795239209}`)
	write("processes.json", `{"boot_time": 1795234905, "clk_tck": 100, "captured_at": 1795239214.43572,
		"flocks": {"/home/dev/.codex/locks/1.lock": 22, "/home/dev/.codex/tmp/not-recorded.lock": 22},
		"processes": [
		{"pid": 22, "ppid": 1, "pgid": 22, "sid": 21, "state": "S", "start_ticks": 427724, "comm": "codex",
		 "exe": "/home/dev/.codex/bin/codex", "cwd": "/home/dev/proj", "args": ["codex", "-C", "/home/dev/.codex", ""],
		 "fds": ["/home/dev/`+rollout+`", "/home/dev/.codex/not-recorded", "/home/dev/proj/open", "/home/developer/.x"],
		 "env": {"HOME": "/home/dev", "CODEX_HOME": "/home/dev/.codex", "XDG_DATA_HOME": "/home/dev/data", "PWD": "/home/dev/proj"}},
		{"pid": 23, "ppid": 22, "pgid": 22, "sid": 21, "state": "Z", "start_ticks": 427800, "comm": "sh",
		 "exe": "", "cwd": "", "args": [], "fds": [], "env": {}}]}`)
	expect := must.Get(json.Marshal(map[string]any{"note": "made up", "sessions": []map[string]any{
		{"id": "1", "agent": "codex", "status": "working", "pid": 22, "cwd": "/home/dev/proj"}}}))(t)
	write("expect.json", string(expect))
	return dir
}

func database(t *testing.T, path string) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE threads (id TEXT, "rollout path" TEXT NOT NULL, cwd TEXT, n INTEGER);
		INSERT INTO threads VALUES ('1', '/home/dev/` + rollout + `', '/home/dev/proj', 3), ('2', 'see /home/dev/.codex', NULL, 4)`); err != nil {
		t.Fatal(err)
	}
}

func TestReplay(t *testing.T) {
	dir := record(t)
	Untouched(t, dir)
	r := Replay(t, dir)
	rows, err := r.Table.List(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatalf("rows %+v, %v; want the codex only", rows, err)
	}
	started := time.Unix(1795234905, 0).Add(4277240 * time.Millisecond)
	want := proc.Process{Identity: proc.Identity{PID: 22, Start: 427724, Boot: bootID}, PPID: 1, SID: 21, Comm: "codex", Started: started}
	if rows[0] != want {
		t.Errorf("got %+v, want %+v", rows[0], want)
	}
	if got := r.Table.Domain(); got != "linux:3d1219c7c4c5404aaa1f6d2a48adfda4:pid:[4026531836]" {
		t.Errorf("domain %q", got)
	}
	if got := r.CapturedAt.UnixMicro(); got != 1795239214435720 {
		t.Errorf("captured at %d", got)
	}
	info, err := os.Stat(filepath.Join(r.Home, rollout))
	if err != nil || info.ModTime().UnixMicro() != 1795239208896000 {
		t.Errorf("the rollout is of %v, %v", info.ModTime(), err)
	}
	checkDetails(t, r, want.Identity)
}

// checkDetails checks which paths lead to the copy and which stay.
func checkDetails(t *testing.T, r *Recording, id proc.Identity) {
	t.Helper()
	same := func(what string, got []string, err error, want ...string) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
	}
	args, err := r.Table.Args(id)
	same("args", args, err, "codex", "-C", "/home/dev/.codex")
	cwd, err := r.Table.CWD(id)
	same("cwd", []string{cwd}, err, "/home/dev/proj")
	exe, err := r.Table.Exe(id)
	same("exe", []string{exe}, err, r.Home+"/.codex/bin/codex")
	files, err := r.Table.OpenFiles(id)
	slices.Sort(files)
	want := []string{"/home/dev/proj/open", "/home/developer/.x", r.Home + "/.codex/not-recorded", r.Home + "/" + rollout}
	slices.Sort(want)
	same("open files", files, err, want...)
	env, err := r.Table.Env(id)
	same("env", env, err, "CODEX_HOME="+r.Home+"/.codex", "HOME="+r.Home, "PWD=/home/dev/proj", "XDG_DATA_HOME="+r.Home+"/data")
	locks, err := r.Table.FileLocks()
	info, errStat := os.Stat(filepath.Join(r.Home, ".codex/locks/1.lock"))
	if err != nil || errStat != nil {
		t.Fatal(err, errStat)
	}
	if file, _ := proc.FileIDOf(info); len(locks) != 1 || locks[file] != 22 {
		t.Errorf("locks %v, want that of %+v", locks, file)
	}
}

func TestReplayTranslatesDatabases(t *testing.T) {
	r := Replay(t, record(t))
	path := filepath.Join(r.Home, ".codex/state_5.sqlite")
	if info, err := os.Stat(path); err != nil || info.ModTime().Unix() != 1795239209 {
		t.Errorf("the database is of %v, %v", info.ModTime(), err)
	}
	db := must.Get(sql.Open("sqlite", "file:"+path+"?mode=ro"))(t)
	defer db.Close()
	var got, cwd, text string
	row := db.QueryRow(`SELECT a."rollout path", a.cwd, b."rollout path" FROM threads a, threads b WHERE a.id = '1' AND b.id = '2'`)
	must.Do(t, row.Scan(&got, &cwd, &text))
	if got != filepath.Join(r.Home, rollout) || cwd != "/home/dev/proj" || text != "see /home/dev/.codex" {
		t.Errorf("paths are %q, %q, %q", got, cwd, text)
	}
	content, err := os.ReadFile(filepath.Join(r.Home, rollout))
	if err != nil || !strings.Contains(string(content), "/home/dev/.codex stays") {
		t.Errorf("the rollout was changed: %q, %v", content, err)
	}
}

// TestEnv lets another program read the recording.
func TestEnv(t *testing.T) {
	r := Replay(t, record(t))
	command := exec.Command("sh", "-c", `cat "$HOME/`+rollout+`" "$HOST_PROC/22/comm" "$HOST_ETC/machine-id"`)
	command.Env = Env(r)
	output, err := command.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), "\ncodex\n3d1219c7c4c5404aaa1f6d2a48adfda4\n") {
		t.Errorf("%s: %v", output, err)
	}
}
