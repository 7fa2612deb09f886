package main

import (
	"errors"
	"strconv"
)

// levels is the value of a flag that limits how deep a command goes. Below 0, which is only ever a default, there is no limit.
type levels int

func (l *levels) String() string {
	if *l < 0 {
		return ""
	}
	return strconv.Itoa(int(*l))
}

// Set accepts 0 and more.
func (l *levels) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("expected a number from 0 on")
	}
	*l = levels(n)
	return nil
}

func (l *levels) Type() string { return "levels" }
