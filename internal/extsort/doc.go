// Package extsort sorts the records of indexes that may be larger than memory.
//
// The sorters of one [Space] share its memory. While records are added, the largest run of them is
// sorted and written to a scratch file whenever half of the memory is used. Afterwards a [Merger]
// yields the records of a sorter in order, from its runs in the file and the one in memory:
//
//	Sorter.Add ... Sorter.Add  ->  Space.Prepare  ->  Sorter.Merge  ->  Peek, Drop ... Peek, Drop
package extsort
