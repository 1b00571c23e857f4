// A table of levels and its counts: entropies, conditional mutual informations, tests and scores.
//
// Entropies are sums over cells of a function f of the count, in fixed point: sums of whole numbers
// do not hang on the order of rows, of columns or of levels, so that ties stay ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "independence.hpp"
#include "judge.hpp"
#include "planes.hpp"

namespace tamis {

using Fixed = int64_t;
constexpr double FIXED_PER_NAT = 281474976710656.0;  // 2^48

inline Fixed fixed(double nats) { return static_cast<Fixed>(std::llrint(nats * FIXED_PER_NAT)); }
inline double nats(Fixed value) { return static_cast<double>(value) / FIXED_PER_NAT; }

// An entropy estimator: a constant, f of the count of each cell, and f(0) for each unseen one.
class Estimator {
public:
    static constexpr int64_t HEAD = 64;  // counts below this may depend on the number of cells

    // Writes f of so many counts from the first one on for a table that could have so many cells
    // and has ``seen``, and returns the number of cells that f takes it to have.
    using Ask =
        std::function<double(int64_t first, int64_t n, double cells, int64_t seen, Fixed* to)>;
    struct Options {
        double constant = 0;
        bool needs_cells = false;  // f depends on the number of cells
        bool sees_cells = false;   // and that is how many occur
        bool clips = false;        // a negative estimate is 0
    };

    Estimator() = default;
    // Of up to ``most`` counts f is asked at once, of others when they occur.
    Estimator(double n_rows, Options options, Ask ask, int64_t most = 1 << 22)
        : n_rows_(n_rows), options_(options), ask_(std::move(ask)) {
        known_.resize(size_t(std::min(std::ceil(n_rows) + 1, double(most))) + 1);
        if (!ask_)
            for (size_t j = 0; j < known_.size(); j++) known_[j] = fixed(plug_in(double(j)));
        else
            ask_(0, int64_t(known_.size()), 1, 1, known_.data());
        known_[0] = 0;
    }

    // f of whole counts, if that is all there is to it.
    const Fixed* by_count() const {
        bool is_whole = n_rows_ == std::floor(n_rows_) && n_rows_ < double(known_.size());
        return is_whole && !options_.needs_cells && !options_.clips ? known_.data() : nullptr;
    }

    // A sum of f with what unseen cells and the constant add. All rows in one cell are certain.
    Fixed finished(Fixed sum, int64_t seen) const {
        if (seen <= 1) return 0;
        sum += fixed(options_.constant);
        return options_.clips ? std::max(sum, Fixed{0}) : sum;
    }

    Fixed entropy(const std::vector<int64_t>& counts, double cells, double unit) {
        int64_t seen = std::count_if(counts.begin(), counts.end(), [](int64_t c) { return c > 0; });
        if (!options_.needs_cells || seen <= 1) return finished(sum(counts, unit), seen);
        const Head& head = head_of(cells, seen);
        Fixed unseen = Fixed(head.n_cells - double(seen)) * head.f[0];
        return finished(sum(counts, unit, &head) + unseen, seen);
    }

    // The sum of f over the cells that occur. A count of 1 is ``unit`` rows.
    Fixed sum(const std::vector<int64_t>& counts, double unit) {
        return sum(counts, unit, nullptr);
    }

private:
    struct Head {
        double n_cells;
        std::vector<Fixed> f;
    };
    double n_rows_ = 1;
    Options options_;
    Ask ask_;
    std::vector<Fixed> known_;
    std::unordered_map<int64_t, Fixed> beyond_;
    std::map<double, Head> heads_;

    double plug_in(double count) const {
        return count > 0 ? -count / n_rows_ * std::log(count / n_rows_) : 0;
    }

    Fixed sum(const std::vector<int64_t>& counts, double unit, const Head* head) {
        Fixed found = 0;
        if (const Fixed* f = unit == 1 ? by_count() : nullptr)
            for (int64_t count : counts) found += f[count];
        else
            for (int64_t count : counts)
                if (count > 0) found += f_of(unit * double(count), head);
        return found;
    }

    const Head& head_of(double cells, int64_t seen) {
        auto [at, is_new] = heads_.try_emplace(options_.sees_cells ? double(seen) : cells);
        if (is_new) {
            at->second.f.resize(HEAD);
            at->second.n_cells = ask_(0, HEAD, cells, seen, at->second.f.data());
        }
        return at->second;
    }

    Fixed f_of_whole(int64_t count, const Head* head) {
        if (head && count < HEAD) return head->f[count];
        if (count < int64_t(known_.size())) return known_[count];
        if (!ask_) return fixed(plug_in(double(count)));
        auto [at, is_new] = beyond_.try_emplace(count, 0);
        if (is_new) ask_(count, 1, 1, 1, &at->second);
        return at->second;
    }

    // Between whole counts, what f adds to the plug-in goes straight from one to the next.
    Fixed f_of(double count, const Head* head) {
        double below = std::floor(count), share = count - below;
        if (share == 0) return f_of_whole(int64_t(count), head);
        auto added = [&](double whole) {
            return double(f_of_whole(int64_t(whole), head) - fixed(plug_in(whole)));
        };
        double more = (1 - share) * added(std::max(below, 1.0)) + share * added(below + 1);
        return fixed(plug_in(count)) + Fixed(std::llrint(more));
    }
};

// What a table of probabilities costs: the regret of the normalised maximum likelihood of n rows
// (Kontkanen and Myllymaeki 2007; Szpankowski and Weinberger 2012).
class Regret {
public:
    explicit Regret(int64_t n_rows) : n_(static_cast<double>(n_rows)) {
        ratio_ = std::exp(two_levels());
        known_ = {0.0, 0.0, std::log(ratio_)};
    }

    // ln C(r, n): what the best of all distributions on r levels explains by chance.
    double operator()(double n_levels) {
        if (n_levels <= MOST) return known(static_cast<size_t>(n_levels));
        double a = n_levels / n_, over = 2.0 / (a * (1.0 + std::sqrt(1.0 + 4.0 / a)));
        double c = 1.0 + over;
        return n_ * (std::log(a) + (a + 2.0) * std::log1p(over) - 1.0 / c) -
               0.5 * std::log(c + 2.0 / a);
    }

    // The price of a table with so many cells of which so many occur, in two ways, of which the
    // cheaper counts: all cells, or which ones occur and then only these.
    double two_part(double n_cells, double n_occurring) {
        double whole = (*this)(n_cells);
        if (n_occurring >= n_cells || n_cells > 1e15) return whole;
        double which = log_factorial(n_cells) - log_factorial(n_occurring) -
                       log_factorial(n_cells - n_occurring);
        return std::min(whole, which + (*this)(n_occurring));
    }

private:
    static constexpr int MOST = 65536;
    double n_, ratio_;
    std::vector<double> known_, factorials_;

    double log_factorial(double n) {
        if (n >= MOST) return std::lgamma(n + 1);
        for (size_t j = factorials_.size(); factorials_.size() <= n; j++)
            factorials_.push_back(std::lgamma(double(j) + 1));
        return factorials_[size_t(n)];
    }

    double known(size_t n_levels) {
        // C(r + 2) = C(r + 1) + (n / r) C(r), kept as ratios of neighbours: nothing overflows.
        for (size_t r = known_.size() - 2; known_.size() <= n_levels; r++) {
            ratio_ = 1.0 + n_ / (double(r) * ratio_);
            known_.push_back(known_.back() + std::log(ratio_));
        }
        return known_[n_levels];
    }

    double two_levels() const {
        constexpr double pi = 3.14159265358979323846;
        if (n_ == 0) return 0;
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

// Sums of f over the cells of a table with strata and over its margins (stratum, level of the
// candidate), and how many of each occur.
struct Sums {
    Fixed cells = 0, margins = 0;
    int64_t cells_seen = 0, margins_seen = 0;

    template <class Count>
    void add(const Stratum<Count>& stratum, const Fixed* f) {
        auto add_cell = [&](Count count) {
            cells += f[count];
            cells_seen += count > 0;
        };
        auto add_margin = [&](Count count) {
            margins += f[count];
            margins_seen += count > 0;
        };
        Count in_columns = 0, whole = 0;
        for (int y = 0; y < stratum.n_columns; y++) {
            Count in_column = 0;
            const Count* count = stratum.counts + y;
            for (int x = 0; x < stratum.n_lines; x++, count += stratum.stride) {
                add_cell(*count);
                in_column += *count;
            }
            add_margin(in_column);
            in_columns += in_column;
        }
        if (!stratum.totals) return;
        for (int x = 0; x < stratum.n_lines; x++) {
            const Count* line = stratum.counts + x * stratum.stride;
            add_cell(std::accumulate(line, line + stratum.n_columns, stratum.totals[x],
                                     std::minus<Count>()));
            whole += stratum.totals[x];
        }
        add_margin(whole - in_columns);
    }
};

// The counts of a table one by one, where f needs more than each by itself.
struct Counts {
    std::vector<int64_t> strata, lines, columns, cells;

    template <class Count>
    void add(const Stratum<Count>& stratum) {
        size_t first = columns.size();
        int64_t whole = 0;
        columns.resize(first + stratum.n_columns + 1, 0);
        for (int x = 0; x < stratum.n_lines; x++) {
            const Count* line = stratum.counts + x * stratum.stride;
            int64_t counted = std::accumulate(line, line + stratum.n_columns, int64_t{0});
            int64_t in_line = stratum.totals ? stratum.totals[x] : counted;
            for (int y = 0; y < stratum.n_columns; y++) columns[first + y] += line[y];
            columns.back() += in_line - counted;
            cells.insert(cells.end(), line, line + stratum.n_columns);
            cells.push_back(in_line - counted);
            lines.push_back(in_line);
            whole += in_line;
        }
        strata.push_back(whole);
    }
};

// A sum of entropies with their signs, of as many rows as the table has; how many of them are not 0
// for sure, with their signs; and how many rows were asked.
struct Information {
    Fixed sum = 0;
    int n_uncertain = 0;
    double n_rows = 0;

    void add(Fixed entropy, int sign) {
        sum += sign * entropy;
        n_uncertain += sign * (entropy != 0);
    }
};

class Table final : public Judge {
public:
    struct Options {
        double edge_price = 0;  // what each parent costs besides the table that it asks for
        double unit = 1;        // rows that a weight of 1 is
        Estimator::Options estimator;
        Estimator::Ask terms;                      // f, if it is not the plug-in's
        std::function<void()> checkpoint = [] {};  // throws if the user has interrupted
    };

    // ``weights`` are how many units each row stands for; empty: one.
    Table(std::vector<Column> columns, size_t n_lines, std::vector<int64_t> weights,
          Options options)
        : columns_(std::move(columns)),
          weights_(std::move(weights)),
          n_lines_(n_lines),
          options_(std::move(options)),
          n_rows_(options_.unit * double(weights_.empty() ? int64_t(n_lines) : sum_of(weights_))),
          plain_(n_rows_, {}, nullptr),
          estimator_(n_rows_, options_.estimator, options_.terms),
          alone_(columns_.size(), NAN) {
        auto has_missing = [](const Column& column) { return column.has_missing; };
        is_complete_ = std::none_of(columns_.begin(), columns_.end(), has_missing);
        if (weights_.empty() && is_complete_) planes_ = Planes(columns_, n_lines_);
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    int n_nodes() const override { return static_cast<int>(columns_.size()); }
    double n_rows() const override { return n_rows_; }
    int n_levels(int k) const { return columns_[k].n_levels; }

    Information entropy(int target, const Nodes& given) {
        open(target, given, {});
        return context_;
    }

    // How often each joint state of columns occurs.
    const std::vector<int64_t>& counts(const Nodes& columns) {
        open(columns.front(), Nodes(columns.begin() + 1, columns.end()), {});
        return lines_;
    }

    // What each candidate tells of the target given a set.
    void cmi(int target, const Nodes& given, const Nodes& candidates, Information* found) {
        open(target, given, candidates);
        each(candidates, [&](size_t i, const Column& column, auto&& strata) {
            found[i] =
                is_own(candidates[i]) ? Information{0, 0, n_rows_} : information(column, strata);
        });
    }

    // The same with the tests, and the plug-in gains in nats a row.
    void tests(int target, const Nodes& given, const Nodes& candidates, Information* found,
               double* gains, Independence* tests) {
        open(target, given, candidates);
        each(candidates, [&](size_t i, const Column& column, auto&& strata) {
            found[i] = {0, 0, n_rows_};
            if (is_own(candidates[i])) return;
            found[i] = information(column, strata);
            gains[i] = gain(column, strata);
            tests[i] = test(strata);
        });
    }

    // Several columns as one candidate.
    void joint_test(int target, const Nodes& given, const Nodes& members, Information& found,
                    double& gain_found, Independence& test_found) {
        std::vector<int32_t> codes(n_lines_, 0);
        Column joint;
        joint.n_possible = states(members);
        joint.n_levels = join(members, codes);
        joint.has_missing = !is_complete_;
        joint.widest = codes.data();
        open(target, given, {}, false);
        by_rows(joint, [&](auto&& strata) {
            found = information(joint, strata);
            gain_found = gain(joint, strata);
            test_found = test(strata);
        });
    }

    Family family(int target, const Nodes& given) override {
        double alone = given.empty() ? NAN : alone_of(target);
        open(target, given, {});
        Family found;
        found.score = worth(strata_, lines_, states(given), alone, nullptr) -
                      options_.edge_price * double(given.size());
        found.noise = nats(plain_.sum(lines_, options_.unit) - plain_.sum(strata_, options_.unit)) *
                      n_rows_ / std::max(context_.n_rows, 1.0);
        return found;
    }

    // The same of a family whose cells, and whose strata, were counted elsewhere.
    Family family_of(const std::vector<int64_t>& cells, const std::vector<int64_t>& strata,
                     double n_states, int n_levels) {
        Sums sums{plain_.sum(cells, 1), plain_.sum(strata, 1), seen_of(cells), seen_of(strata)};
        return {worth(sums, n_rows_, n_states, n_levels),
                nats(sums.cells - sums.margins) * n_rows_ / n_rows_};
    }

    void scores_with(int target, const Nodes& given, const Nodes& candidates,
                     double* scores) override {
        double alone = alone_of(target), price = options_.edge_price * double(given.size() + 1);
        open(target, given, candidates);
        each(candidates, [&](size_t i, const Column& column, auto&& strata) {
            double n_states = states(given) * column.n_levels;
            if (const Fixed* f = is_complete_ ? quick(plain_, column) : nullptr) {
                Sums sums;
                strata([&](const auto& stratum) { sums.add(stratum, f); });
                scores[i] = worth(sums, n_rows_, n_states, columns_[target].n_levels) - price;
            } else {
                Counts counts = counts_of(strata);
                scores[i] = worth(counts.columns, counts.cells, n_states, alone, &column) - price;
            }
        });
    }

    // The planes of a column: for each level but one, a bit for every row that has it.
    const uint64_t* plane(int column, int level) const {
        return planes_.plane(planes_.first(column) + level);
    }
    size_t n_words() const { return planes_.n_words(); }
    bool has_planes() const { return !planes_.empty(); }

private:
    std::vector<Column> columns_;
    std::vector<int64_t> weights_;
    size_t n_lines_;
    Options options_;
    double n_rows_;
    bool is_complete_ = true;
    Planes planes_;
    Estimator plain_, estimator_;
    std::map<int64_t, Regret> regrets_;
    std::vector<double> alone_;  // scores without parents, where values are missing

    // The context that is open: a target, a set, and how their levels are counted.
    int target_ = 0, n_strata_ = 1;
    double n_cells_ = 1;
    Nodes given_;
    bool in_planes_ = false, is_sorted_ = false;
    // A line is a stratum with a level of the target; those of a stratum follow each other.
    std::vector<int32_t> line_of_, begins_;  // of each row, the last one where a value is missing
    std::vector<int64_t> lines_, strata_;    // their counts
    Information context_;                    // its entropy
    std::vector<int32_t> number_, sorted_, sorted_begins_, column_of_, counts_;
    std::vector<int64_t> weighted_counts_;

    static int64_t sum_of(const std::vector<int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), int64_t{0});
    }
    static int64_t seen_of(const std::vector<int64_t>& counts) {
        return std::count_if(counts.begin(), counts.end(), [](int64_t c) { return c > 0; });
    }
    double states(const Nodes& given) const {
        double product = 1;
        for (int k : given) product *= columns_[k].n_possible;
        return product;
    }
    bool is_own(int k) const { return k == target_ || std::count(given_.begin(), given_.end(), k); }

    // f of whole counts, where that is all it takes to judge a candidate.
    const Fixed* quick(const Estimator& estimator, const Column& candidate) const {
        return options_.unit == 1 && !candidate.has_missing ? estimator.by_count() : nullptr;
    }
    template <class Strata>
    static Counts counts_of(Strata&& strata) {
        Counts counts;
        strata([&](const auto& stratum) { counts.add(stratum); });
        return counts;
    }

    // --- answers
    // ----------------------------------------------------------------------------------

    // I(X_k ; X_l | S) = H(S, X_k) - H(S) + H(S, X_l) - H(S, X_k, X_l).
    template <class Strata>
    Information information(const Column& candidate, Strata&& strata) {
        Information found = context_;
        double n_strata = states(given_), n_levels = columns_[target_].n_possible;
        double n_columns = n_strata * candidate.n_possible;
        if (const Fixed* f = quick(estimator_, candidate)) {
            Sums sums;
            strata([&](const auto& stratum) { sums.add(stratum, f); });
            found.add(estimator_.finished(sums.margins, sums.margins_seen), 1);
            found.add(estimator_.finished(sums.cells, sums.cells_seen), -1);
            return found;
        }
        Counts counts = counts_of(strata);
        if (candidate.has_missing) found = information(counts.strata, counts.lines);
        found.add(estimator_.entropy(counts.columns, n_columns, options_.unit), 1);
        found.add(estimator_.entropy(counts.cells, n_columns * n_levels, options_.unit), -1);
        return found;
    }

    // H(X_k | S) = H(S, X_k) - H(S).
    Information information(const std::vector<int64_t>& strata, const std::vector<int64_t>& lines) {
        Information found;
        double n_strata = states(given_), n_levels = columns_[target_].n_possible;
        found.n_rows = options_.unit * double(sum_of(strata));
        found.add(estimator_.entropy(lines, n_strata * n_levels, options_.unit), 1);
        found.add(estimator_.entropy(strata, n_strata, options_.unit), -1);
        return found;
    }

    template <class Strata>
    double gain(const Column& candidate, Strata&& strata) {
        if (const Fixed* f = quick(plain_, candidate)) {
            Sums sums;
            strata([&](const auto& stratum) { sums.add(stratum, f); });
            Fixed before = plain_.sum(lines_, 1) - plain_.sum(strata_, 1);
            return nats(before + sums.margins - sums.cells) * n_rows_ / context_.n_rows;
        }
        Counts counts = counts_of(strata);
        Fixed sum = 0;
        for (auto& [list, sign] : {std::pair{&counts.lines, 1},
                                   {&counts.strata, -1},
                                   {&counts.columns, 1},
                                   {&counts.cells, -1}})
            sum += sign * plain_.sum(*list, options_.unit);
        return nats(sum) * n_rows_ / std::max(options_.unit * double(sum_of(counts.strata)), 1.0);
    }

    template <class Strata>
    Independence test(Strata&& strata) const {
        IndependenceTest test(options_.unit, n_rows_);
        strata(test);
        return test.found;
    }

    // --- scores
    // -----------------------------------------------------------------------------------

    // Log-likelihood less price of a target with so many levels given so many states.
    double worth(const Sums& sums, double n_rows, double n_states, int n_levels) {
        auto n = std::llrint(n_rows);
        Regret& regret = regrets_.try_emplace(n, n).first->second;
        double own = regret.two_part(n_states * n_levels, double(sums.cells_seen));
        return -n_rows_ * nats(sums.cells - sums.margins) - own +
               regret.two_part(n_states, double(sums.margins_seen));
    }

    // Likelihoods of different rows cannot be compared, their means can (Balov 2013). So what a set
    // explains is taken of the rows that have all of it, times all rows, and comes to what the
    // target scores alone.
    double worth(const std::vector<int64_t>& strata, const std::vector<int64_t>& cells,
                 double n_states, double alone, const Column* candidate) {
        double told = worth_of(strata, cells, n_states);
        double n = options_.unit * double(sum_of(cells));
        if (is_complete_) return told;
        if (std::isnan(alone)) return told * n_rows_ / std::max(n, 1.0);
        std::vector<int64_t> levels(columns_[target_].n_levels, 0);
        for (size_t i = 0; i < n_lines_; i++) {
            bool is_there = line_of_[i] < int32_t(lines_.size());
            if (candidate && is_there) is_there = candidate->level(i) < candidate->n_levels;
            if (is_there) levels[columns_[target_].level(i)] += weight(i);
        }
        return alone + (told - worth_of({sum_of(levels)}, levels, 1)) * n_rows_ / std::max(n, 1.0);
    }

    double worth_of(const std::vector<int64_t>& strata, const std::vector<int64_t>& cells,
                    double n_states) {
        double unit = options_.unit;
        return worth(
            {plain_.sum(cells, unit), plain_.sum(strata, unit), seen_of(cells), seen_of(strata)},
            unit * double(sum_of(cells)), n_states, columns_[target_].n_levels);
    }

    double alone_of(int target) {
        if (is_complete_) return NAN;
        if (std::isnan(alone_[target])) alone_[target] = family(target, {}).score;
        return alone_[target];
    }

    // --- contexts
    // ---------------------------------------------------------------------------------

    void open(int target, const Nodes& given, const Nodes& candidates, bool may_use_planes = true) {
        options_.checkpoint();
        target_ = target;
        given_ = given;
        is_sorted_ = false;
        int r = columns_[target].n_levels;
        n_cells_ = r;
        for (int k : given) n_cells_ *= columns_[k].n_levels;
        in_planes_ = may_use_planes && pays_in_planes(candidates);
        if (in_planes_) {
            count_planes(candidates, 0);
            lines_.assign(planes_.totals(), planes_.totals() + size_t(n_cells_));
            n_strata_ = int(lines_.size()) / r;
            begins_.resize(n_strata_ + 1);
            for (int s = 0; s <= n_strata_; s++) begins_[s] = s * r;
        } else {
            line_of_.assign(n_lines_, 0);
            n_strata_ = join(given_, line_of_);
            number_lines();
        }
        strata_.assign(n_strata_, 0);
        for (int s = 0; s < n_strata_; s++)
            for (int line = begins_[s]; line < begins_[s + 1]; line++) strata_[s] += lines_[line];
        context_ = information(strata_, lines_);
    }

    // A row costs about as much as a few words of planes.
    bool pays_in_planes(const Nodes& candidates) const {
        if (!has_planes()) return false;
        double row_steps = double(candidates.empty() ? given_.size() + 1 : 1) * double(n_lines_);
        return n_cells_ * double(n_words() + 32) < PLANES_FOR_ROWS * row_steps;
    }
    static constexpr double PLANES_FOR_ROWS = 8;
    static constexpr size_t MOST_COUNTS = 1 << 16;  // of planes at a time

    // Candidates that are counted together from one on: neighbours, with few others between them.
    size_t together(const Nodes& candidates, size_t begin) const {
        size_t end = begin, most = size_t(MOST_COUNTS / n_cells_);
        while (end < candidates.size() &&
               size_t(candidates[end] - candidates[begin]) <= 2 * (end - begin) &&
               size_t(planes_.first(candidates[end]) - planes_.first(candidates[begin])) <= most)
            end++;
        return end;
    }

    void count_planes(const Nodes& candidates, size_t begin) {
        options_.checkpoint();
        Nodes columns = given_;
        columns.push_back(target_);
        if (candidates.empty()) return planes_.count(columns, 0, 0);
        size_t end = together(candidates, begin);
        planes_.count(columns, candidates[begin], candidates[end - 1] + 1);
    }

    int64_t weight(size_t i) const { return weights_.empty() ? 1 : weights_[i]; }

    // From the stratum of each row to its line; lines that do not occur have no number.
    void number_lines() {
        const Column& target = columns_[target_];
        int32_t r = target.n_levels, n_possible = n_strata_ * r;
        target.read([&](const auto* code) {
            for (size_t i = 0; i < n_lines_; i++)
                line_of_[i] = code[i] == r ? n_possible : line_of_[i] * r + code[i];
        });
        if (!is_complete_)
            for (int32_t& line : line_of_) line = std::min(line, n_possible);
        std::vector<int64_t> sizes(n_possible + 1, 0);
        for (size_t i = 0; i < n_lines_; i++) sizes[line_of_[i]] += weight(i);
        number_.resize(n_possible + 1);
        begins_.resize(n_strata_ + 1);
        lines_.clear();
        for (int32_t e = 0; e <= n_possible; e++) {
            if (e % r == 0) begins_[e / r] = int32_t(lines_.size());
            number_[e] = int32_t(lines_.size());
            if (e < n_possible && sizes[e] > 0) lines_.push_back(sizes[e]);
        }
        for (int32_t& line : line_of_) line = number_[line];
    }

    // The joint state of columns in each row, numbered without gaps if there are many; the number
    // of states, which is the state of rows that lack a value.
    int join(const Nodes& columns, std::vector<int32_t>& state) {
        int n_states = 1;
        for (int k : columns) {
            const Column& column = columns_[k];
            int32_t r = column.n_levels;
            int64_t wanted = int64_t{n_states} * r;
            column.read([&](const auto* code) {
                if (is_complete_)
                    for (size_t i = 0; i < n_lines_; i++) state[i] = state[i] * r + code[i];
                else
                    for (size_t i = 0; i < n_lines_; i++)
                        state[i] = state[i] == n_states || code[i] == r ? int32_t(wanted)
                                                                        : state[i] * r + code[i];
            });
            n_states = wanted > FEW_STATES || wanted * 8 > int64_t(n_lines_)
                           ? renumber(state, wanted)
                           : int(wanted);
        }
        return n_states;
    }
    static constexpr int64_t FEW_STATES = 256;

    int renumber(std::vector<int32_t>& state, int64_t n_states) {
        number_.assign(size_t(n_states) + 1, 0);
        for (int32_t s : state) number_[s] = 1;
        number_[n_states] = 0;
        int32_t found = 0;
        for (int32_t& one : number_) one = one ? found++ : 0;
        number_[n_states] = found;
        for (int32_t& s : state) s = number_[s];
        return found;
    }

    // --- candidates
    // -------------------------------------------------------------------------------

    // For each candidate, ``use`` its place, its column, and what lets a reader see its strata.
    template <class Use>
    void each(const Nodes& candidates, Use&& use) {
        for (size_t i = 0; i < candidates.size();) {
            if (!in_planes_) {
                options_.checkpoint();
                by_rows(columns_[candidates[i]],
                        [&](auto&& strata) { use(i, columns_[candidates[i]], strata); });
                i++;
                continue;
            }
            if (i > 0) count_planes(candidates, i);
            size_t end = together(candidates, i);
            int first = candidates[i];
            for (; i < end; i++) {
                const int32_t* counts =
                    planes_.counts() + planes_.first(candidates[i]) - planes_.first(first);
                size_t stride = planes_.first(candidates[end - 1] + 1) - planes_.first(first);
                int r = columns_[target_].n_levels, q = columns_[candidates[i]].n_levels - 1;
                use(i, columns_[candidates[i]], [&](auto&& read) {
                    for (int s = 0; s < n_strata_; s++)
                        if (strata_[s] > 0)
                            read(Stratum<int32_t>{counts + begins_[s] * stride, stride, r, q,
                                                  planes_.totals() + begins_[s]});
                });
            }
        }
    }

    template <class Use>
    void by_rows(const Column& candidate, Use&& use) {
        if (weights_.empty())
            by_rows(candidate, counts_, use);
        else
            by_rows(candidate, weighted_counts_, use);
    }

    template <class Count, class Use>
    void by_rows(const Column& candidate, std::vector<Count>& counts, Use&& use) {
        size_t n_codes = candidate.n_codes(), size = (lines_.size() + 1) * n_codes;
        if (size > 4 * n_lines_ + 256)
            return use([&](auto&& read) { by_strata(candidate, counts, read); });
        counts.assign(size, 0);
        candidate.read([&](const auto* code) {
            const int32_t* line = line_of_.data();
            if (weights_.empty())
                for (size_t i = 0; i < n_lines_; i++) counts[line[i] * n_codes + code[i]]++;
            else
                for (size_t i = 0; i < n_lines_; i++)
                    counts[line[i] * n_codes + code[i]] += Count(weights_[i]);
        });
        use([&](auto&& read) {
            for (int s = 0; s < n_strata_; s++)
                if (strata_[s] > 0)
                    read(Stratum<Count>{counts.data() + begins_[s] * n_codes, n_codes,
                                        begins_[s + 1] - begins_[s], candidate.n_levels, nullptr});
        });
    }

    // Of many strata with few rows each only the levels that occur are laid out.
    template <class Count, class Read>
    void by_strata(const Column& candidate, std::vector<Count>& counts, Read&& read) {
        if (!is_sorted_) sort_by_strata();
        column_of_.assign(candidate.n_codes(), -1);
        candidate.read([&](const auto* code) {
            for (int s = 0; s < n_strata_; s++) {
                auto begin = sorted_.begin() + sorted_begins_[s];
                auto end = sorted_.begin() + sorted_begins_[s + 1];
                int n_columns = 0;
                for (auto i = begin; i < end; i++)
                    if (int32_t& column = column_of_[code[*i]]; column < 0) column = n_columns++;
                int lines = begins_[s + 1] - begins_[s];
                counts.assign(size_t(lines) * n_columns, 0);
                for (auto i = begin; i < end; i++)
                    if (int(code[*i]) != candidate.n_levels)
                        counts[(line_of_[*i] - begins_[s]) * n_columns + column_of_[code[*i]]] +=
                            Count(weight(*i));
                read(Stratum<Count>{counts.data(), size_t(n_columns), lines, n_columns, nullptr});
                for (auto i = begin; i < end; i++) column_of_[code[*i]] = -1;
            }
        });
    }

    void sort_by_strata() {
        std::vector<int32_t> stratum_of(lines_.size() + 1, n_strata_);
        for (int s = 0; s < n_strata_; s++)
            std::fill(stratum_of.begin() + begins_[s], stratum_of.begin() + begins_[s + 1], s);
        sorted_begins_.assign(n_strata_ + 2, 0);
        for (int32_t line : line_of_) sorted_begins_[stratum_of[line] + 1]++;
        std::partial_sum(sorted_begins_.begin(), sorted_begins_.end(), sorted_begins_.begin());
        std::vector<int32_t> next(sorted_begins_.begin(), sorted_begins_.end() - 1);
        sorted_.resize(n_lines_);
        for (size_t i = 0; i < n_lines_; i++) sorted_[next[stratum_of[line_of_[i]]]++] = int32_t(i);
        is_sorted_ = true;
    }
};

}  // namespace tamis
