package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"rollcall/adapters"
)

// Member is one agent of a group, with its model and permission mode.
type Member struct {
	Agent adapters.Name
	Model string
	Mode  string
}

// Matrix is one prompt for several agents or models.
type Matrix struct {
	Request Request // what all members have in common
	Members []Member
}

// matrixFile is a matrix file in YAML.
type matrixFile struct {
	Prompt     string        `yaml:"prompt"`
	PromptFile string        `yaml:"prompt_file"`
	CWD        string        `yaml:"cwd"`
	Spec       string        `yaml:"spec"`
	Files      []string      `yaml:"files"`
	Group      string        `yaml:"group"`
	OnCreate   string        `yaml:"on_create"`
	OnComplete string        `yaml:"on_complete"`
	Matrix     []matrixEntry `yaml:"matrix"`
}

type matrixEntry struct {
	Agent  string   `yaml:"agent"`
	Model  string   `yaml:"model"`
	Models []string `yaml:"models"` // one launch each
	Mode   string   `yaml:"mode"`
}

const (
	maxMatrix  = 1 << 20
	maxMembers = 20
)

// LoadMatrix reads a matrix file, which may be a pipe, until ctx is done. Relative paths in the file are relative to its
// folder. Options override values of the file, except for Files, which LoadMatrix adds. Its errors name the file and,
// where possible, the line.
func LoadMatrix(ctx context.Context, path string, o *Options) (*Matrix, error) {
	text, err := readAll(ctx, &lateFile{path: path}, maxMatrix)
	if err != nil {
		return nil, err
	}
	if len(text) > maxMatrix {
		return nil, fmt.Errorf("%s: the matrix file is larger than 1 MB", path)
	}
	m, err := parseMatrix(ctx, []byte(text), filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o.override(&m.Request)
	return m, nil
}

func parseMatrix(ctx context.Context, text []byte, dir string) (*Matrix, error) {
	file, err := decodeMatrix(text)
	if err != nil {
		return nil, err
	}
	if file.Prompt != "" && file.PromptFile != "" {
		return nil, errors.New("the matrix has both prompt and prompt_file; remove one of them")
	}
	below := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	o := Options{Dir: below(file.CWD), Prompt: file.Prompt, PromptFile: below(file.PromptFile), Pipes: true,
		Group: file.Group, Spec: below(file.Spec), OnCreate: file.OnCreate, OnComplete: file.OnComplete}
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
	m := &Matrix{Request: req}
	for i, e := range file.Matrix {
		members, err := e.members()
		if err != nil {
			return nil, fmt.Errorf("entry %d of the matrix: %w", i+1, err)
		}
		m.Members = append(m.Members, members...)
	}
	if len(m.Members) == 0 {
		return nil, errors.New("the list matrix names no agent; add entries such as \"- agent: codex\"")
	}
	return m, CheckMembers(m.Members)
}

func (e *matrixEntry) members() ([]Member, error) {
	if e.Agent == "" {
		return nil, errors.New("the key agent is missing")
	}
	if e.Model != "" && len(e.Models) > 0 {
		return nil, errors.New("the entry has both model and models; remove one of them")
	}
	models := e.Models
	if len(models) == 0 {
		models = []string{e.Model}
	}
	out := make([]Member, len(models))
	for i, model := range models {
		out[i] = Member{adapters.Name(e.Agent), model, e.Mode}
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
