package launch

import (
	"path/filepath"
	"strings"

	"rollcall/app/owned"
	"rollcall/proc"
)

// secretFile returns the path of the file with the password of a launch's process. It is removed with the process.
func (l *Launches) secretFile(id string) string { return filepath.Join(l.logs, id+".key") }

// keepSecret writes the password of a plan, if it has one, to a file of the user's alone, and notes it in the record.
func (l *Launches) keepSecret(r *Record, p *Plan) error {
	secret := p.Command.Secret
	if secret.IsZero() {
		return nil
	}
	r.Password = true
	return l.writeNew(l.secretFile(r.ID), secret.Value)
}

// maxSecret is far above the length of a password.
const maxSecret = 1 << 10

// Password returns the password with which Rollcall launched a process, or an empty string. The process must belong to
// a launch that has not ended. What can't be read counts as none: the process then refuses what it is asked.
func (l *Launches) Password(process proc.Identity) string {
	for _, r := range l.readable() {
		if !r.Password || r.Ended() || r.Foreign() || r.Process != process && !l.member(&r, process) {
			continue
		}
		var value string
		_ = l.inLogs(func(d *owned.Dir) error {
			text, _, err := d.Read(filepath.Base(l.secretFile(r.ID)), maxSecret)
			value = strings.TrimSpace(string(text))
			return err
		})
		return value
	}
	return ""
}
