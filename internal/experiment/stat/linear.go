package stat

import "math"

// solve returns x with a x = b by elimination with pivoting; ok is false when
// the equations do not determine it. a and b are overwritten.
func solve(a [][]float64, b []float64) (x []float64, ok bool) {
	n := len(b)
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		a[c], a[pivot] = a[pivot], a[c]
		b[c], b[pivot] = b[pivot], b[c]
		if !(math.Abs(a[c][c]) > 1e-300) || math.IsInf(a[c][c], 0) {
			return nil, false
		}
		for r := c + 1; r < n; r++ {
			f := a[r][c] / a[c][c]
			for k := c; k < n; k++ {
				a[r][k] -= f * a[c][k]
			}
			b[r] -= f * b[c]
		}
	}
	for r := n - 1; r >= 0; r-- {
		for k := r + 1; k < n; k++ {
			b[r] -= a[r][k] * b[k]
		}
		b[r] /= a[r][r]
	}
	return b, true
}

// normal returns the matrix and the right side of the normal equations of the
// least squares fit of y by rows, with damping added to the diagonal in
// proportion to it.
func normal(rows [][]float64, y []float64, damping float64) ([][]float64, []float64) {
	n := len(rows[0])
	a, b := make([][]float64, n), make([]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	for k, row := range rows {
		for i := range row {
			for j := range row {
				a[i][j] += row[i] * row[j]
			}
			b[i] += row[i] * y[k]
		}
	}
	for i := range a {
		a[i][i] *= 1 + damping
	}
	return a, b
}

// leastSquares fits y by the columns of rows and returns the coefficients and
// the sum of the squared residuals.
func leastSquares(rows [][]float64, y []float64) (x []float64, rss float64, ok bool) {
	x, ok = solve(normal(rows, y, 0))
	if !ok {
		return nil, 0, false
	}
	for k, row := range rows {
		e := y[k]
		for i, v := range row {
			e -= v * x[i]
		}
		rss += e * e
	}
	return x, rss, true
}
