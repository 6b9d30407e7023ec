package report

import "maps"

// maxReasons is the number of different reasons for skipping that are counted for one file.
const maxReasons = 16

// CountSkipped returns a copy of counts in which reason is counted once more. When
// there are too many reasons, a new one is counted under a common name.
func CountSkipped(counts map[string]int, reason string) map[string]int {
	counts = maps.Clone(counts)
	if counts == nil {
		counts = map[string]int{}
	}
	if _, known := counts[reason]; !known && len(counts) >= maxReasons {
		reason = "further kinds of records"
	}
	counts[reason]++
	return counts
}
