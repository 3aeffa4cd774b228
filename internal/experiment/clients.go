package experiment

import (
	"context"
	"fmt"

	"httpgen/internal/run"
)

// RunClients implements ClientsRunner.
func (l Live) RunClients(ctx context.Context, clients []Client) (Measurement, error) {
	var all []run.Client
	for _, c := range clients {
		all = append(all, run.Client{Name: c.Name, Weight: c.Weight, Options: c.Options})
	}
	r, err := run.NewClients(all)
	if err != nil {
		return Measurement{}, fmt.Errorf("experiment: %w", err)
	}
	return l.measure(ctx, r)
}
