// Command order-card puts a card into an order.
package main

import (
	"matchday/pkg/kit/app"
	"matchday/pkg/pickem"
)

func main() { app.API(pickem.OrderCardFunction, pickem.OpenEvents, (*pickem.Events).OrderCard) }
