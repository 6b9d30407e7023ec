package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const hangs = "ROLLCALL_SCRIPT_TEST"

// The re-executed binary hangs until the file that it holds open may go.
func TestMain(m *testing.M) {
	if path := os.Getenv(hangs); path != "" {
		f, err := os.Create(path)
		if err != nil {
			os.Exit(1)
		}
		time.Sleep(10 * time.Minute)
		_ = f.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	if result, _ := Run(t.Context(), `no-such-program-here`, "", nil, time.Minute); result == Succeeded || !strings.HasPrefix(result, "exit ") {
		t.Errorf("a missing program: %s", result)
	}
	for command, want := range map[string][2]string{
		`echo %NAME%`:                     {"exit 0", "v\r\n"},
		`echo "two words" & exit 5`:       {"exit 5", "\"two words\" \r\n"},
		`(echo a) & (echo b 1>&2)`:        {"exit 0", "a\r\nb \r\n"},
		`if exist no-such-file (exit 1)`:  {"exit 0", ""},
		`cd ` + t.TempDir() + ` && cd ..`: {"exit 0", ""},
	} {
		result, output := Run(t.Context(), command, t.TempDir(), []string{"NAME=v"}, time.Minute)
		if result != want[0] || want[1] != "" && output != want[1] {
			t.Errorf("%s: %q, %q; want %q", command, result, output, want)
		}
	}
}

// TestLimit checks that a script that exceeds its limit is killed with the processes that it started.
func TestLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	result, output := Run(t.Context(), `"`+os.Args[0]+`" & echo not reached`, "", append(os.Environ(), hangs+"="+path), 3*time.Second)
	if !strings.HasPrefix(result, "killed after") || output != "" {
		t.Errorf("%q, %q", result, output)
	}
	for range 100 {
		if err := os.Remove(path); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the process that the script started still runs:", os.Remove(path))
}
