// A table of levels and its counts: entropies, conditional mutual informations and scores.
//
// Entropies are sums over cells of a function f of the count, in fixed point: sums of whole numbers
// do not hang on the order of rows, of columns or of levels, so that ties stay ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "judge.hpp"
#include "popcount.hpp"

namespace tamis {

using Fixed = int64_t;
constexpr double FIXED_PER_NAT = 281474976710656.0;  // 2^48

inline Fixed fixed(double nats) { return static_cast<Fixed>(std::llround(nats * FIXED_PER_NAT)); }
inline double nats(Fixed value) { return static_cast<double>(value) / FIXED_PER_NAT; }

// The level of each row, in one byte or, of columns with more than 256 levels, in two.
struct Column {
    const uint8_t* narrow = nullptr;
    const uint16_t* wide = nullptr;
    int n_levels = 1;

    template <class Loop>
    void read(Loop&& loop) const {
        if (narrow) loop(narrow);
        else loop(wide);
    }
};

// f of a count: -(j/n) ln(j/n), or that of another estimator. Counts beyond the table are computed.
class Terms {
public:
    Terms() = default;
    explicit Terms(int64_t n_rows, int64_t most = 1 << 20) : n_rows_(static_cast<double>(n_rows)) {
        known_.reserve(std::min(n_rows, most) + 1);
        for (int64_t j = 0; j <= std::min(n_rows, most); j++) known_.push_back(plug_in(j));
    }
    Fixed operator()(int64_t count) const {
        return count < static_cast<int64_t>(known_.size()) ? known_[count] : plug_in(count);
    }

private:
    double n_rows_ = 1;
    std::vector<Fixed> known_;

    Fixed plug_in(int64_t count) const {
        double share = static_cast<double>(count) / n_rows_;
        return count > 0 ? fixed(-share * std::log(share)) : 0;
    }
};

// What a table of probabilities costs: the regret of the normalised maximum likelihood of n rows
// (Kontkanen and Myllymaeki 2007; Szpankowski and Weinberger 2012).
class Regret {
public:
    explicit Regret(int64_t n_rows) : n_(static_cast<double>(n_rows)) {
        double ratio = std::exp(two_levels());
        known_ = {0.0, 0.0, std::log(ratio)};
        // C(r + 2) = C(r + 1) + (n / r) C(r), kept as ratios of neighbours: nothing overflows.
        for (int r = 1; r + 2 <= MOST; r++) {
            ratio = 1.0 + n_ / (r * ratio);
            known_.push_back(known_.back() + std::log(ratio));
        }
    }

    // ln C(r, n): what the best of all distributions on r levels explains by chance.
    double operator()(double n_levels) const {
        if (n_levels <= MOST) return known_[static_cast<size_t>(n_levels)];
        double a = n_levels / n_, over = 2.0 / (a * (1.0 + std::sqrt(1.0 + 4.0 / a)));
        double c = 1.0 + over;
        return n_ * (std::log(a) + (a + 2.0) * std::log1p(over) - 1.0 / c) -
               0.5 * std::log(c + 2.0 / a);
    }

    // The price of a table with so many cells of which so many occur, in two ways, of which the
    // cheaper counts: all cells, or which ones occur and then only these.
    double two_part(double n_cells, double n_occurring) const {
        double whole = (*this)(n_cells);
        if (n_occurring >= n_cells || n_cells > 1e15) return whole;
        double which = std::lgamma(n_cells + 1) - std::lgamma(n_occurring + 1) -
                       std::lgamma(n_cells - n_occurring + 1);
        return std::min(whole, which + (*this)(n_occurring));
    }

private:
    static constexpr int MOST = 65536;
    double n_;
    std::vector<double> known_;

    double two_levels() const {
        constexpr double pi = 3.14159265358979323846;
        if (n_ > 1000)  // Szpankowski's expansion (1998)
            return 0.5 * std::log(n_ * pi / 2) + std::sqrt(8 / (9 * n_ * pi)) +
                   (3 * pi - 16) / (36 * n_ * pi);
        double total = 0;
        for (double h = 0; h <= n_; h++) {
            double own = h > 0 ? h * std::log(h / n_) : 0, other = n_ - h;
            double rest = other > 0 ? other * std::log(other / n_) : 0;
            double ways = std::lgamma(n_ + 1) - std::lgamma(h + 1) - std::lgamma(other + 1);
            total += std::exp(ways + own + rest);
        }
        return std::log(total);
    }
};

// The rows of a context: each has a cell, stratum * levels of the target + level of the target.
// Strata are the joint states of the given columns that occur.
struct Cells {
    int n_strata = 1;
    int n_levels = 1;
    std::vector<int32_t> of_row;
    int size() const { return n_strata * n_levels; }
};

// Of one table of cells by levels: sums of f over its cells and over its margins (stratum, level of
// the candidate), and how many of each occur.
struct Sums {
    Fixed cells = 0, margins = 0;
    int64_t cells_seen = 0, margins_seen = 0;
};

class Table final : public Judge {
public:
    // ``weights`` are how many rows each row stands for; empty: one. ``edge_price`` is what each
    // parent costs besides the table that it asks for.
    Table(std::vector<Column> columns, int64_t n_rows, std::vector<int32_t> weights,
          double edge_price)
        : columns_(std::move(columns)),
          weights_(std::move(weights)),
          n_lines_(static_cast<size_t>(n_rows)),
          n_words_((n_lines_ + 63) / 64),
          n_rows_(weights_.empty() ? n_rows
                                   : std::accumulate(weights_.begin(), weights_.end(), int64_t{0})),
          terms_(n_rows_),
          regret_(n_rows_),
          edge_price_(edge_price) {
        if (weights_.empty()) draw_planes();
    }

    int n_nodes() const override { return static_cast<int>(columns_.size()); }
    double n_rows() const override { return static_cast<double>(n_rows_); }
    int n_levels(int k) const { return columns_[k].n_levels; }

    Family family(int target, const Nodes& given) override {
        Cells cells = cells_of(target, given);
        count_cells(cells);
        Sums sums;
        for (int s = 0; s < cells.n_strata; s++) {
            int64_t total = 0;
            for (int x = 0; x < cells.n_levels; x++) add(sums, totals_[s * cells.n_levels + x], total);
            add_margin(sums, total);
        }
        double n_given = states(given);
        Family found;
        found.noise = nats(sums.cells - sums.margins);
        found.score = worth(sums, n_given, cells.n_levels) - edge_price_ * double(given.size());
        return found;
    }

    void scores_with(int target, const Nodes& given, const Nodes& candidates,
                     double* scores) override {
        Cells cells = cells_of(target, given);
        count_cells(cells);
        begin_context(cells);
        double n_given = states(given);
        for (size_t i = 0; i < candidates.size(); i++) {
            Sums sums = sums_with(cells, candidates[i]);
            double n_states = n_given * columns_[candidates[i]].n_levels;
            scores[i] = worth(sums, n_states, cells.n_levels) - edge_price_ * double(given.size() + 1);
        }
    }

    // The planes of a column: for each level but the last, a bit for every row that has it.
    const uint64_t* plane(int column, int level) const {
        return &planes_[(first_plane_[column] + level) * n_words_];
    }
    size_t n_words() const { return n_words_; }
    bool has_planes() const { return !planes_.empty(); }

private:
    std::vector<Column> columns_;
    std::vector<int32_t> weights_;
    size_t n_lines_, n_words_;
    int64_t n_rows_;
    Terms terms_;
    Regret regret_;
    double edge_price_;
    std::vector<uint64_t> planes_;
    std::vector<size_t> first_plane_;

    // Room that is used again from context to context.
    std::vector<int32_t> number_, counts_, margin_, sorted_, begins_;
    std::vector<int64_t> totals_;
    std::vector<uint64_t> cell_planes_;
    bool in_planes_ = false, is_sorted_ = false;

    void draw_planes() {
        first_plane_.assign(1, 0);
        for (const Column& column : columns_)
            first_plane_.push_back(first_plane_.back() + column.n_levels - 1);
        planes_.assign(first_plane_.back() * n_words_, 0);
        for (size_t k = 0; k < columns_.size(); k++) {
            uint64_t* own = planes_.data() + first_plane_[k] * n_words_;
            int last = columns_[k].n_levels - 1;
            columns_[k].read([&](const auto* code) {
                for (size_t i = 0; i < n_lines_; i++)
                    if (code[i] < last) own[code[i] * n_words_ + i / 64] |= uint64_t{1} << (i % 64);
            });
        }
    }

    double states(const Nodes& given) const {
        double product = 1;
        for (int k : given) product *= columns_[k].n_levels;
        return product;
    }

    // Log-likelihood less price of a target with so many levels, given so many states.
    double worth(const Sums& sums, double n_states, int n_levels) const {
        double likelihood = -n_rows() * nats(sums.cells - sums.margins);
        double own = regret_.two_part(n_states * n_levels, double(sums.cells_seen));
        return likelihood - own + regret_.two_part(n_states, double(sums.margins_seen));
    }

    void add(Sums& sums, int64_t count, int64_t& total) const {
        if (count == 0) return;
        total += count;
        sums.cells += terms_(count);
        sums.cells_seen++;
    }
    void add_margin(Sums& sums, int64_t count) const {
        if (count == 0) return;
        sums.margins += terms_(count);
        sums.margins_seen++;
    }

    // --- contexts -------------------------------------------------------------------------------

    Cells cells_of(int target, const Nodes& given) {
        Cells cells;
        cells.of_row.assign(n_lines_, 0);
        for (int k : given) {
            int64_t wanted = int64_t{cells.n_strata} * columns_[k].n_levels;
            columns_[k].read([&](const auto* code) {
                int32_t r = columns_[k].n_levels, *cell = cells.of_row.data();
                for (size_t i = 0; i < n_lines_; i++) cell[i] = cell[i] * r + code[i];
            });
            // Few states are left as they are, with those that do not occur.
            cells.n_strata = wanted > FEW_STATES || wanted * 8 > int64_t(n_lines_)
                                 ? renumber(cells.of_row, wanted)
                                 : static_cast<int>(wanted);
        }
        cells.n_levels = columns_[target].n_levels;
        columns_[target].read([&](const auto* code) {
            int32_t r = cells.n_levels, *cell = cells.of_row.data();
            for (size_t i = 0; i < n_lines_; i++) cell[i] = cell[i] * r + code[i];
        });
        return cells;
    }
    static constexpr int64_t FEW_STATES = 256;

    // Number the states that occur without gaps, in the order of their values.
    int renumber(std::vector<int32_t>& state, int64_t n_states) {
        number_.assign(static_cast<size_t>(n_states), 0);
        for (int32_t s : state) number_[s] = 1;
        int32_t found = 0;
        for (int32_t& one : number_) one = one ? found++ : 0;
        for (int32_t& s : state) s = number_[s];
        return found;
    }

    void count_cells(const Cells& cells) {
        totals_.assign(cells.size(), 0);
        if (weights_.empty()) for (int32_t cell : cells.of_row) totals_[cell]++;
        else for (size_t i = 0; i < n_lines_; i++) totals_[cells.of_row[i]] += weights_[i];
    }

    // --- a context with one candidate more --------------------------------------------------------

    // A row costs about as much as three words of planes.
    bool pays_in_planes(int64_t n_cells, int n_planes) const {
        return has_planes() && n_cells * n_planes * int64_t(n_words_) < 2 * int64_t(n_lines_) * 2;
    }

    void begin_context(const Cells& cells) {
        is_sorted_ = false;
        in_planes_ = pays_in_planes(cells.size(), 1);
        if (!in_planes_) return;
        cell_planes_.assign(size_t(cells.size()) * n_words_, 0);
        for (size_t i = 0; i < n_lines_; i++)
            cell_planes_[cells.of_row[i] * n_words_ + i / 64] |= uint64_t{1} << (i % 64);
    }

    Sums sums_with(const Cells& cells, int candidate) {
        int width = columns_[candidate].n_levels;
        int64_t size = int64_t{cells.size()} * width;
        if (in_planes_ && pays_in_planes(cells.size(), width - 1)) {
            counts_.resize(size);
            count_by_planes(cells, candidate);
            return sums_of_table(cells, width);
        }
        if (size <= 4 * int64_t(n_lines_) + 256) {
            counts_.assign(size, 0);
            count_by_rows(cells, candidate);
            return sums_of_table(cells, width);
        }
        return sums_by_strata(cells, candidate);
    }

    void count_by_planes(const Cells& cells, int candidate) {
        int width = columns_[candidate].n_levels;
        for (int cell = 0; cell < cells.size(); cell++) {
            int32_t left = static_cast<int32_t>(totals_[cell]), *to = &counts_[size_t(cell) * width];
            const uint64_t* rows = &cell_planes_[cell * n_words_];
            for (int y = 0; y + 1 < width; y++) {
                to[y] = left ? int32_t(common_rows(rows, plane(candidate, y), n_words_)) : 0;
                left -= to[y];
            }
            to[width - 1] = left;
        }
    }

    void count_by_rows(const Cells& cells, int candidate) {
        int width = columns_[candidate].n_levels;
        columns_[candidate].read([&](const auto* code) {
            const int32_t* cell = cells.of_row.data();
            int32_t* to = counts_.data();
            if (weights_.empty())
                for (size_t i = 0; i < n_lines_; i++) to[size_t(cell[i]) * width + code[i]]++;
            else
                for (size_t i = 0; i < n_lines_; i++)
                    to[size_t(cell[i]) * width + code[i]] += weights_[i];
        });
    }

    Sums sums_of_table(const Cells& cells, int width) {
        Sums sums;
        const int32_t* count = counts_.data();
        for (int s = 0; s < cells.n_strata; s++) {
            margin_.assign(width, 0);
            for (int x = 0; x < cells.n_levels; x++)
                for (int y = 0; y < width; y++, count++) {
                    margin_[y] += *count;
                    sums.cells += terms_(*count);
                    sums.cells_seen += *count > 0;
                }
            for (int y = 0; y < width; y++) add_margin(sums, margin_[y]);
        }
        return sums;
    }

    // Of many strata with few rows each only what occurs is looked at, stratum after stratum.
    Sums sums_by_strata(const Cells& cells, int candidate) {
        if (!is_sorted_) sort_by_strata(cells);
        int width = columns_[candidate].n_levels, n_levels = cells.n_levels;
        counts_.assign(size_t(n_levels) * width, 0);
        margin_.assign(width, 0);
        Sums sums;
        columns_[candidate].read([&](const auto* code) {
            auto level = [&](int32_t i) { return cells.of_row[i] % n_levels; };
            for (int s = 0; s < cells.n_strata; s++) {
                const int32_t *begin = &sorted_[begins_[s]], *end = sorted_.data() + begins_[s + 1];
                for (const int32_t* i = begin; i < end; i++) {
                    int32_t weight = weights_.empty() ? 1 : weights_[*i];
                    counts_[level(*i) * width + code[*i]] += weight;
                    margin_[code[*i]] += weight;
                }
                for (const int32_t* i = begin; i < end; i++) {
                    int64_t unused = 0;
                    add(sums, std::exchange(counts_[level(*i) * width + code[*i]], 0), unused);
                    add_margin(sums, std::exchange(margin_[code[*i]], 0));
                }
            }
        });
        return sums;
    }

    void sort_by_strata(const Cells& cells) {
        begins_.assign(cells.n_strata + 1, 0);
        for (int32_t cell : cells.of_row) begins_[cell / cells.n_levels + 1]++;
        std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
        std::vector<int32_t> next(begins_.begin(), begins_.end() - 1);
        sorted_.resize(n_lines_);
        for (size_t i = 0; i < n_lines_; i++)
            sorted_[next[cells.of_row[i] / cells.n_levels]++] = static_cast<int32_t>(i);
        is_sorted_ = true;
    }
};

}  // namespace tamis
