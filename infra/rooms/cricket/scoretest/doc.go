// Package scoretest makes fixtures for the tests of scores: from short notation (Scene)
// and from Cricsheet files (Sheet). Only _test.go files import it.
package scoretest
