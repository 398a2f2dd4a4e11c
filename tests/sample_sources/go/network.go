package toolkit

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// getWithBackoff fetches a page and, as long as the server is in trouble,
// asks again after a pause that doubles each time.
func getWithBackoff(c *http.Client, url string, tries int) (*http.Response, error) {
	pause := 200 * time.Millisecond
	var last error
	for i := 0; i < tries; i++ {
		resp, err := c.Get(url)
		if err == nil && resp.StatusCode < 500 {
			return resp, nil
		}
		if err == nil {
			resp.Body.Close()
			err = errors.New(resp.Status)
		}
		last = err
		time.Sleep(pause)
		pause *= 2
	}
	return nil, fmt.Errorf("%s: gave up: %w", url, last)
}

// attempt runs fn until it succeeds, at most n times.
func attempt(ctx context.Context, n int, wait time.Duration, fn func() error) error {
	var err error
	for i := 0; i < n; i++ {
		if err = fn(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	return err
}

type retryTransport struct {
	next http.RoundTripper
	max  int
}

// RoundTrip sends the request again if it failed on the network level.
func (t *retryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	for i := 0; err != nil && i < t.max; i++ {
		if req.GetBody != nil {
			req.Body, _ = req.GetBody()
		}
		resp, err = t.next.RoundTrip(req)
	}
	return resp, err
}

// retryAfter reads the Retry-After header of a failed request.
func retryAfter(resp *http.Response) time.Duration {
	secs, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || secs < 0 {
		return 0
	}
	return time.Duration(secs) * time.Second
}

func logFailedRequest(r *http.Request, err error) {
	log.Printf("request failed: %s %s from %s: %v",
		r.Method, r.URL.Path, r.RemoteAddr, err)
}

// reachable reports if something accepts TCP connections at addr.
func reachable(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// openPorts checks the ports first to last of a host in turn.
func openPorts(host string, first, last int) []int {
	var open []int
	for p := first; p <= last; p++ {
		addr := net.JoinHostPort(host, strconv.Itoa(p))
		conn, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if err == nil {
			conn.Close()
			open = append(open, p)
		}
	}
	return open
}

// waitForServer blocks until the port answers or the context ends.
func waitForServer(ctx context.Context, host, port string) error {
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
