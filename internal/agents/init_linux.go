package agents

import (
	"fmt"
	"os"
	"strings"

	"rollcall/internal/namespaces"
)

// initNamespaces runs as process 1: it makes the namespaces usable and runs the tests.
// With its end the kernel ends everything inside. Their /tmp is their own, since
// agents put sockets there under names made of process ids, which would collide
// with those of the user's own agents.
func initNamespaces() int {
	err := namespaces.Furnish(os.Getenv(workKey), strings.Split(os.Getenv(keepKey), "\n")...)
	code := 0
	if err == nil {
		code, err = namespaces.Again(stageKey + "=" + stageInside)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents: namespaces:", err)
		return 1
	}
	return code
}
