package feed

func (k Kind) String() string {
	return [...]string{"unavailable", "limited", "malformed", "not found", "denied", "invalid"}[k]
}
