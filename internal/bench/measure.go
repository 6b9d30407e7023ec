//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sample is one run of a program: with all processes that it started and waited for.
type sample struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`
	// Memory is the largest resident size of one of its processes, in bytes. It is not
	// less than that of this program, which is therefore kept small: corpora are written,
	// and lists compared, by processes of their own.
	Memory int64 `json:"memory"`
}

// command is a program to run.
type command struct {
	args   []string
	env    []string
	exits  []int     // the codes with which it may end; nil: 0
	out    io.Writer // nil: discarded
	alone  bool      // in namespaces of its own: without a network, and without the machine's processes
	limit  time.Duration
	within string // working folder
}

// maxReason bounds how much of a failed program's words is shown, in bytes.
const maxReason = 400

// run runs a program once.
func (c *command) run(ctx context.Context) (sample, error) {
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.limit)
		defer cancel()
	}
	args := c.args
	if c.alone {
		args = append([]string{"unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var words bytes.Buffer
	cmd.Env = c.env
	cmd.Stdout = c.out
	cmd.Stderr = &words
	cmd.Dir = c.within
	if c.out == nil {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return sample{}, err
		}
		defer null.Close()
		cmd.Stdout = null
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	runtime.LockOSThread() // the death signal is that of the thread that starts the process
	defer runtime.UnlockOSThread()
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if ctx.Err() != nil {
		return sample{}, fmt.Errorf("not finished in %s: %w", c.limit, ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(c.exits, exit.ExitCode()) || err == nil && len(c.exits) > 0 && slices.Contains(c.exits, 0) {
		err = nil
	}
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, reason(words.String()))
	}
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, errors.New("the system does not say what a process used")
	}
	return sample{Wall: wall, CPU: time.Duration(use.Utime.Nano() + use.Stime.Nano()), Memory: use.Maxrss << 10}, nil
}

// reason shortens what a program printed to its end.
func reason(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	if len(words) > maxReason {
		words = "…" + words[len(words)-maxReason:]
	}
	return words
}

// median returns the run with the median time, and of the memory the largest.
func median(samples []sample) sample {
	sorted := slices.Clone(samples)
	slices.SortFunc(sorted, func(a, b sample) int { return int(a.Wall - b.Wall) })
	out := sorted[len(sorted)/2]
	cpu := make([]time.Duration, len(samples))
	for i, s := range samples {
		cpu[i] = s.CPU
		out.Memory = max(out.Memory, s.Memory)
	}
	slices.Sort(cpu)
	out.CPU = cpu[len(cpu)/2]
	return out
}

// repeat runs a program several times, after one run that is not counted. before, if not nil, prepares each run.
func (c *command) repeat(ctx context.Context, runs int, before func() error) (sample, error) {
	var samples []sample
	for i := range runs + 1 {
		if before != nil {
			if err := before(); err != nil {
				return sample{}, err
			}
		}
		s, err := c.run(ctx)
		if err != nil {
			return sample{}, err
		}
		if i > 0 {
			samples = append(samples, s)
		}
	}
	return median(samples), nil
}
