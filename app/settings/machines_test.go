package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/settings"
	"rollcall/internal/must"
)

// TestMachines: machines that cannot be used are named with their line, and the others are used.
func TestMachines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	text := `[[machine]]
name = "devbox"
ssh = "user@devbox"
path = "~/bin/rollcall"

[[machine]]
name = "dev"
exec = ["docker", "exec", "-i", "dev", "rollcall"]

[[machine]]
name = "devbox"
ssh = "other"

[[machine]]
name = "evil"
ssh = "-oProxyCommand=touch /tmp/x"

[[machine]]
name = "a:b"
ssh = "host"

[[machine]]
name = "both"
ssh = "host"
exec = ["docker"]

[[machine]]
name = "none"
`
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := settings.Load(path)
	if len(s.Machines) != 2 || s.Machines[0].SSH != "user@devbox" || len(s.Machines[1].Exec) != 5 {
		t.Errorf("machines %+v", s.Machines)
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`config.toml: line 10: machine "devbox" is ignored: another machine has this name (see line 1)`,
		`line 14: machine "evil" is ignored: ssh must be`,
		`line 18: machine "a:b" is ignored: name must be`,
		`line 22: machine "both" is ignored: it has both ssh and exec`,
		`line 27: machine "none" is ignored: ssh is missing`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}
