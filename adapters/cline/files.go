package cline

import (
	"fmt"

	"rollcall/adapters/internal/agentfile"
	"rollcall/adapters/internal/kit"
)

// factsFormat must be raised when the same facts get another meaning.
const factsFormat = 1

// facts holds what a file says, which is a manifest or a conversation. Copies share the ledger, to which nothing is added any more.
type facts struct {
	manifest manifest
	talk     conversation
}

// Line implements kit.Gatherer.
func (f *facts) Line(data []byte) (err error) {
	if agentfile.Get(data, "messages") != nil {
		f.talk, err = parseConversation(data)
	} else {
		f.manifest, err = parseManifest(data)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", kit.ErrForm, err)
	}
	return nil
}

// Long implements kit.Gatherer. A file is one record.
func (f *facts) Long(string) {}

// Partial implements kit.Gatherer.
func (f *facts) Partial() {}

// Clone implements kit.Gatherer.
func (f *facts) Clone() facts { return *f }
