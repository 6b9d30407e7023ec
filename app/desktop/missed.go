//go:build !headless

package desktop

import (
	"context"
	"time"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/owned/launch"
	"rollcall/notify"
)

// reportLimit is the longest time for recording that the user was notified of an end.
const reportLimit = 5 * time.Second

// markReported records that the user was notified that these launches ended.
func (p *parts) markReported(ids ...string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportLimit)
	defer cancel()
	if err := p.launches.MarkReported(ctx, ids...); err != nil {
		p.log.Warn("the user may be notified of the end of a launch again at the next start", "error", err)
	}
}

// markEndsReported returns a function that the notifier calls after it has notified of ends. The
// function records which launches ended.
func (p *parts) markEndsReported() func([]app.Event) {
	return func(ended []app.Event) {
		var ids []string
		for _, ev := range ended {
			switch {
			case ev.Session.Machine != "": // the launch is another machine's
			case ev.Session.Launch != nil:
				ids = append(ids, ev.Session.Launch.ID)
			case ev.Before.Launch != nil:
				ids = append(ids, ev.Before.Launch.ID)
			}
		}
		p.markReported(ids...)
	}
}

// endedMeanwhile returns the launches that ended while no tray was running.
func (p *parts) endedMeanwhile() []launch.Record {
	ended, err := p.launches.EndedUnreported()
	if err != nil {
		p.log.Warn("some launches can't be read", "error", err)
	}
	return ended
}

// notifyMissed notifies the user once of the launches in ended, except those that rules exclude. It records the notification
// once the desktop has accepted it: no end is lost, and after a crash before that time the notification is repeated at the
// next start.
func (p *parts) notifyMissed(ctx context.Context, n *notify.Notifier, ended []launch.Record, rules func() notify.Rules) error {
	if len(ended) == 0 {
		return nil
	}
	whole := app.New(app.Config{Adapters: p.agents, Table: p.table, Since: app.All, Log: p.log})
	missed, err := p.launches.Missed(ctx, ended, p.core.Refresh(ctx), whole)
	if len(missed) == 0 {
		return err
	}
	ends := make([]notify.Missed, 0, len(missed))
	ids := make([]string, 0, len(missed))
	var unwanted []string
	wanted := rules()
	session := ""
	for _, m := range missed {
		s := m.Session
		if s.ID == "" {
			s = adapters.Session{Agent: m.Record.Agent, Place: adapters.Place{CWD: m.Record.Dir}}
		}
		end := notify.Missed{Session: s, ExitCode: m.Record.ExitCode}
		if !wanted.WantsMissed(&end) {
			unwanted = append(unwanted, m.Record.ID)
			continue
		}
		session = s.ID
		ends, ids = append(ends, end), append(ids, m.Record.ID)
	}
	p.markReported(unwanted...)
	if len(ends) == 0 {
		return err
	}
	if len(ends) > 1 {
		session = "" // a click opens the window
	}
	n.Say("missed", notify.MissedText(ends), session, func() { p.markReported(ids...) })
	return err
}
