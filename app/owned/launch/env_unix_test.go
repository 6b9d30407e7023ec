//go:build unix

package launch

import (
	"slices"
	"testing"

	"rollcall/adapters"
)

// PWD names the folder of the launch, whatever the shell's is: OpenCode works in the folder that it names.
func TestChildEnv(t *testing.T) {
	p := &Plan{Request: Request{Task: adapters.Task{Dir: "/work/b"}}, Env: []string{"PWD=/work/a", "HOME=/home/dev"}}
	if got := p.childEnv("l-1"); !slices.Equal(got, []string{"HOME=/home/dev", "PWD=/work/b", "ROLLCALL_LAUNCH=l-1"}) {
		t.Errorf("%q", got)
	}
}
