package settings

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// mistake is a value that cannot be used. key is its place in the file.
type mistake struct {
	key  []string
	text string
}

// checkLaunches returns what is wrong with the settings of launches, and removes those values.
func (s *Settings) checkLaunches() (bad []mistake) {
	if s.DefaultAgent != "" && !s.canLaunch(s.DefaultAgent) {
		bad = append(bad, mistake{[]string{"default_agent"}, fmt.Sprintf("default_agent is ignored: unknown agent %q; agents: %s", s.DefaultAgent, s.agentNames(true))})
		s.DefaultAgent = ""
	}
	s.LeaveOut = without(s.LeaveOut, &bad, []string{"leave_out_environment"}, func(name string) string {
		if name == "" || strings.ContainsAny(name, "=\x00 \t\r\n") {
			return fmt.Sprintf(": %q is not the name of a variable", name)
		}
		return ""
	})
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		a := s.Agents[name]
		if !s.canLaunch(name) {
			bad = append(bad, mistake{[]string{"agents", string(name)}, fmt.Sprintf("agents.%s is ignored: unknown agent; agents: %s", name, s.agentNames(true))})
			delete(s.Agents, name)
			continue
		}
		for key, value := range map[string]*string{"model": &a.Model, "mode": &a.Mode} {
			if strings.HasPrefix(*value, "-") || strings.TrimSpace(*value) != *value {
				bad = append(bad, mistake{[]string{"agents", string(name), key}, fmt.Sprintf("agents.%s.%s is ignored: %q must not begin with a hyphen or a space", name, key, *value)})
				*value = ""
			}
		}
		s.Agents[name] = a
	}
	return bad
}

// checkPrices returns what is wrong with the prices, and removes those.
func (s *Settings) checkPrices() (bad []mistake) {
	for _, model := range slices.Sorted(maps.Keys(s.Prices)) {
		p := s.Prices[model]
		for _, usd := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
			if usd < 0 || math.IsNaN(usd) || math.IsInf(usd, 0) {
				bad = append(bad, mistake{[]string{"prices", model}, fmt.Sprintf("prices.%q is ignored: a price is 0 or more, in USD per million tokens", model)})
				delete(s.Prices, model)
				break
			}
		}
	}
	return bad
}

// maxLines is how many mistakes are reported with their line: finding a line takes as long as reading the file.
const maxLines = 20

// errHere stops the decoder at the key that line looks for.
var errHere = errors.New("here")

// here is the value of the key that line looks for.
type here struct{}

// UnmarshalTOML implements toml.Unmarshaler.
func (here) UnmarshalTOML(any) error { return errHere }

// line returns " line N:" for a key of the settings, or nothing if its line is not known.
func line(text []byte, key ...string) string {
	n := lineOf(text, key...)
	if n == 0 && key[0] == answeringTable { // it may be written without its table
		n = lineOf(text, answeringTable)
	}
	return inLine(n)
}

func inLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" line %d:", n)
}

// lineOf returns the number of the line that sets a key; 0: none, or it is not known. The decoder returns lines only with
// errors, so lineOf lets it fail at the key.
func lineOf(text []byte, key ...string) int {
	if len(key) > 10 {
		return 0
	}
	probe := reflect.TypeFor[here]()
	for _, name := range slices.Backward(key) {
		if strings.ContainsAny(name, "\"`,\\\n") {
			return 0
		}
		probe = reflect.StructOf([]reflect.StructField{{Name: "Key", Type: probe, Tag: reflect.StructTag(fmt.Sprintf("toml:%q", name))}})
	}
	_, err := toml.Decode(string(text), reflect.New(probe).Interface())
	var at toml.ParseError
	if !errors.As(err, &at) || at.Message != errHere.Error() { // toml.ParseError has no method Unwrap
		return 0
	}
	return at.Position.Line
}
