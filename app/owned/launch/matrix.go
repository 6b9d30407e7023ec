package launch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/adapters"
	"rollcall/app/owned/worktree"
)

// Member is one agent of a group, with its model and permission mode.
type Member struct {
	Agent adapters.Name
	Model string
	Mode  string
}

// Matrix is one prompt for several agents or models.
type Matrix struct {
	Request  Request // what all members have in common
	Members  []Member
	Worktree worktree.Wanted
}

// matrixFile is a matrix file in YAML.
type matrixFile struct {
	Prompt     string        `yaml:"prompt"`
	PromptFile string        `yaml:"prompt_file"`
	CWD        string        `yaml:"cwd"`
	Spec       string        `yaml:"spec"`
	Files      []string      `yaml:"files"`
	Group      string        `yaml:"group"`
	Answerable bool          `yaml:"answerable"`
	OnCreate   string        `yaml:"on_create"`
	OnComplete string        `yaml:"on_complete"`
	Hooks      matrixHooks   `yaml:"hooks"`
	Branch     string        `yaml:"branch"`
	BaseBranch string        `yaml:"base_branch"`
	Matrix     []matrixEntry `yaml:"matrix"`
}

// matrixHooks holds the hooks of agentctl's matrix files.
type matrixHooks struct {
	OnCreate   string `yaml:"on_create"`
	OnComplete string `yaml:"on_complete"`
}

type matrixEntry struct {
	Agent   string    `yaml:"agent"`
	Adapter string    `yaml:"adapter"` // agent, as agentctl's matrix files have it
	Model   oneOrMore `yaml:"model"`
	Models  oneOrMore `yaml:"models"` // one launch each
	Mode    string    `yaml:"mode"`
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *oneOrMore) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode((*[]string)(o))
	}
	var one string
	err := n.Decode(&one)
	*o = oneOrMore{one}
	return err
}

const (
	maxMatrix  = 1 << 20
	maxMembers = 20
)

// LoadMatrix reads a matrix file, or a descriptor as ReadPromptFile does, until ctx is done. Relative paths in the file are relative to its
// folder. Options override values of the file, except for Files, which LoadMatrix adds. Its errors name the file and,
// where possible, the line.
func LoadMatrix(ctx context.Context, path string, o *Options) (*Matrix, error) {
	text, err := readAll(ctx, fileAt(path, true), maxMatrix)
	if err != nil {
		return nil, err
	}
	if len(text) > maxMatrix {
		return nil, fmt.Errorf("%s: %w", path, mistake("the matrix file is larger than 1 MB"))
	}
	m, err := parseMatrix(ctx, []byte(text), filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o.override(&m.Request)
	return m, o.checkAnswerable(&m.Request)
}

// MatrixError is a mistake in a matrix file, not a failure to read it.
type MatrixError struct{ Err error }

func (e *MatrixError) Error() string { return e.Err.Error() }
func (e *MatrixError) Unwrap() error { return e.Err }

func mistake(format string, args ...any) error { return &MatrixError{fmt.Errorf(format, args...)} }

func parseMatrix(ctx context.Context, text []byte, dir string) (*Matrix, error) {
	file, err := decodeMatrix(text)
	if err != nil {
		return nil, mistake("%w", err)
	}
	if file.Prompt != "" && file.PromptFile != "" {
		return nil, mistake("the matrix has both prompt and prompt_file; remove one of them")
	}
	below := func(p string) string {
		if p == "" || filepath.IsAbs(p) || p == "~" || strings.HasPrefix(p, "~/") {
			return Path(p)
		}
		return filepath.Join(dir, p)
	}
	o := Options{Dir: below(file.CWD), Prompt: file.Prompt, PromptFile: below(file.PromptFile), Pipes: true,
		Group: file.Group, Answerable: file.Answerable, Spec: below(file.Spec), OnCreate: cmp.Or(file.OnCreate, file.Hooks.OnCreate), OnComplete: cmp.Or(file.OnComplete, file.Hooks.OnComplete)}
	if file.CWD == "" {
		o.Dir = dir
	}
	for _, f := range file.Files {
		o.Files = append(o.Files, below(f))
	}
	req, err := o.Request(ctx)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Request: req, Worktree: worktree.Wanted{Branch: file.Branch, Base: file.BaseBranch}}
	for i, e := range file.Matrix {
		members, err := e.members()
		if err != nil {
			return nil, mistake("entry %d of the matrix: %w", i+1, err)
		}
		m.Members = append(m.Members, members...)
	}
	if len(m.Members) == 0 {
		return nil, mistake("the list matrix names no agent; add entries such as \"- agent: codex\"")
	}
	if err := CheckMembers(m.Members); err != nil {
		return nil, mistake("%w", err)
	}
	return m, nil
}

func (e *matrixEntry) members() ([]Member, error) {
	agent := cmp.Or(e.Agent, e.Adapter)
	switch {
	case agent == "":
		return nil, errors.New("the key agent is missing")
	case e.Agent != "" && e.Adapter != "":
		return nil, errors.New("the entry has both agent and adapter; remove one of them")
	case len(e.Model) > 0 && len(e.Models) > 0:
		return nil, errors.New("the entry has both model and models; remove one of them")
	}
	models := slices.Concat(e.Model, e.Models)
	if len(models) == 0 {
		models = oneOrMore{""}
	}
	out := make([]Member, len(models))
	for i, model := range models {
		out[i] = Member{adapters.Name(agent), model, e.Mode}
	}
	return out, nil
}

// CheckMembers returns an error for a group that is too large.
func CheckMembers(list []Member) error {
	if len(list) > maxMembers {
		return fmt.Errorf("a group has at most %d launches, not %d", maxMembers, len(list))
	}
	return nil
}

// decodeMatrix parses a matrix. A misspelt key is an error. Its errors name the line where possible. It returns a panic of
// the YAML library as an error.
func decodeMatrix(text []byte) (file matrixFile, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = matrixFile{}, fmt.Errorf("the file can't be read as YAML: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	switch err := d.Decode(&file); {
	case errors.Is(err, io.EOF):
		return file, errors.New("the file is empty")
	case err != nil:
		return file, explainYAML(err)
	}
	var more yaml.Node
	if err := d.Decode(&more); err == nil {
		return file, fmt.Errorf("line %d: a second document begins; a matrix file has only one", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return file, explainYAML(err)
	}
	return file, nil
}

// unknownField matches the library's message for an unknown key, which names a Go type.
var unknownField = regexp.MustCompile(`field (.*) not found in type \S+`)

// explainYAML returns an error of the library in words for the user.
func explainYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n")
	text = unknownField.ReplaceAllString(text, `"$1" is not a key of a matrix file`)
	if !strings.Contains(text, "line ") {
		text = "line 1: " + text // the library omits the number of the first line
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		line = strings.NewReplacer(" into launch.matrixFile", "", " into launch.matrixHooks", ", where on_create and on_complete belong", " into []launch.matrixEntry", ", where a list of agents belongs",
			" into launch.matrixEntry", ", where an agent belongs", " into []string", ", where a list belongs", " into string", ", where text belongs",
			"cannot unmarshal", "can't use").Replace(line)
		lines = append(lines, line)
	}
	return errors.New(strings.Join(lines, "; "))
}
