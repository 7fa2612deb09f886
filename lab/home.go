package main

import (
	"os"
	"path/filepath"
)

// goToUser changes to the directory in which the user typed the command, and returns the one in
// which the process started. "go -C lab run ." starts it in lab, but leaves PWD as the user's shell
// set it. So --db app.db names a file next to the user, and results appear there. A process that
// did not start in lab stays where it is.
func goToUser() (home string, err error) {
	home, err = os.Getwd()
	if err != nil {
		return "", err
	}
	user := os.Getenv("PWD")
	if info, err := os.Stat(user); err != nil || !info.IsDir() || !filepath.IsAbs(user) {
		return home, nil
	}
	if _, err := contendersIn(home); err != nil {
		return home, nil
	}
	return home, os.Chdir(user)
}
