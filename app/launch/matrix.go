package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"rollcall/adapters"
)

// Member is one agent of a group, as it is asked to work.
type Member struct {
	Agent adapters.Name
	Model string
	Mode  string
}

// Matrix is one prompt for several agents or models.
type Matrix struct {
	Request Request // what all have in common
	Members []Member
}

// matrixFile is a matrix as it stands in YAML.
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

// LoadMatrix reads a matrix file. Relative paths in it begin at its own folder.
// Its errors name the file, and the line where there is one.
func LoadMatrix(ctx context.Context, path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxMatrix+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxMatrix {
		return nil, fmt.Errorf("%s: larger than the 1 MB that make sense", path)
	}
	m, err := parseMatrix(ctx, text, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func parseMatrix(ctx context.Context, text []byte, dir string) (*Matrix, error) {
	var file matrixFile
	// Strict: a key that is misspelt must not be one that is passed over.
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&file); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if file.Prompt != "" && file.PromptFile != "" {
		return nil, errors.New("it has a prompt and a prompt_file; leave one out")
	}
	below := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	m := &Matrix{Request: Request{Group: file.Group, Spec: below(file.Spec)}}
	m.Request.Task.Prompt, m.Request.Task.Dir = file.Prompt, below(file.CWD)
	if file.CWD == "" {
		m.Request.Task.Dir = dir
	}
	if file.PromptFile != "" {
		prompt, err := ReadPromptFile(ctx, below(file.PromptFile))
		if err != nil {
			return nil, err
		}
		m.Request.Task.Prompt = prompt
	}
	for _, f := range file.Files {
		m.Request.Files = append(m.Request.Files, below(f))
	}
	for _, h := range []Hook{{When: OnCreate, Command: file.OnCreate}, {When: OnComplete, Command: file.OnComplete}} {
		if h.Command != "" {
			m.Request.Hooks = append(m.Request.Hooks, h)
		}
	}
	for i, e := range file.Matrix {
		members, err := e.members()
		if err != nil {
			return nil, fmt.Errorf("entry %d of the matrix: %w", i+1, err)
		}
		m.Members = append(m.Members, members...)
	}
	if len(m.Members) == 0 {
		return nil, errors.New("its matrix names no agent")
	}
	return m, CheckMembers(m.Members)
}

func (e *matrixEntry) members() ([]Member, error) {
	if e.Agent == "" {
		return nil, errors.New("it names no agent")
	}
	if e.Model != "" && len(e.Models) > 0 {
		return nil, errors.New("it has a model and models; leave one out")
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

// CheckMembers refuses more launches at once than anybody means.
func CheckMembers(list []Member) error {
	if len(list) > maxMembers {
		return fmt.Errorf("%d launches at once are more than the %d that make sense", len(list), maxMembers)
	}
	return nil
}
