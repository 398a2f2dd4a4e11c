package toolkit

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Day is a calendar day that travels as "2006-01-02" in JSON.
type Day struct {
	time.Time
}

var layouts = []string{"2006-01-02", "02.01.2006", "01/02/2006", "Jan 2, 2006"}

// toDay tries the layouts that our customers use, one after the other.
func toDay(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("unknown day %q", s)
}

func parseDate(text string) (time.Time, error) {
	t, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return t, fmt.Errorf("parse date: %w", err)
	}
	return t, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Day) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" {
		return nil
	}
	t, err := time.Parse(time.DateOnly, s)
	d.Time = t
	return err
}

// dateOfParseError tells which date text made the parser give up.
func dateOfParseError(err error) (text string, ok bool) {
	var pe *time.ParseError
	if errors.As(err, &pe) {
		return pe.Value, true
	}
	return "", false
}

// formatDate writes a date as text, as in "Tuesday, 3 March 2020".
func formatDate(t time.Time) string {
	return t.Format("Monday, 2 January 2006")
}

// parseInterval reads a length of time from text. On top of what
// time.ParseDuration takes it knows the suffix "d" for days.
func parseInterval(text string) (time.Duration, error) {
	var days int
	if strings.HasSuffix(text, "d") {
		if _, err := fmt.Sscanf(text, "%dd", &days); err != nil {
			return 0, err
		}
		return time.Duration(days) * 24 * time.Hour, nil
	}
	return time.ParseDuration(text)
}

// humanDuration gives a rough, readable form of d.
func humanDuration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
