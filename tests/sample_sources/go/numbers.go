package toolkit

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// toF turns degrees on the centigrade scale into those used in the US.
func toF(c float64) float64 {
	return c*9/5 + 32
}

// Celsius is a temperature as our sensors send it.
type Celsius float64

// Fahrenheit returns the temperature for the displays in the US.
func (c Celsius) Fahrenheit() float64 {
	return float64(c)*1.8 + 32
}

// ConvertTemperature converts v between the scales "C", "F" and "K".
func ConvertTemperature(v float64, from, to string) (float64, error) {
	switch from {
	case "F":
		v = (v - 32) * 5 / 9
	case "K":
		v -= 273.15
	case "C":
	default:
		return 0, fmt.Errorf("unknown scale %q", from)
	}
	switch to {
	case "C":
		return v, nil
	case "F":
		return v*1.8 + 32, nil
	case "K":
		return v + 273.15, nil
	}
	return 0, fmt.Errorf("unknown scale %q", to)
}

// fahrenheitToCelsius is what the import of US weather stations needs.
func fahrenheitToCelsius(f float64) float64 {
	return (f - 32) * 5 / 9
}

// convertCurrency converts an amount in cents at the given rate, rounding
// half away from zero.
func convertCurrency(cents int64, rate float64) int64 {
	return int64(math.Round(float64(cents) * rate))
}

// middle returns the value that half of xs lie below: the central one of
// the sorted values, or the average of the two central ones.
func middle(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := append([]float64(nil), xs...)
	sort.Float64s(s)
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return (s[h-1] + s[h]) / 2
}

// quantile returns the q-quantile of xs (0 <= q <= 1), with linear
// interpolation between neighbours.
func quantile(xs []float64, q float64) float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	pos := q * float64(len(s)-1)
	lo := int(math.Floor(pos))
	hi := int(math.Ceil(pos))
	return s[lo] + (pos-float64(lo))*(s[hi]-s[lo])
}

func computeMean(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// prettyBytes prints n with a binary unit, for example "1.5 MiB".
func prettyBytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	div, exp := int64(unit), 0
	for m := n / unit; m >= unit; m /= unit {
		div *= unit
		exp++
	}
	return fmt.Sprintf("%.1f %ciB", float64(n)/float64(div), "KMGTPE"[exp])
}

func humanSize(size float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for size >= 1000 && i < len(units)-1 {
		size /= 1000
		i++
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + units[i]
}

// parseSize reads a file size as people write it, such as "20M" or "4k".
func parseSize(s string) (int64, error) {
	mult := int64(1)
	s = strings.ToUpper(s)
	for i, suffix := range []string{"K", "M", "G"} {
		if strings.HasSuffix(s, suffix) {
			s = strings.TrimSuffix(s, suffix)
			mult = 1 << (10 * (i + 1))
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n * mult, err
}

// clamp keeps x within lo and hi.
func clamp(x, lo, hi float64) float64 {
	return math.Max(lo, math.Min(x, hi))
}
