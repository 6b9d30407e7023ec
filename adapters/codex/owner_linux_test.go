package codex

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// What is Codex, by its command line.
func TestOwnsProcess(t *testing.T) {
	a := atNow(home(t))
	for line, want := range map[string]bool{
		"codex":                           true,
		"codex --no-daemon fix the tests": true,
		"codex -m gpt-5.5 -c model_provider=x -C /w resume": true,
		"codex -m login":                                        true,
		"codex exec --ephemeral login":                          true,
		"codex resume --no-daemon " + threadA:                   true,
		"codex app-server --listen unix:// --managed-daemon":    true,
		"codex --new-option x app-server --listen unix://":      true,
		"codex app-server daemon pid-update-loop":               false,
		"codex -c a=b login --with-api-key":                     false,
		"codex queue --thread " + threadA + " --message resume": false,
		"codex-linux-sandbox --sandbox-policy x -- codex exec":  false,
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			p := startCodex(t, "codex", nil, args[1:]...)
			if args[0] != "codex" { // the same binary under another name
				path := p.cmd.Path
				p.kill()
				p.cmd = exec.Command(path)
				p.cmd.Args, p.cmd.Env = args, []string{"CODEX_TEST_ROLE=codex", "GORACE=atexit_sleep_ms=0"}
				p = runDouble(t, p.cmd)
			}
			p.do("read", "/dev/null") // runs by now
			process, err := proc.Open().Find(p.cmd.Process.Pid)
			must.Do(t, err)
			if got := a.OwnsProcess(process); got != want {
				t.Errorf("owned: %v, want %v", got, want)
			}
			process.Comm = "node"
			if a.OwnsProcess(process) {
				t.Error("the wrapper is owned")
			}
			process.Comm = "codex"
			p.kill()
			if a.OwnsProcess(process) {
				t.Error("owned after its end")
			}
		})
	}
}

// TestInstalledNames: Codex is known under each name that a package gives its program, and a thread whose lock a process holds is live
// whatever that process is called.
func TestInstalledNames(t *testing.T) {
	for name, owned := range map[string]bool{
		".codex-wrapped": true, ".codex-wrapped_": true, "codex-raw": true, "codex-unwrapped": true, ".codex-unwrapped-wrapped": true, "codex.exe": true,
		"codex-x86_64-unknown-linux-musl": true, "my-agent": false, "codex-backup": false,
	} {
		t.Run(name, func(t *testing.T) {
			home := home(t)
			path := write(t, rolloutPath(home, threadA), newScript(threadA, "0.169.0").text())
			a := atNow(home)
			p := startCodex(t, name, nil).do("open", path).do("lock", lockPath(t, home, threadA))
			more := scriptAt(time.Now(), threadA, "0.169.0").start("b").prompt("y")
			appendTo(t, path, strings.Join(more.lines[1:], "\n")+"\n")
			want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Working, "", p.cmd.Process.Pid)
			process, err := proc.Open().Find(p.cmd.Process.Pid)
			must.Do(t, err)
			if got := a.OwnsProcess(process); got != owned {
				t.Errorf("owned: %v", got)
			}
			p.kill()
			want(t, look(t, a, home, adapters.Query{})[threadA], adapters.Stopped, adapters.Died, 0)
		})
	}
}
