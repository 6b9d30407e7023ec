package adaptertest

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"

	"rollcall/adapters"
)

var plainName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// described: the adapter's description is registered, and true.
func described(c *check) {
	describer, can := c.adapter.(adapters.Describer)
	c.needs(can, "it does not describe its agent")
	d := describer.Describe()
	known, ok := adapters.Describe(c.adapter.Name())
	if !ok || known.Title != d.Title || d.Name != c.adapter.Name() {
		c.Errorf("%s describes itself as %+v; registered is %+v", c.adapter.Name(), d, known)
	}
	for _, name := range []string{string(d.Name), d.Short} {
		if !plainName.MatchString(name) {
			c.Errorf("%q is no name for a command line or a folder", name)
		}
	}
	for _, other := range adapters.Described() {
		if other.Name != d.Name && (other.Short == d.Short || other.Title == d.Title) {
			c.Errorf("%s is called as %s: %+v", d.Name, other.Name, d)
		}
	}
	for _, name := range d.Processes {
		if name == "" || strings.ContainsAny(name, "/ ") {
			c.Errorf("%q is no name that the system keeps of a process", name)
		}
	}
	if is := adapters.CapabilitiesOf(c.adapter); is != d.Can {
		c.Errorf("describes %+v, can %+v", d.Can, is)
	}
	if l, can := c.adapter.(adapters.Launcher); can {
		_, err := l.Program(func(string) (string, error) { return "", exec.ErrNotFound })
		var missing *adapters.NotInstalledError
		if !errors.As(err, &missing) || missing.Install != d.Install {
			c.Errorf("without its program: %v, want how to install it: %s", err, d.Install)
		}
	}
}
