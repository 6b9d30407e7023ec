//go:build !race

package uitest

const raceDetector = false
