package player

// Drawn is drawn.
var Drawn = drawn
