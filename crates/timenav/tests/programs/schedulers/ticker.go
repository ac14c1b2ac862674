// time.Ticker and time.AfterFunc.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var lock sync.Mutex

func record(word string) {
	lock.Lock()
	defer lock.Unlock()
	file, _ := os.OpenFile("jobs", os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	defer file.Close()
	fmt.Fprintf(file, "%s %.3f\n", word, float64(time.Now().UnixMilli())/1000)
}

// A job when it is first due, and then at each tick.
func every(letter string, first time.Time, period time.Duration, count int) {
	for time.Until(first) < 0 {
		first, count = first.Add(period), count-1
	}
	time.AfterFunc(time.Until(first), func() {
		ticker := time.NewTicker(period)
		record(letter)
		for ; count > 1; count-- {
			<-ticker.C
			record(letter)
		}
		ticker.Stop()
	})
}

func main() {
	midnight := time.Unix(1935792000, 0)
	after := func(letter string, length time.Duration) {
		time.AfterFunc(time.Until(midnight.Add(length)), func() { record(letter) })
	}
	every("a", midnight.Add(8*time.Hour), 4*time.Minute, 3)
	every("b", midnight.Add(90*time.Minute), 4*time.Hour, 5)
	after("p", 8*time.Hour+20*time.Minute)
	after("c", 36*time.Hour)
	after("d", 47*time.Hour+30*time.Minute)
	record("ready")
	time.Sleep(1000 * time.Hour)
}
