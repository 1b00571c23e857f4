// The test of independence within strata: Pearson's X2 and its exact moments under permutation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tamis {

// The counts of one stratum: lines are the target's levels, columns the candidate's. Where there
// are totals of lines, one column more has what is left of them.
template <class Count>
struct Stratum {
    const Count* counts;
    size_t stride;
    int n_lines, n_columns;
    const Count* totals;
};

// Degrees of freedom, X2, and the mean and variance of X2 over all permutations of the target's
// rows within strata.
struct Independence {
    double df = 0, pearson = 0, mean = 0, variance = 0;
};

class IndependenceTest {
public:
    // ``unit`` is how many rows a count of 1 is.
    IndependenceTest(double unit, double n_rows) : unit_(unit), n_rows_(n_rows) {}

    template <class Count>
    void operator()(const Stratum<Count>& stratum) {
        table_.clear();
        for (int x = 0; x < stratum.n_lines; x++) {
            const Count* line = stratum.counts + size_t(x) * stratum.stride;
            Count left = stratum.totals ? stratum.totals[x] : 0;
            for (int y = 0; y < stratum.n_columns; y++) {
                table_.push_back(unit_ * double(line[y]));
                left -= line[y];
            }
            if (stratum.totals) table_.push_back(double(left));
        }
        add_up(stratum.n_lines, stratum.n_columns + (stratum.totals != nullptr));
        if (lines_.n < 2 || columns_.n < 2) return;
        found.df += (lines_.n - 1) * (columns_.n - 1);
        double few = few_rows();
        if (lines_.has_rare(few) || columns_.has_rare(few)) pool(few);
        add_pearson();
    }

    Independence found;

private:
    static constexpr double ROUNDING = 1e-12;  // a variance below this share of the mean is none

    struct Margin {
        std::vector<double> sums;
        double n = 0, total = 0, inverse = 0, least = 0;  // of the levels that occur

        void describe() {
            n = total = inverse = 0;
            least = INFINITY;
            for (double sum : sums)
                if (sum > 0) {
                    n++;
                    total += sum;
                    inverse += 1 / sum;
                    least = std::min(least, sum);
                }
        }
        bool has_rare(double few) const { return n > 2 && least < few; }

        // Where each level goes: those with few rows to place 0, with the next larger ones until
        // they are enough. Where nothing else would be left they go nowhere (-1), and where not
        // even two levels have more, all stay.
        std::pair<std::vector<int>, int> places(double few) const {
            std::vector<double> rising = sums;
            std::sort(rising.begin(), rising.end());
            double pooled = 0, largest = 0;
            for (double sum : rising)
                if (sum < few || sum == largest || (pooled > 0 && pooled < few)) {
                    pooled += sum;
                    largest = sum;
                }
            bool has_pool = has_rare(few) && rising.back() > largest;
            bool is_left_out = has_rare(few) && !has_pool && rising[rising.size() - 2] >= few;
            std::vector<int> place;
            int next = has_pool;
            for (double sum : sums) {
                if (has_pool && sum <= largest)
                    place.push_back(0);
                else if (is_left_out && sum < few)
                    place.push_back(-1);
                else
                    place.push_back(next++);
            }
            return {place, next};
        }
    };
    double unit_, n_rows_;
    std::vector<double> table_, pooled_;
    Margin lines_, columns_;

    void add_up(int n_lines, int n_columns) {
        lines_.sums.assign(n_lines, 0);
        columns_.sums.assign(n_columns, 0);
        const double* count = table_.data();
        for (int x = 0; x < n_lines; x++)
            for (int y = 0; y < n_columns; y++, count++) {
                lines_.sums[x] += *count;
                columns_.sums[y] += *count;
            }
        lines_.describe();
        columns_.describe();
    }

    // A level has few rows if a cell of two such levels would expect less than e = c^(-1/4) rows, c
    // being the cells of all strata if all were like this one: then a single row in it outweighs
    // the others, makes a dependence where it is there, and hides one in the variance where it is
    // not. The third moment of X2 grows as c / e^2 and that of a gamma law as c^(3/2): so e falls
    // with c.
    double few_rows() const {
        double n_cells = lines_.n * columns_.n * std::max(n_rows_ / lines_.total, 1.0);
        return std::sqrt(lines_.total * std::pow(n_cells, -0.25));
    }

    // Levels with few rows become one.
    void pool(double few) {
        auto [line_of, n_lines] = lines_.places(few);
        auto [column_of, n_columns] = columns_.places(few);
        pooled_.assign(size_t(n_lines) * n_columns, 0);
        const double* count = table_.data();
        for (int x : line_of)
            for (int y : column_of) {
                if (x >= 0 && y >= 0) pooled_[size_t(x) * n_columns + y] += *count;
                count++;
            }
        std::swap(table_, pooled_);
        add_up(n_lines, n_columns);
    }

    void add_pearson() {
        double N = lines_.total, r = lines_.n, s = columns_.n, squares = 0;
        if (N < 2 || r < 2 || s < 2) return;
        const double* count = table_.data();
        for (double in_line : lines_.sums) {
            double weighted = 0;
            for (double in_column : columns_.sums) {
                if (*count > 0) weighted += *count * *count / in_column;
                count++;
            }
            if (in_line > 0) squares += weighted / in_line;
        }
        double mean = N * (r - 1) * (s - 1) / (N - 1), variance = 0;
        if (N >= 3) {
            double w_r = (N * lines_.inverse - r * r) / (N - 2);
            double w_s = (N * columns_.inverse - s * s) / (N - 2);
            variance = N * N / (N - 1) * w_r * w_s;
            double v_r = (N - r) * (r - 1) / (N - 1), v_s = (N - s) * (s - 1) / (N - 1);
            if (N >= 4) variance += 2 * N / (N - 3) * (v_r - w_r) * (v_s - w_s);
        }
        if (variance <= ROUNDING * mean) return;  // no permutation changes anything
        found.pearson += std::max(N * (squares - 1), 0.0);
        found.mean += mean;
        found.variance += variance;
    }
};

}  // namespace tamis
