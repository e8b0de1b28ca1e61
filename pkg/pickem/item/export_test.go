package item

// Exported for the tests of the package.

var Pad = pad
