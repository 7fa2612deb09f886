package main

import (
	"errors"
	"strconv"
)

// setTo returns the function of a flag whose value parse reads.
func setTo[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) (err error) {
		*to, err = parse(s)
		return err
	}
}

// parseLevels reads how deep a command goes: 0 and more. Below 0, which is only ever a default,
// there is no limit.
func parseLevels(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, errors.New("expected a number from 0 on")
	}
	return n, nil
}
