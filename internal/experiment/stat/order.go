package stat

import (
	"fmt"
	"math/rand/v2"
)

// Order draws the order of the arms in each block: Order(...)[block][position]
// is an arm's index. Every arm is in every block once. The same seed gives the
// same order, and a longer plan begins with a shorter one.
//
// Drawing anew per block is what makes the comparison's tests exact, and keeps
// drift of the machine apart from the arms: Abedi and Brecht, "Conducting
// repeatable experiments in highly variable cloud computing environments",
// ICPE 2017 (randomised multiple interleaved trials).
func Order(arms, blocks int, seed uint64) ([][]int, error) {
	switch {
	case arms < 1:
		return nil, fmt.Errorf("stat: %d arms: want at least 1", arms)
	case blocks < 1 || blocks > MaxBlocks:
		return nil, fmt.Errorf("stat: %d blocks: want 1 to %d", blocks, MaxBlocks)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	order := make([][]int, blocks)
	for b := range order {
		order[b] = rng.Perm(arms)
	}
	return order, nil
}
