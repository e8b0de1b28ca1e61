package redis

// Token is token.
var Token = token
