package app

import "time"

// powerEvery is the time for which the system's answer about its battery is used.
const powerEvery = time.Minute

// battery reports whether the machine runs on its battery. It asks the system at most once a minute.
type battery struct {
	ask   func() bool
	asked time.Time
	used  bool
}

// inUse reports whether the machine runs on its battery. It returns false where that is
// not known.
func (b *battery) inUse() bool {
	if now := time.Now(); b.asked.IsZero() || now.Sub(b.asked) >= powerEvery {
		b.asked, b.used = now, b.ask()
	}
	return b.used
}
