package app

import (
	"fmt"
	"maps"
	"slices"

	"rollcall/adapters"
)

// SearchReport describes the progress of a running search, or the result of one that has
// ended.
type SearchReport struct {
	Agents   []SearchedAgent // in the order of the core's adapters
	Hits     int
	Searched int // conversations that were searched
	Found    int // conversations that are known: those that were searched, and those to come
	// Limited reports that the search ended because it found SearchQuery.Limit hits.
	Limited bool
}

// SearchedAgent describes how far an agent's conversations were searched.
type SearchedAgent struct {
	Name     adapters.Name
	State    AdapterState // Pending: its conversations are being listed
	Problems []string     // what could not be searched, and why
	Skipped  map[string]int
}

// add adds the problems of an error.
func (a *SearchedAgent) add(err error) {
	a.State = Failed
	for _, p := range adapters.Problems(err) {
		if text := p.Error(); len(a.Problems) < maxSearchProblems && !slices.Contains(a.Problems, text) {
			a.Problems = append(a.Problems, text)
		}
	}
}

func (s *search) report(hits int) SearchReport {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	r := SearchReport{Agents: slices.Clone(s.agents), Hits: hits, Searched: s.done, Found: s.found}
	for i := range r.Agents {
		a := &r.Agents[i]
		a.Problems, a.Skipped = slices.Clone(a.Problems), maps.Clone(a.Skipped)
	}
	return r
}

// Missing returns what could not be searched, one line for each reason, with what name returns for its agent.
func (r *SearchReport) Missing(name func(adapters.Name) string) (lines []string) {
	for i := range r.Agents {
		a := &r.Agents[i]
		for _, p := range a.Problems {
			lines = append(lines, name(a.Name)+": "+p)
		}
		for _, reason := range slices.Sorted(maps.Keys(a.Skipped)) {
			lines = append(lines, fmt.Sprintf("%s: %d × %s", name(a.Name), a.Skipped[reason], reason))
		}
	}
	return lines
}

// Failed reports whether something could not be searched.
func (r *SearchReport) Failed() bool {
	return slices.ContainsFunc(r.Agents, func(a SearchedAgent) bool { return a.State == Failed || len(a.Skipped) > 0 })
}
