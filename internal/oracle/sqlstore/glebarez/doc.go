// Package glebarez holds package store/sqlstore to its promises over this driver.
package glebarez
