package toolkit

import (
	"io"
	"math/rand"
	"net/http"
	"strconv"
	"sync"
	"time"
)

type bucket struct {
	mu       sync.Mutex
	tokens   float64
	capacity float64
	perSec   float64
	last     time.Time
}

// Allow takes a token if there is one; tokens come back with time.
func (b *bucket) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.tokens += now.Sub(b.last).Seconds() * b.perSec
	if b.tokens > b.capacity {
		b.tokens = b.capacity
	}
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// spaced wraps fn such that two runs start at least gap apart.
func spaced(gap time.Duration, fn func()) func() {
	var mu sync.Mutex
	var next time.Time
	return func() {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(time.Until(next))
		next = time.Now().Add(gap)
		fn()
	}
}

// limitRate answers 429 to calls over the rate that the bucket allows.
func limitRate(b *bucket, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !b.Allow() {
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// debounce returns a function that runs fn once, after it has not been
// called for the given time.
func debounce(quiet time.Duration, fn func()) func() {
	var mu sync.Mutex
	var timer *time.Timer
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
		timer = time.AfterFunc(quiet, fn)
	}
}

// rateLimitLeft reads how many calls the remote service still grants us.
func rateLimitLeft(h http.Header) int {
	n, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	if err != nil {
		return -1
	}
	return n
}

func limitBody(r *http.Request, limit int64) ([]byte, error) {
	defer r.Body.Close()
	return io.ReadAll(io.LimitReader(r.Body, limit))
}

// randomDelay generates a random pause between lo and hi.
func randomDelay(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(rand.Int63n(int64(hi-lo)))
}
