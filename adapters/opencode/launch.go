package opencode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"rollcall/adapters"
	"rollcall/adapters/internal/agentproc"
	"rollcall/adapters/internal/kit"
)

// Modes implements adapters.Launcher: the built-in agents of OpenCode are its modes
// (--agent). In the background OpenCode refuses every action that needs a permission.
func (a *Adapter) Modes() []adapters.Mode {
	return []adapters.Mode{
		{Name: "build", Says: "works as its configuration permits"},
		{Name: "plan", Says: "makes a plan and changes nothing"},
	}
}

// Command implements adapters.Launcher (1.1.65 to 1.18.33; 2.0 has the same options but for the port, as its source says).
// `opencode run` reads the prompt from standard input; the terminal interface gets it as an argument. The id of a new session
// can be chosen only where the service of 2.0 runs. A terminal interface that can be answered listens on a separate port on
// loopback, with a password.
func (a *Adapter) Command(program string, t adapters.Task) (adapters.Command, error) {
	c := adapters.Command{Path: program, Session: t.Resume}
	if err := a.useHome(&c, program, t.Home); err != nil {
		return c, err
	}
	switch {
	case t.Terminal && t.Answerable && a.knowsPassword(program):
		port, err := freePort()
		if err != nil {
			return c, err
		}
		c.Args = []string{"--hostname", "127.0.0.1", "--port", strconv.Itoa(port)}
		c.Secret = adapters.NewSecret(a.product.password())
		c.Set = append(c.Set, a.product.user()+"="+defaultUser)
	case !t.Terminal:
		c.Args, c.Stdin = []string{"run", "--format", "json"}, t.Prompt
	}
	if t.Resume == "" {
		a.chooseSession(&c, program, t.Dir)
	}
	if c.Session != "" {
		c.Args = append(c.Args, "--session", c.Session)
	}
	if t.Model != "" {
		c.Args = append(c.Args, "--model="+t.Model)
	}
	if t.Mode != "" {
		c.Args = append(c.Args, "--agent", t.Mode)
	}
	if t.Terminal && t.Prompt != "" {
		c.Args = append(c.Args, "--prompt="+t.Prompt)
	}
	return c, nil
}

// useHome makes a command use a home, in which its login is too. The tools that the agent runs see the variable as well: it has no other.
func (a *Adapter) useHome(c *adapters.Command, program, home string) error {
	if err := agentproc.UseHome(c, home, a.ownHome(), "XDG_DATA_HOME", a.product.HomeFolder); err != nil || c.Set == nil {
		return err
	}
	if isNext(a.programVersion(program)) {
		return errors.New("OpenCode 2 keeps all sessions in the home of its service: start the service with another XDG_DATA_HOME")
	}
	c.Unset = []string{a.product.Variable + "DB"} // it would name the database of another home
	return nil
}

// versionLimit is how long `opencode --version` may take.
const versionLimit = 10 * time.Second

var versionPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$`)

// knowsPassword reports whether the server of a program can ask for a password.
func (a *Adapter) knowsPassword(program string) bool {
	version := a.programVersion(program)
	return version != "" && semver.Compare(version, a.product.PasswordSince) >= 0 && !isNext(version) // a terminal of 2.0 has no server of its own
}

// isNext reports whether a version is one of OpenCode 2.
func isNext(version string) bool { return semver.Compare(version, "v2.0.0-0") >= 0 }

// programVersion returns the version of a program as "v1.2.3", and "" if it is not known, or not needed for this agent. 1.x prints
// 1.18.33, and 2.0 "opencode v2.0.12". The program is run once, since not every installation stores its version.
func (a *Adapter) programVersion(program string) string {
	if a.product.PasswordSince == "" {
		return ""
	}
	printed, err := a.versions.Of(program, versionLimit, "--version")
	version := strings.TrimPrefix(strings.TrimSpace(printed), "opencode v")
	if err != nil || !versionPattern.MatchString(version) {
		return ""
	}
	return "v" + version
}

// chooseSession chooses the id of a new session of OpenCode 2, which its service makes right before the start. Without that id the
// session could not be found: its process is the service. A terminal or a run continues the session then. Without a service, which the program
// starts itself, no id is chosen.
func (a *Adapter) chooseSession(c *adapters.Command, program, dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	service := a.ownService(ctx)
	if service == nil {
		return
	}
	if version := a.programVersion(program); version == "" || !isNext(version) {
		return // 1.x does not use the service
	}
	id := "ses_" + strings.ReplaceAll(kit.New(), "-", "")[:26]
	c.Session = id
	c.Before = func(ctx context.Context) error { return service.create(ctx, id, dir) }
}

const (
	// firstPort and lastPort bound the ports for launches. They are below those that systems
	// give to outgoing connections, so that no program is given one by chance.
	firstPort, lastPort = 20000, 32000
	portTries           = 50
)

// freePort returns a random port of loopback on which no program listens.
func freePort() (int, error) {
	var last error
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("no free port was found on 127.0.0.1 for answering the session: %w", last)
}
