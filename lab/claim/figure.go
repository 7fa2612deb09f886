package claim

import (
	"math/rand/v2"
	"slices"
)

// A Figure is the result of a claim.
type Figure struct {
	Value float64 `json:"value"`
	// Low and High hold 95% of the figures of samples that are drawn from ours with repetition: the
	// bootstrap interval. With one sample they are the value.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// redraws is how often samples are drawn again.
const redraws = 2000

// figure computes the figure of our samples and the samples of each peer.
func (k Kind) figure(ours []float64, peers [][]float64) (f Figure) {
	f.Value = k.of(ours, peers)
	if k == Worst {
		f.Low, f.High = slices.Min(ours), f.Value
		return f
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same samples give the same interval
	all := make([]float64, redraws)
	drawn := make([][]float64, len(peers))
	for i := range all {
		for p := range peers {
			drawn[p] = redraw(r, peers[p])
		}
		all[i] = k.of(redraw(r, ours), drawn)
	}
	slices.Sort(all)
	f.Low, f.High = all[redraws*25/1000], all[redraws*975/1000]
	return f
}

// redraw draws as many samples as there are, with repetition.
func redraw(r *rand.Rand, samples []float64) []float64 {
	out := make([]float64, len(samples))
	for i := range out {
		out[i] = samples[r.IntN(len(samples))]
	}
	return out
}

// of is the figure alone.
func (k Kind) of(ours []float64, peers [][]float64) float64 {
	switch k {
	case Faster:
		return median(peers[fastest(peers)]) / median(ours)
	case Growth:
		return median(ours) / median(peers[0])
	case Worst:
		return slices.Max(ours)
	}
	return median(ours)
}

// fastest is the peer with the smallest median.
func fastest(peers [][]float64) (best int) {
	for i := range peers {
		if median(peers[i]) < median(peers[best]) {
			best = i
		}
	}
	return best
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
