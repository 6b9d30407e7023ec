package agents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// slowest are parts of the names of the tests that take longest: they start first.
var slowest = []string{"Untouched", "OpenClaw", "Launch", "OpenCode"}

// selected returns the names of the tests that -test.run chooses, in the order in which they start.
func selected() ([]string, error) {
	pattern, _, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	if pattern == "" {
		pattern = "."
	}
	output, err := exec.Command("/proc/self/exe", "-test.list="+pattern).Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w", err)
	}
	tests := strings.Fields(string(output))
	slices.SortStableFunc(tests, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return tests, nil
}

// rank is the place of a test in slowest.
func rank(test string) int {
	i := slices.IndexFunc(slowest, func(part string) bool { return strings.Contains(test, part) })
	if i < 0 {
		return len(slowest)
	}
	return i
}

// atOnce is how many tests run at the same time: the agents wait for most of it.
func atOnce() int { return runtime.NumCPU() + 2 }

// runAll runs each test in namespaces of its own, and prints what it printed when it
// has ended. It reports whether one failed.
func runAll(ctx context.Context, tests []string, cache, work string) (failed bool, err error) {
	queue := make(chan string, len(tests))
	for _, test := range tests {
		queue <- test
	}
	close(queue)
	var mu sync.Mutex // of the output and of the results
	var workers sync.WaitGroup
	for range min(atOnce(), len(tests)) {
		workers.Go(func() {
			runtime.LockOSThread() // the namespaces end with this thread
			for test := range queue {
				output, code, problem := runApart(ctx, test, cache, work)
				mu.Lock()
				_, _ = os.Stdout.Write(output)
				failed, err = failed || code != 0, errors.Join(err, problem)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return failed, err
}

// runApart runs one test in namespaces of its own, whose /tmp is a folder below work.
func runApart(ctx context.Context, test, cache, work string) (output []byte, code int, err error) {
	if ctx.Err() != nil {
		return nil, 0, fmt.Errorf("%s: interrupted", test)
	}
	dir := filepath.Join(work, test)
	if err := share(work, dir); err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	repository, err := filepath.Abs("../..")
	if err != nil {
		return nil, 0, err
	}
	_, rest, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	if rest != "" {
		rest = "/" + rest
	}
	var arguments []string
	for _, argument := range os.Args[1:] {
		// The go command wants this file for its cache; it is not to be seen inside.
		if !strings.HasPrefix(argument, "-test.testlogfile=") {
			arguments = append(arguments, argument)
		}
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append(arguments, "-test.run=^"+test+"$"+rest)...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.SysProcAttr = isolation()
	cmd.Env = append(os.Environ(), stageKey+"="+stageInit, workKey+"="+dir, cacheKey+"="+cache,
		keepKey+"="+strings.Join([]string{cache, repository}, "\n"), "TMPDIR=/tmp")
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = 1, nil
	}
	keepShared(work, dir)
	return withoutVerdict(text.Bytes()), code, err
}

// withoutVerdict leaves out the last line, which is the verdict on all tests of a program.
func withoutVerdict(output []byte) []byte {
	for _, verdict := range []string{"PASS\n", "FAIL\n"} {
		if head, found := bytes.CutSuffix(output, []byte(verdict)); found {
			return bytes.TrimSuffix(head, []byte("\x16")) // go test -json marks its lines
		}
	}
	return output
}

// share links what all tests use into a folder that becomes the /tmp of one.
func share(work, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, path := range []string{filepath.Dir(headlessBinary), codexPackages} {
		name := filepath.Base(path)
		if err := linkTree(filepath.Join(work, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// keepShared keeps what Codex unpacked in the folder of a test for the tests to come.
func keepShared(work, dir string) {
	name := filepath.Base(codexPackages)
	_ = os.Rename(filepath.Join(dir, name), filepath.Join(work, name)) // fails where there is none, or others have it
}
