// Command agent plays the process of a coding agent: it does nothing by itself,
// and what it is told over named pipes in its home. Agents with a socket would
// count as connected to a model: they have one when they are told to. A test that is gone ends it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Hello is what a process says of itself when it begins.
type Hello struct {
	PID    int
	Dir    string
	Launch string // the id of the launch that started it
}

// Order is one thing to do. Each is answered with a line.
type Order struct {
	Comm string   // call the process that
	Open string   // hold this file open
	Run  []string // start this program with these arguments, as a child
	Path string   // the program of Run
	Env  []string // what Run has in its environment beside
	// In and Out are files that are the standard input and output of Run; empty: it has none.
	In, Out string
	Exit    *int // end with this code
	// Connect opens a socket, and keeps it.
	Connect bool
	// Write Text into this file, in place of what is in it or behind that.
	Write, Append string
	Text          string
}

// Ticks is the variable with which a process is a command: it does nothing but run for a moment, again and again.
const Ticks = "ROLLCALL_HARNESS_TICKS"

func main() {
	for os.Getenv(Ticks) != "" {
		time.Sleep(time.Second / 2)
	}
	interrupted := make(chan os.Signal, 1) // also where make was started with the signal ignored
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		<-interrupted
		os.Exit(130)
	}()
	fmt.Fprintln(os.Stderr, "agent:", os.Getpid(), play())
	os.Exit(1)
}

// play does what it is told, until it is told to end or can't be told any more.
func play() error {
	pipes := filepath.Join(os.Getenv("HOME"), "pipes")
	own := filepath.Join(pipes, strconv.Itoa(os.Getpid()))
	for _, path := range []string{own + ".in", own + ".out"} {
		_ = os.Remove(path) // of a process that had this pid before
		if err := unix.Mkfifo(path, 0o600); err != nil {
			return err
		}
	}
	if err := arrive(filepath.Join(pipes, "hello")); err != nil {
		return err
	}
	in, err := os.OpenFile(own+".in", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(own+".out", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o Order
		if err := orders.Decode(&o); err != nil {
			return err
		}
		if err := obey(o); err != nil {
			return err
		}
		if err := answers.Encode("done"); err != nil {
			return err
		}
	}
}

// arrive sends its arrival to the test in one write, which is never mixed with another's.
func arrive(path string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	text, err := json.Marshal(Hello{PID: os.Getpid(), Dir: dir, Launch: os.Getenv("ROLLCALL_LAUNCH")})
	if err != nil {
		return err
	}
	hello, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer hello.Close()
	_, err = hello.Write(append(text, '\n'))
	return err
}

// held are the files that stay open.
var held []*os.File

func obey(o Order) error {
	switch {
	case o.Comm != "":
		return os.WriteFile("/proc/self/comm", []byte(o.Comm), 0)
	case o.Open != "":
		f, err := os.OpenFile(o.Open, os.O_WRONLY|os.O_APPEND, 0)
		held = append(held, f)
		return err
	case o.Connect:
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case o.Write != "":
		return os.WriteFile(o.Write, []byte(o.Text), 0o644)
	case o.Append != "":
		f, err := os.OpenFile(o.Append, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(o.Text)
		return err
	case o.Path != "":
		return run(o)
	case o.Exit != nil:
		os.Exit(*o.Exit)
	}
	return nil
}

// run starts a child.
func run(o Order) error {
	child := &exec.Cmd{Path: o.Path, Args: o.Run, Env: append(os.Environ(), o.Env...), Stderr: os.Stderr}
	if o.In != "" {
		in, inErr := os.Open(o.In)
		out, outErr := os.OpenFile(o.Out, os.O_WRONLY|os.O_APPEND, 0)
		if err := errors.Join(inErr, outErr); err != nil {
			return err
		}
		defer in.Close()
		defer out.Close()
		child.Stdin, child.Stdout = in, out
	}
	if err := child.Start(); err != nil {
		return err
	}
	go func() { _ = child.Wait() }()
	return nil
}
