package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"rollcall/app/present"
)

// Error describes for the user why a machine could not be asked.
type Error struct {
	Text string
	// Missing reports that the machine answered and has no Rollcall.
	Missing bool
	// Old reports that the Rollcall there lacks a function which this one needs.
	Old bool
}

func (e *Error) Error() string { return e.Text }

func failure(format string, args ...any) error { return &Error{Text: fmt.Sprintf(format, args...)} }

// sshFailure is the exit code of ssh if it failed before the command ran.
const sshFailure = 255

// sshReasons are ssh's own messages (OpenSSH 7.6 to 10), in lower case, and what they mean. The first that fits counts.
var sshReasons = []struct{ message, text string }{
	{"remote host identification has changed", "the host key of %[1]s has changed: another machine may pretend to be it, or it was installed again. Check that, then remove the old key: ssh-keygen -R HOST"},
	{"host key verification failed", "the host key of %[1]s is not known here: connect once with ssh %[1]s, and check the key"},
	{"no matching host key type", "%[1]s and this machine's ssh have no kind of host key in common"},
	{"permission denied (", ""}, // see denied
	{"too many authentication failures", "%[1]s refused the keys of your agent (too many): name the right one with IdentityFile and IdentitiesOnly in ~/.ssh/config"},
	{"could not resolve hostname", "host not found: %[1]s; check the name, or your network"},
	{"connection refused", "connection refused: no ssh server listens on %[1]s"},
	{"timed out", "%[1]s did not answer in time"},
	{"timeout", "%[1]s did not answer in time"},
	{"no route to host", "%[1]s cannot be reached: no route to it"},
	{"network is unreachable", "%[1]s cannot be reached: there is no network"},
	{"bad configuration option", ""},
	{"bad owner or permissions", ""},
	{"connection closed", "%[1]s closed the connection"},
	{"connection reset", "%[1]s closed the connection"},
	{"closed by remote host", "%[1]s closed the connection"},
	{"broken pipe", "the connection to %[1]s was cut"},
	{"kex_exchange_identification", "%[1]s answers, but not as an ssh server"},
	{"ssh_exchange_identification", "%[1]s answers, but not as an ssh server"},
}

// containerReasons are the messages of docker (20 to 28) and podman (3 to 5) for exec, in lower case, and what they mean.
var containerReasons = []struct{ message, text string }{
	{"container state improper", "the container is not running: start it"},
	{"is not running", "the container is not running: start it"},
	{"no such container", "there is no such container"},
	{"no container with name or id", "there is no such container"},
}

// containerReason returns a message that explains what a command other than ssh printed, or "" if the output is not known.
func (h *Host) containerReason(said string) string {
	if h.SSH != "" {
		return ""
	}
	lower := strings.ToLower(lastLine(said))
	for _, r := range containerReasons {
		if strings.HasPrefix(lower, "error") && strings.Contains(lower, r.message) {
			return r.text
		}
	}
	return ""
}

// reason returns why a command on a machine failed. err is the error of its process, said is what it wrote to its standard error.
func (h *Host) reason(err error, said string) error {
	var start *fs.PathError
	switch {
	case errors.As(err, &start) && !errors.Is(err, fs.ErrNotExist):
		return failure("%s cannot be started: %v", present.Line(start.Path), start.Err)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		if h.SSH != "" {
			return failure("ssh is not installed on this machine: install the OpenSSH client")
		}
		return failure("%s is not installed on this machine", present.Line(h.Exec[0]))
	}
	code := exitCode(err)
	last := lastLine(said)
	switch {
	case code == sshFailure && h.SSH != "":
		return failure("%s", h.sshReason(said))
	case h.containerReason(said) != "":
		return failure("%s", h.containerReason(said))
	case code == noRollcall, h.SSH == "" && strings.Contains(strings.ToLower(said), "executable file not found"):
		text := "there is no Rollcall on " + present.Line(h.target())
		if h.SSH != "" {
			text += "; rollcall machine add " + h.SSH + " copies it"
		}
		return &Error{Text: text, Missing: true}
	case strings.Contains(said, "unknown flag: --snapshot"), strings.Contains(said, "unknown flag: --end-with-stdin"):
		return h.tooOld()
	case last != "":
		return failure("%s", last)
	case code != 0:
		return failure("the command there ended: %v", err)
	}
	return failure("the connection was closed")
}

// tooOld returns the error for a Rollcall that lacks a function which this one needs.
func (h *Host) tooOld() error {
	text := "the Rollcall there is too old for this one: update it"
	if h.SSH != "" {
		text += " (rollcall machine add --update " + h.Name + ")"
	}
	return &Error{Text: text, Old: true}
}

// sshReason returns a message for the user that explains what ssh printed.
func (h *Host) sshReason(said string) string {
	lower := strings.ToLower(said)
	for _, r := range sshReasons {
		switch {
		case !strings.Contains(lower, r.message):
		case r.message == "permission denied (":
			return h.denied(lower)
		case r.text == "":
			return "ssh: " + lastLine(said)
		default:
			return fmt.Sprintf(r.text, h.SSH)
		}
	}
	if last := lastLine(said); last != "" {
		return "ssh: " + last
	}
	return "the connection to " + h.SSH + " was cut"
}

// denied returns the message for a refused login: the server asks for a password, or accepts none of the keys.
func (h *Host) denied(lower string) string {
	_, methods, _ := strings.Cut(lower, "permission denied (")
	methods, _, _ = strings.Cut(methods, ")")
	if strings.Contains(methods, "password") || strings.Contains(methods, "keyboard-interactive") {
		return fmt.Sprintf("permission denied: %[1]s asks for a password, and Rollcall gives none: set up a key (ssh-copy-id %[1]s), or load yours (ssh-add)", h.SSH)
	}
	return fmt.Sprintf("permission denied: %[1]s accepts none of your keys; is the right one loaded (ssh-add -l)?", h.SSH)
}

// exitCode returns the exit code of a process that ended with err; -1: it has none. exec.ErrWaitDelay means that the process succeeded, and that a process it
// left behind keeps its output open.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// lastLine returns the last line that a program printed, cleaned and cut.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return present.Cut(present.Line(lines[len(lines)-1]), maxReason)
}

// maxReason is the width of a reason in cells.
const maxReason = 300

// maxTail is the number of bytes that are kept from the end of a command's standard error.
const maxTail = 8 << 10
