package postgres

var Sweep = sweep
