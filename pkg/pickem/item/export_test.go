package item

// What the tests of this package look at beside what it exports.

var Pad = pad
