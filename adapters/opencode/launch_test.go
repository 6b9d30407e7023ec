package opencode

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
)

// program returns a program that says that it has this version.
func program(t *testing.T, says string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	path := filepath.Join(t.TempDir(), "opencode")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+says+"\n"), 0o700))
	return path
}

// A terminal interface gets a port only if its server asks for a password.
func TestCommandAnswerable(t *testing.T) {
	for says, port := range map[string]bool{
		"echo 1.18.33": true, "echo 1.18.40": true, "echo 2.0.0-beta.1": false, "echo 2.0.12": false, "echo opencode v2.0.12": false,
		"echo 1.1.65": false, "echo 1.18.33-rc.1": false, "echo 0.15.2": false, "echo local": false, "exit 1": false, "echo 1.18.33; exit 1": false,
	} {
		a := New(adapters.Config{Home: t.TempDir()})
		c, err := a.Command(program(t, says), adapters.Task{Terminal: true, Answerable: true})
		if err != nil || slices.Contains(c.Args, "--port") != port || c.Secret.IsZero() == port {
			t.Errorf("%s: %v, %v", says, c.Args, err)
		}
		if !port {
			continue
		}
		if len(c.Secret.Value) < 26 || c.Secret.Name != "OPENCODE_SERVER_PASSWORD" || strings.Contains(strings.Join(c.Args, " "), c.Secret.Value) {
			t.Errorf("%+v", c)
		}
		if n, err := strconv.Atoi(c.Args[3]); err != nil || n < firstPort || n >= lastPort || c.Args[1] != "127.0.0.1" {
			t.Errorf("%v", c.Args)
		}
	}
}

func TestCommandWithoutPort(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir()})
	for name, task := range map[string]adapters.Task{"a terminal that is not to be answered": {Terminal: true}, "in the background": {Prompt: "x"}} {
		c, err := a.Command(program(t, "echo 1.18.33"), task)
		if err != nil || slices.Contains(c.Args, "--port") || !c.Secret.IsZero() {
			t.Errorf("%s: %v, %v", name, c.Args, err)
		}
	}
}

func TestFreePort(t *testing.T) {
	port, err := freePort()
	must.Do(t, err)
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	must.Do(t, err)
	_ = l.Close()
}

// The password of a launch goes to that launch's process; other servers get the one of Rollcall's environment.
func TestPasswordOfLaunch(t *testing.T) {
	launched := proc.Identity{PID: 4711, Start: 1}
	a := New(adapters.Config{Home: t.TempDir(),
		Env: func(name string) string {
			return map[string]string{"OPENCODE_SERVER_PASSWORD": "mine", "OPENCODE_SERVER_USERNAME": "me"}[name]
		},
		Password: func(id proc.Identity) string {
			if id == launched {
				return "launched"
			}
			return ""
		}})
	if c := a.client(&host{Process: processOf(launched)}, ""); c.User != "opencode" || c.Password != "launched" {
		t.Errorf("%s, %s", c.User, c.Password)
	}
	if c := a.client(&host{Process: processOf(proc.Identity{PID: 4712, Start: 1})}, ""); c.User != "me" || c.Password != "mine" {
		t.Errorf("%s, %s", c.User, c.Password)
	}
}
