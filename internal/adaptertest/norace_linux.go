//go:build !race

package adaptertest

const slowness = 1
