package machine

import (
	"rollcall/adapters"
	"rollcall/app"
)

// SessionJSON is a session in the JSON documents of Rollcall, and a row of a stream. Empty fields are left out.
type SessionJSON struct {
	ID             string              `json:"id"`
	Machine        string              `json:"machine,omitempty"`
	Agent          adapters.Name       `json:"agent"`
	Status         adapters.Status     `json:"status"`
	WaitingFor     adapters.WaitingFor `json:"waiting_for,omitempty"`
	Outcome        adapters.Outcome    `json:"outcome,omitempty"`
	Suspended      bool                `json:"suspended,omitempty"`
	Evidence       string              `json:"evidence"`
	Stale          *StaleJSON          `json:"stale,omitempty"`
	PID            int                 `json:"pid,omitempty"`
	CWD            string              `json:"cwd,omitempty"`
	Branch         string              `json:"branch,omitempty"`
	Model          string              `json:"model,omitempty"`
	Title          string              `json:"title,omitempty"`
	FirstPrompt    string              `json:"first_prompt,omitempty"`
	LastPrompt     string              `json:"last_prompt,omitempty"`
	Parent         string              `json:"parent,omitempty"`
	Remote         string              `json:"remote,omitempty"`
	Container      string              `json:"container,omitempty"`
	Tokens         *adapters.Tokens    `json:"tokens,omitempty"`
	Context        *adapters.Context   `json:"context,omitempty"`
	CostUSD        float64             `json:"cost_usd,omitempty"`
	StartedAt      string              `json:"started_at,omitempty"`
	TurnStartedAt  string              `json:"turn_started_at,omitempty"`
	LastActivityAt string              `json:"last_activity_at,omitempty"`
	Version        string              `json:"version,omitempty"`
	Unattended     bool                `json:"unattended,omitempty"`
	Unstored       bool                `json:"unstored,omitempty"`
	Limited        bool                `json:"limited,omitempty"`
	Launch         *LaunchJSON         `json:"launch,omitempty"`
}

// LaunchJSON is the record of a session that Rollcall started.
type LaunchJSON struct {
	ID         string `json:"id"`
	Group      string `json:"group,omitempty"`
	Spec       string `json:"spec,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	LaunchedAt string `json:"launched_at"`
	// ExitCode is missing while the agent's process runs, and where CodeUnknown reports that the code is not known.
	ExitCode    *int   `json:"exit_code,omitempty"`
	Signal      string `json:"signal,omitempty"`
	CodeUnknown bool   `json:"exit_code_unknown,omitempty"`
}

// StaleJSON is why a session is as it was seen last.
type StaleJSON struct {
	Since  string `json:"since"`
	Reason string `json:"reason"`
}

// AdapterJSON is how an adapter answered.
type AdapterJSON struct {
	Name      adapters.Name    `json:"name"`
	State     app.AdapterState `json:"state"`
	Error     string           `json:"error,omitempty"`
	ElapsedMS int64            `json:"elapsed_ms"`
	Sessions  int              `json:"sessions"`
	LookedIn  []string         `json:"looked_in,omitempty"`
}

// RemovedJSON names a row of a stream that is gone.
type RemovedJSON struct {
	Agent adapters.Name `json:"agent"`
	ID    string        `json:"id"`
}

// HelloJSON is what the first line of a stream says of its writer.
type HelloJSON struct {
	Version   string `json:"version"`
	Host      string `json:"host,omitempty"`
	Heartbeat int    `json:"heartbeat"` // seconds
}
