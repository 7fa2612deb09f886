// Package queries compares the answers of package sqlite with those of C SQLite: random queries on
// random databases, and the scripts of sqllogictest.
//
// The scripts are no part of this repository. They are those of sqlite.org/sqllogictest, whose
// repository is cloned by
//
//	fossil clone https://www.sqlite.org/sqllogictest/ sqllogictest.fossil
//	mkdir scripts && cd scripts && fossil open ../sqllogictest.fossil
//
// and run by
//
//	go test ./queries -run TestLogictest -queries.scripts DIRECTORY/test
//
// which makes the tables by C SQLite and asks package sqlite the queries. It counts those that were
// right, and those that were refused by the part that is not known yet.
package queries
