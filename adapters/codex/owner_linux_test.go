package codex

import (
	"os/exec"
	"strings"
	"testing"

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
