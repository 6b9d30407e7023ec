package proc

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"rollcall/internal/must"
)

func init() {
	roles["args"] = func() error {
		if out := os.Getenv("ROLLCALL_PROC_TEST_OUT"); out != "" {
			text, _ := json.Marshal(nodeArgs(windows.UTF16PtrToString(windows.GetCommandLine()))[1:])
			return os.WriteFile(out, text, 0o600)
		}
		return nil
	}
}

// nodeArgs parts a command line as the C library of Node.js does (since 2008: a
// quote doubled within quotes is one, and the quotes go on). Go's own differs.
func nodeArgs(line string) []string {
	var args []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var b strings.Builder
		quoted := false
		slashes := 0
		i := 0
		for ; i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t'); i++ {
			switch c := line[i]; {
			case c == '\\':
				slashes++
				continue
			case c == '"':
				b.WriteString(strings.Repeat(`\`, slashes/2))
				switch {
				case slashes%2 == 1:
					b.WriteByte('"')
				case quoted && i+1 < len(line) && line[i+1] == '"':
					b.WriteByte('"')
					i++
				default:
					quoted = !quoted
				}
			default:
				b.WriteString(strings.Repeat(`\`, slashes))
				b.WriteByte(c)
			}
			slashes = 0
		}
		b.WriteString(strings.Repeat(`\`, slashes))
		args, line = append(args, b.String()), line[i:]
	}
	return args
}

// throughBatch gives arguments to this binary by way of a batch file, as npm's
// shims do, and returns what arrived.
func throughBatch(t *testing.T, args ...string) []string {
	t.Helper()
	dir := t.TempDir()
	shim, out := filepath.Join(dir, "two words.cmd"), filepath.Join(dir, "out")
	must.Do(t, os.WriteFile(shim, []byte("@\""+os.Args[0]+"\" %*\r\n"), 0o600))
	env := ChildEnv(os.Environ(), nil, map[string]string{roleVariable: "args", "ROLLCALL_PROC_TEST_OUT": out, "SECRET": "secret"})
	c := must.Get(Start(Command{Path: shim, Args: args, Dir: dir, Env: env}))(t)
	if code, err := c.Wait(); err != nil || code != 0 {
		t.Errorf("exit %d, %v", code, err)
	}
	text := must.Get(os.ReadFile(out))(t)
	var got []string
	must.Do(t, json.Unmarshal(text, &got))
	if _, err := os.Stat(filepath.Join(dir, "injected")); err == nil {
		t.Error("an argument was run as a command")
	}
	return got
}

func TestBatchArguments(t *testing.T) {
	for _, arg := range []string{"plain", "two words", "", `quo"ted`, `a" & echo x> injected & "b`, "a & echo x> injected",
		"x|y<z>^!", `C:\dir\`, `C:\two words\`, `\"`, "--session-id=ä€"} {
		if got := throughBatch(t, "-p", arg, "end"); !slices.Equal(got, []string{"-p", arg, "end"}) {
			t.Errorf("%q arrived as %q", arg, got)
		}
	}
}

func TestBatchVariables(t *testing.T) {
	got := throughBatch(t, "100% of %SECRET%", "end")
	if slices.ContainsFunc(got, func(arg string) bool { return strings.Contains(arg, "secret") }) {
		t.Errorf("a variable was looked up: %q", got)
	}
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		t.Skipf("Wine's cmd.exe looks for variables in %%* once more: %q", got)
	}
	if !slices.Equal(got, []string{"100% of %SECRET%", "end"}) {
		t.Errorf("%q", got)
	}
}

func TestBatchRefuses(t *testing.T) {
	began := time.Now()
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := Start(Command{Path: `C:\x.CMD`, Args: []string{arg}}); !errors.Is(err, errBatchArg) {
			t.Errorf("%q: %v", arg, err)
		}
	}
	if time.Since(began) > time.Minute {
		t.Error("took", time.Since(began))
	}
}
