package toolkit

import (
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"time"
)

type node struct {
	left, right *node
	value       int
}

// walk visits the values of a binary tree in ascending order.
func (n *node) walk(visit func(int)) {
	if n == nil {
		return
	}
	n.left.walk(visit)
	visit(n.value)
	n.right.walk(visit)
}

// menuItem is an entry of the navigation, with those below it.
type menuItem struct {
	Title string
	Items []menuItem
}

// titles gives the titles of the items and of all that are nested in
// them, in order of display.
func titles(items []menuItem) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Title)
		out = append(out, titles(it.Items)...)
	}
	return out
}

// router remembers which handlers were registered for a pattern.
type router struct {
	handlers map[string][]http.Handler
}

// listDuplicateHandlers lists the patterns that were registered twice.
func (rt *router) listDuplicateHandlers() []string {
	var list []string
	for pattern, hs := range rt.handlers {
		if len(hs) > 1 {
			list = append(list, pattern)
		}
	}
	return list
}

func newServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
	}
}

func respondJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func envOr(name, fallback string) string {
	if v, ok := os.LookupEnv(name); ok {
		return v
	}
	return fallback
}

type cache struct {
	mu    sync.RWMutex
	items map[string]cached
}

type cached struct {
	value   any
	expires time.Time
}

// Get returns the value under key unless it has expired.
func (c *cache) Get(key string) (any, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	it, ok := c.items[key]
	if !ok || time.Now().After(it.expires) {
		return nil, false
	}
	return it.value, true
}
