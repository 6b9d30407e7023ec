package metrics

import (
	"cmp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rollcall/adapters"
	"rollcall/app"
	"rollcall/app/present"
)

// The metrics. docs/metrics.md lists them; a test compares.
var (
	info       = describe("info", "Always 1. The labels name the version of Rollcall.", "version", "build")
	lookTime   = describe("look_timestamp_seconds", "When the agents were asked.")
	failed     = describe("adapter_failed", "1 if the agent could not be read in full, 0 if it could.", "agent")
	installed  = describe("adapter_installed", "1 if the agent is installed, 0 if it is not.", "agent")
	latency    = describe("adapter_answer_seconds", "How long the agent's adapter took for its last answer.", "agent")
	sessions   = describe("sessions", "Live sessions, as rollcall list shows them.", "agent", "status", "waiting_for")
	oldestWait = describe("oldest_wait_seconds", "How long the session that waits longest has waited for the user; 0 if none waits.")
	tokens     = describe("session_tokens", "Tokens of the live sessions, as their agents recorded them.", "agent", "kind")
	cost       = describe("session_cost_usd", "Cost of the live sessions, as their agents state it.", "agent")
	limitUsed  = describe("limit_used_percent", "How much of a window of a usage limit was used when the agent recorded it. Missing once the window has begun again.", "agent", "home", "name", "window_seconds")
	limitReset = describe("limit_reset_timestamp_seconds", "When the window of a usage limit begins again, or began.", "agent", "home", "name", "window_seconds")
	limitTime  = describe("limit_recorded_timestamp_seconds", "When the agent recorded the use of a limit.", "agent", "home", "name", "window_seconds")
	locks      = describe("locks", "Locked folders.", "kind")
	fuses      = describe("fuses", "Fuses of folders. Those that fired are kept for 24 hours.", "state")
	ends       = describe("ends_total", "Sessions that ended since the keeper started.", "outcome")
	keeperTime = describe("keeper_start_timestamp_seconds", "When the keeper started.")
	keeperCPU  = describe("keeper_cpu_seconds_total", "Processor time that the keeper has used.")
	keeperSize = describe("keeper_memory_bytes", "Memory of the keeper, as the system counts it.")
	launches   = describe("launches", "Launches of Rollcall. Those that ended are kept for 24 hours.", "state")
)

// names are the names of all metrics, for the test of the document.
var names []string

func describe(name, help string, labels ...string) *prometheus.Desc {
	name = prometheus.BuildFQName("rollcall", "", name)
	names = append(names, name)
	return prometheus.NewDesc(name, help, labels, nil)
}

// collection sends the metrics of one look to Prometheus' library.
type collection chan<- prometheus.Metric

// gauge adds a value. Labels are names of agents and fixed words, which are always valid, or a version, which may not be.
func (c collection) gauge(d *prometheus.Desc, value float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, value, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	c <- m
}

// counter adds a value that only grows.
func (c collection) counter(d *prometheus.Desc, value float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, prometheus.CounterValue, value, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	c <- m
}

// keeper adds the metrics of the keeper itself. An end whose outcome is not known has the label unknown.
func (c collection) keeper(k *Keeper) {
	count := map[string]int{string(adapters.Completed): 0, string(adapters.Interrupted): 0, string(adapters.Failed): 0, string(adapters.Died): 0, "unknown": 0}
	for outcome, n := range k.Ends {
		count[cmp.Or(string(outcome), "unknown")] += n
	}
	for outcome, n := range count {
		c.counter(ends, float64(n), outcome)
	}
	c.gauge(keeperTime, float64(k.Since.UnixMilli())/1e3)
	if k.Memory > 0 {
		c.counter(keeperCPU, k.CPU)
		c.gauge(keeperSize, k.Memory)
	}
}

// each adds a value for each label.
func each[K ~string](c collection, d *prometheus.Desc, count map[K]int) {
	for label, n := range count {
		c.gauge(d, float64(n), string(label))
	}
}

// adapters adds how each agent answered. An agent that has not answered yet has no metrics.
func (c collection) adapters(snap *app.Snapshot) {
	for _, h := range snap.Adapters {
		if h.State == app.Pending {
			continue
		}
		c.gauge(failed, one(h.State == app.Failed), string(h.Name))
		c.gauge(installed, one(h.State != app.Absent), string(h.Name))
		c.gauge(latency, h.Elapsed.Seconds(), string(h.Name))
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// kind is the group of sessions that one metric counts.
type kind struct {
	agent  adapters.Name
	status adapters.Status
	wait   adapters.WaitingFor
}

// usual are the kinds for which each agent always has a metric, so that an alert finds a 0 instead of nothing.
var usual = []kind{{status: adapters.Working}, {status: adapters.Waiting, wait: adapters.ForPermission}, {status: adapters.Waiting, wait: adapters.ForQuestion},
	{status: adapters.Idle}, {status: adapters.Unknown}}

// sessions adds the numbers of the live sessions and the oldest wait. An agent that failed has no zeros: it may have
// sessions that are not known.
func (c collection) sessions(snap *app.Snapshot) {
	count := map[kind]int{}
	for _, h := range snap.Adapters {
		if h.State == app.OK {
			for _, k := range usual {
				k.agent = h.Name
				count[k] = 0
			}
		}
	}
	wait := 0.0
	for s := range snap.All() {
		if !s.Live() {
			continue
		}
		count[kind{s.Agent, s.Status, s.WaitingFor}]++
		if s.Status == adapters.Waiting && !s.LastActivityAt.IsZero() {
			wait = max(wait, snap.At.Sub(s.LastActivityAt).Seconds())
		}
	}
	for k, n := range count {
		c.gauge(sessions, float64(n), string(k.agent), string(k.status), string(k.wait))
	}
	c.gauge(oldestWait, wait)
}

// usage adds the tokens and costs of the live sessions, of the agents that record them.
func (c collection) usage(snap *app.Snapshot) {
	used, paid := map[adapters.Name]*adapters.Tokens{}, map[adapters.Name]float64{}
	for s := range snap.All() {
		if !s.Live() {
			continue
		}
		if s.CostUSD > 0 {
			paid[s.Agent] += s.CostUSD
		}
		if s.Tokens == nil {
			continue
		}
		sum := used[s.Agent]
		if sum == nil {
			sum = &adapters.Tokens{}
			used[s.Agent] = sum
		}
		sum.Add(*s.Tokens)
	}
	for agent, t := range used {
		for name, n := range map[string]int64{"input": t.Input, "output": t.Output, "cache_read": t.CacheRead, "cache_write": t.CacheWrite, "reasoning": t.Reasoning} {
			c.gauge(tokens, float64(n), string(agent), name)
		}
	}
	for agent, usd := range paid {
		c.gauge(cost, usd, string(agent))
	}
}

// limits adds the usage limits that agents recorded.
func (c collection) limits(agents []app.AgentLimits, now time.Time) {
	type labels struct{ agent, home, name, window string }
	added := map[labels]bool{}
	for i := range agents {
		for j := range agents[i].Limits {
			l := &agents[i].Limits[j]
			key := labels{string(agents[i].Agent), present.Line(l.Home), present.Line(present.Head(l.Name)), strconv.FormatInt(int64(l.Window/time.Second), 10)}
			if l.Balance != "" || added[key] {
				continue
			}
			added[key] = true
			add := func(d *prometheus.Desc, value float64) { c.gauge(d, value, key.agent, key.home, key.name, key.window) }
			if l.Holds(now) {
				add(limitUsed, l.Used)
			}
			if !l.ResetsAt.IsZero() {
				add(limitReset, float64(l.ResetsAt.Unix()))
			}
			add(limitTime, float64(l.At.UnixMilli())/1e3)
		}
	}
}
