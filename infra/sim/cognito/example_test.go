package cognito_test

import (
	"fmt"
	"time"

	"matchday/infra/sim/clock"
	"matchday/infra/sim/cognito"
)

func Example() {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

	pool, err := cognito.New(clock.New(now, clock.Free), "http://localhost:9000/pool", "app", "")
	if err != nil {
		fmt.Println(err)
		return
	}

	tokens, err := pool.Token("una", []string{"admin"}, now)
	if err != nil {
		fmt.Println(err)
		return
	}

	claims, err := pool.Verify(tokens.Access)
	fmt.Println(claims["sub"], claims["cognito:groups"], err)
	_, err = pool.Verify("forged")
	fmt.Println(err != nil)
	// Output:
	// una [admin] <nil>
	// true
}
