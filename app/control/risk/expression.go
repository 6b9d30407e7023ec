package risk

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled when it is used first: most runs of the program judge no command, and all of them
// together take milliseconds.
type expression struct{ compiled func() *regexp.Regexp }

// expressions are all of the package.
var expressions []*expression

func lazy(text string) *expression {
	e := &expression{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	expressions = append(expressions, e)
	return e
}

// MatchString does the same as that of regexp.Regexp.
func (e *expression) MatchString(s string) bool { return e.compiled().MatchString(s) }
