package player

// Names for tests.
var Drawn = drawn
