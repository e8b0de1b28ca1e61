// Package crickettest gives each test a cricket room of its own: the engine's tables
// and queues, a simulated provider and, after WithPhones, a simulated Apple. Only
// _test.go files import it.
package crickettest
