package keep

import (
	"crypto/sha256"
	"os"
	"time"

	"rollcall/app/self/instance"
	"rollcall/proc"
)

// claimName returns the name that the keeper claims in the state folder. It differs between machines and containers that
// share the folder, since none can keep what runs on another. The claim is not in the system's runtime folder, which is
// removed at logout while the keeper runs on.
func claimName() string {
	// The name of the host may change while the keeper runs, as on another network.
	machine := proc.Space()
	if machine == "" {
		machine, _ = os.Hostname() // an error is ignored: without a host name, machines can't be distinguished
	}
	sum := sha256.Sum256([]byte(machine))
	name := []byte(instance.Keeper + "-")
	for _, b := range sum[:4] {
		name = append(name, 'a'+b>>4, 'a'+b&15)
	}
	return string(name)
}

// The verbs of a request.
const (
	verbStatus = "status" // returns the status
	verbHold   = "hold"   // returns the status; the keeper does not end within the next minute
	verbAttend = "attend" // the keeper sends its status, and again when it changes, until one of the two ends
	verbStart  = "start"  // starts the process of a launch
	verbYield  = "yield"  // the keeper ends so that a newer version can replace it
)

// request is a request of a process to the keeper.
type request struct {
	Verb    string          `json:"verb"`
	Webhook *webhookRequest `json:"webhook,omitempty"` // for attend: the webhook of that process's environment
	Start   *startRequest   `json:"start,omitempty"`
}

// webhookRequest is a webhook that replaces the keeper's own.
type webhookRequest struct {
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"`
}

// startRequest describes the process of a launch. Its texts are bytes, since JSON would change those that are not UTF-8.
type startRequest struct {
	ID      string        `json:"id"`
	Starter proc.Identity `json:"starter"`
	Path    []byte        `json:"path"`
	Args    [][]byte      `json:"args"`
	Dir     []byte        `json:"dir"`
	Env     [][]byte      `json:"env"`
	Stdin   []byte        `json:"stdin"`
	Pipe    []byte        `json:"pipe,omitempty"`
	Output  []byte        `json:"output"`
	Errors  []byte        `json:"errors,omitempty"`
	Umask   int           `json:"umask"` // of the process that launches; negative: use the keeper's
}

func newStartRequest(id string, starter proc.Identity, c *proc.Command) *startRequest {
	return &startRequest{ID: id, Starter: starter, Path: []byte(c.Path), Args: convert[[]byte](c.Args), Dir: []byte(c.Dir), Env: convert[[]byte](c.Env),
		Stdin: []byte(c.Stdin), Pipe: []byte(c.Pipe), Output: []byte(c.Output), Errors: []byte(c.Errors), Umask: umask()}
}

func (s *startRequest) command() proc.Command {
	return proc.Command{Path: string(s.Path), Args: convert[string](s.Args), Dir: string(s.Dir), Env: convert[string](s.Env), Stdin: string(s.Stdin),
		Pipe: string(s.Pipe), Output: string(s.Output), Errors: string(s.Errors)}
}

func convert[To, From string | []byte](list []From) []To {
	out := make([]To, len(list))
	for i, text := range list {
		out[i] = To(text)
	}
	return out
}

// answer is the keeper's answer to a request.
type answer struct {
	Status *Status `json:"status,omitempty"`
	PID    int     `json:"pid,omitempty"` // of the process that was started
	Error  string  `json:"error,omitempty"`
	// Ending reports that the keeper is about to end and did not carry out the request. The next keeper can.
	Ending bool `json:"ending,omitempty"`
}

// Status describes a keeper and the number of things that it keeps.
type Status struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	// Replaced reports that the program's file has been replaced since the keeper started.
	Replaced bool `json:"replaced,omitempty"`
	// Surroundings are those of the keeper; see proc.Surroundings.
	Surroundings map[string]string `json:"surroundings,omitempty"`
	Kept
	Troubles []string `json:"troubles,omitempty"`
}

// Kept counts what there is to keep.
type Kept struct {
	Launches int `json:"launches"` // that run
	Hooks    int `json:"hooks"`    // launches that have no result yet
	Fuses    int `json:"fuses"`    // fuses that have not fired
	Records  int `json:"records"`  // records of launches and fuses that are over, to be removed after a day
	// Webhook reports that ends of sessions are sent, for the processes that asked for that.
	Webhook bool `json:"webhook,omitempty"`
	// Metrics reports that metrics are served or written, for the processes that attend or because the keeper is installed.
	Metrics bool `json:"metrics,omitempty"`
	// Messages of the webhook wait for the server.
	Messages int `json:"messages,omitempty"`
}

// IsNothing reports whether there is nothing to keep.
func (k *Kept) IsNothing() bool { return *k == Kept{} }
