package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"rollcall/adapters"
	"rollcall/app/places"
)

// maxUnreadable is the largest number of unreadable places of a source that are tried.
const maxUnreadable = 100

// noteUnreadable records the places that an answer could not read. The caller holds
// Core.mu.
func (s *source) noteUnreadable(q question, err error) {
	if q.ids == nil {
		s.unreadable = nil
	}
	for _, one := range adapters.Problems(err) {
		var p *adapters.Problem
		if len(s.unreadable) == maxUnreadable || !errors.As(one, &p) || !errors.Is(p.Kind, adapters.ErrUnreadable) && !errors.Is(p.Kind, adapters.ErrTimeout) || !filepath.IsAbs(p.Path) {
			continue
		}
		if !slices.ContainsFunc(s.unreadable, func(have *adapters.Problem) bool { return have.Path == p.Path }) {
			s.unreadable = append(s.unreadable, p)
		}
	}
}

// unreadablePlaces returns the places that can't be read now. A place that is in before
// keeps its result, so that a source is not refreshed repeatedly if its problem remains
// although the place can be opened. Of another one the source's own try is the first.
func (c *Core) unreadablePlaces(before places.Unreadable[*source]) places.Unreadable[*source] {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := places.Unreadable[*source]{}
	for _, s := range c.sources {
		for _, p := range s.unreadable {
			was, known := before[s][p.Path]
			switch {
			case known:
			case errors.Is(p.Kind, adapters.ErrTimeout):
				was = places.Unanswered
			case errors.Is(p, fs.ErrPermission):
				was = places.Denied
			default:
				was = places.Failed
			}
			if out[s] == nil {
				out[s] = map[string]places.Access{}
			}
			out[s][p.Path] = was
		}
	}
	return out
}
