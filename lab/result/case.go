package result

import "github.com/foliofs/folio/lab/workload"

// Cases, and the parts of a sample that a contender reports, are as package workload has them.
type (
	Case     = workload.Case
	Param    = workload.Param
	Group    = workload.Group
	Quantile = workload.Quantile
	Use      = workload.Use
	WarmUp   = workload.WarmUp
)
