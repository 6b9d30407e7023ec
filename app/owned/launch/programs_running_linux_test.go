package launch

import (
	"os/exec"
	"path/filepath"
	"testing"

	"rollcall/internal/eventually"
	"rollcall/internal/must"
	"rollcall/proc"
)

// TestLookBeside: the program of an agent that runs from a folder that nothing names is found while it runs, as a script and as an executable, and no other one there.
func TestLookBeside(t *testing.T) {
	home := shortPath(t)
	dir := filepath.Join(home, "opt", "agents")
	script := writeScript(t, filepath.Join(dir, "rollcall-test-script"), "#!/bin/sh\nread line\n")
	writeScript(t, filepath.Join(dir, "rollcall-test-other"), "#!/bin/sh\n")
	binary := filepath.Join(dir, "rollcall-test-binary")
	sleep := must.Get(exec.LookPath("sleep"))(t)
	must.Do(t, exec.Command("cp", sleep, binary).Run())
	table := proc.Open()
	var running []proc.Identity
	for _, cmd := range []*exec.Cmd{exec.Command(script), exec.Command(binary, "600")} {
		must.Get(cmd.StdinPipe())(t) // open until the process is killed
		must.Do(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		p := must.Get(table.Find(cmd.Process.Pid))(t)
		running = append(running, p.Identity)
	}
	look := LookBeside(table, running)
	for name, want := range map[string]string{"rollcall-test-script": script, "rollcall-test-binary": binary, "rollcall-test-other": "", "rollcall-test-none": ""} {
		if _, err := LookPath(name); err == nil {
			t.Fatalf("%s is on the PATH", name)
		}
		eventually.True(t, name, func() bool { // an interpreter reads its arguments a moment later
			got, err := look(name)
			return got == want && (err == nil) == (want != "")
		})
	}
}
