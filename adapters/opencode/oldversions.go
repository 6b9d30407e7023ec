package opencode

// whyOld is the reason why the sessions of a process of an old version are not known.
const whyOld = "OpenCode 1.15 and earlier do not record which process runs a session; 1.17 and later do"

// claimOld gives the processes of old versions the sessions that they may run: one that is the only
// session of its folder which was written since the process began is in that process.
func (l *links) claimOld(sessions map[string]*facts, claims map[string]claim) {
	may := map[string][]*host{}
	for _, h := range l.old {
		for id, f := range sessions {
			if c := claims[id]; c.host == nil && c.doubt == "" && h.at(f.directory) && !f.activity.time().Add(slack).Before(h.Started) {
				may[id] = append(may[id], h)
			}
		}
	}
	count := map[*host]int{}
	for id, hosts := range may {
		for _, h := range hosts {
			if sessions[id].parent == "" {
				count[h]++
			}
		}
	}
	for id, hosts := range may {
		if len(hosts) == 1 && count[hosts[0]] == 1 {
			claims[id] = claim{host: hosts[0]}
		} else {
			claims[id] = claim{doubt: whyOld + ": " + pids(hosts) + " could"}
		}
	}
}
