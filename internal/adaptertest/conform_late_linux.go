package adaptertest

import (
	"errors"
	"fmt"

	"rollcall/adapters"
)

// outOfTime: an answer for which time runs out, at any moment, has the sessions that were written last and says that others are missing. One that is all
// or nothing says that it failed.
func outOfTime(c *check) {
	const many = 20
	var ids []string
	for i := range many {
		s := c.agent.Start(fmt.Sprintf("/home/dev/proj%d", i), "hello")
		s.Answer("fine")
		if !s.Remote {
			s.Exit()
		}
		ids = append([]string{s.ID}, ids...)
	}
	cut := 0
	for looks := int64(1); ; looks += 1 + looks/4 {
		roll, err := c.subject.New(c.environment).Discover(endsAfter(c.Context(), looks), adapters.Query{Once: true})
		sessions := c.byID(roll)
		last, listed := -1, 0
		for i, id := range ids {
			if _, ok := sessions[id]; ok {
				last = i
				listed++
			}
		}
		switch {
		case listed == many && err == nil:
			c.needs(cut > 0 == (c.subject.Whole == ""), fmt.Sprintf("time ran out %d times between the first session and the last", cut))
			return
		case !errors.Is(err, adapters.ErrTimeout):
			c.Errorf("%d looks: %d of %d sessions are missing: %v", looks, many-listed, many, err)
		case last >= listed+atOnceRead:
			c.Errorf("%d looks: session %d is listed, and of the newer ones %d are not: %v", looks, last, last+1-listed, err)
		}
		if listed > 0 && listed < many {
			cut++
		}
	}
}
