// Sets of columns that say something of another only together: parities of bit planes.
//
// Greedy search begins with single candidates, and of a parity no single parent tells anything. So
// small sets of planes are tried whose exclusive or is far from even although that of no part is.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "parents.hpp"
#include "table.hpp"

namespace tamis {

class LookAhead {
public:
    struct Options {
        int most_members = 6;       // of a set; the node it speaks of is one more
        double deviations = 4.5;    // standard errors by which an exclusive or must be uneven
        double most_words = 2e7;    // words of planes that may be read
        int most_candidates = 8;    // of each node and size, before they are scored
        int most_sets = 16;         // of each node
    };

    LookAhead(Table& table, Options options)
        : table_(table), options_(options), n_words_(table.n_words()), nothing_(n_words_, 0), scratch_(n_words_) {
        if (!table.has_planes()) return;
        for (int k = 0; k < table.n_nodes(); k++)
            for (const uint64_t* rows : planes_of(k)) {
                double mean = 1.0 - 2.0 * share(rows);
                if (std::abs(mean) <= MOST_UNEVEN) planes_.push_back({rows, k, mean});
            }
        threshold_ = options.deviations / std::sqrt(table.n_rows());
    }

    Interactions found() {
        Interactions sets(table_.n_nodes());
        size_t most = affordable();
        if (most < 3) return sets;
        remember_pairs();
        candidates_.assign(table_.n_nodes(), std::vector<std::vector<Candidate>>(most + 1));
        parity_.assign(most + 1, std::vector<uint64_t>(n_words_, 0));
        extend(0, most);
        for (int k = 0; k < table_.n_nodes(); k++) sets[k] = scored(k);
        return sets;
    }

private:
    static constexpr double MOST_UNEVEN = 0.9;  // a plane that hardly varies takes part in no parity
    static constexpr int MOST_LEVELS = 4;

    struct Plane {
        const uint64_t* rows;
        int column;
        double mean;  // of 1 without the bit and -1 with it
    };
    struct Candidate {
        double strength;
        Nodes members;
    };
    Table& table_;
    Options options_;
    size_t n_words_;
    double threshold_ = 0;
    std::vector<std::vector<uint64_t>> last_planes_;
    std::vector<Plane> planes_;
    std::vector<double> pairs_;
    std::vector<uint64_t> nothing_, scratch_;
    std::vector<int> chosen_;                    // planes of the set that is looked at
    std::vector<std::vector<uint64_t>> parity_;  // exclusive ors of its first planes
    std::vector<std::vector<std::vector<Candidate>>> candidates_;

    // A plane for two levels, one for each of three or four; columns of more are no parities.
    std::vector<const uint64_t*> planes_of(int k) {
        int n_levels = table_.n_levels(k);
        std::vector<const uint64_t*> found;
        if (n_levels > MOST_LEVELS) return found;
        for (int level = 0; level + 1 < n_levels; level++) found.push_back(table_.plane(k, level));
        if (n_levels > 2) found.push_back(last_plane_of(k));
        return found;
    }

    const uint64_t* last_plane_of(int k) {
        std::vector<uint64_t> rows(n_words_, ~uint64_t{0});
        for (int level = 0; level + 1 < table_.n_levels(k); level++)
            for (size_t w = 0; w < n_words_; w++) rows[w] &= ~table_.plane(k, level)[w];
        int used = static_cast<int>(static_cast<int64_t>(table_.n_rows()) % 64);
        if (used > 0) rows.back() &= (uint64_t{1} << used) - 1;
        last_planes_.push_back(std::move(rows));
        return last_planes_.back().data();
    }

    double share(const uint64_t* plane) const {
        return static_cast<double>(common_rows(plane, plane, n_words_)) / table_.n_rows();
    }

    // The largest number of planes in a set, the target's among them, for which there is time.
    size_t affordable() const {
        double n = static_cast<double>(planes_.size()), ways = n * (n - 1) / 2, words = 0;
        size_t most = 2;
        for (size_t size = 3; size <= size_t(options_.most_members) + 1 && size <= n; size++) {
            ways *= (n - static_cast<double>(size) + 1) / static_cast<double>(size);
            words += ways * static_cast<double>(n_words_);
            if (words > options_.most_words) break;
            most = size;
        }
        return most;
    }

    void remember_pairs() {
        size_t n = planes_.size();
        pairs_.assign(n * n, 0);
        chosen_.assign(2, 0);
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < a; b++) {
                chosen_ = {static_cast<int>(a), static_cast<int>(b)};
                pairs_[a * n + b] = pairs_[b * n + a] = mean_without(NOBODY, NOBODY);
            }
        chosen_.clear();
    }

    // The mean of the product of the chosen planes, as 1 and -1, but for one or two of them.
    double mean_without(int one, int other) {
        const uint64_t* product = nullptr;
        int64_t odd = 0;
        for (int i = 0; i < static_cast<int>(chosen_.size()); i++) {
            if (i == one || i == other) continue;
            const uint64_t* next = planes_[chosen_[i]].rows;
            if (product) odd = rows_apart(product, next, scratch_.data(), n_words_);
            product = product ? scratch_.data() : next;
        }
        return 1.0 - 2.0 * static_cast<double>(odd) / table_.n_rows();
    }

    // Every set of planes of different columns that begins with the chosen ones.
    void extend(int from, size_t most) {
        size_t size = chosen_.size();
        for (int a = from; a < static_cast<int>(planes_.size()); a++) {
            auto is_of_same = [&](int b) { return planes_[b].column == planes_[a].column; };
            if (std::any_of(chosen_.begin(), chosen_.end(), is_of_same)) continue;
            const uint64_t* before = size ? parity_[size - 1].data() : nothing_.data();
            int64_t odd = rows_apart(before, planes_[a].rows, parity_[size].data(), n_words_);
            chosen_.push_back(a);
            if (size >= 2) consider(1.0 - 2.0 * static_cast<double>(odd) / table_.n_rows());
            if (size + 1 < most) extend(a + 1, most);
            chosen_.pop_back();
        }
    }

    // Keep a set whose product is none of its parts': of each member the others are a candidate.
    void consider(double mean) {
        double expected = 1;
        for (int a : chosen_) expected *= planes_[a].mean;
        if (std::abs(mean - expected) <= threshold_) return;
        double strength = apart_from_parts(mean);
        if (strength < threshold_) return;
        for (int a : chosen_) {
            Nodes members;
            for (int b : chosen_)
                if (b != a) insert(members, planes_[b].column);
            auto& kept = candidates_[planes_[a].column][chosen_.size() - 1];
            kept.push_back({strength, members});
            if (static_cast<int>(kept.size()) > options_.most_candidates)
                kept.erase(std::min_element(kept.begin(), kept.end(), [](auto& x, auto& y) {
                    return x.strength < y.strength;
                }));
        }
    }

    // How far the product is at least from what one or two planes and the rest would give if they
    // were independent; 0 as soon as it is no further than chance.
    double apart_from_parts(double mean) {
        int size = static_cast<int>(chosen_.size());
        double least = INFINITY;
        for (int i = 0; i < size; i++) {
            least = std::min(least, std::abs(mean - planes_[chosen_[i]].mean * mean_without(i, NOBODY)));
            if (least < threshold_) return 0;
        }
        for (int i = 0; size > 3 && i < size; i++)
            for (int j = 0; j < i; j++) {
                double pair = pairs_[size_t(chosen_[i]) * planes_.size() + chosen_[j]];
                double apart = pair - planes_[chosen_[i]].mean * planes_[chosen_[j]].mean;
                if (std::abs(apart) < threshold_) continue;
                least = std::min(least, std::abs(mean - pair * mean_without(i, j)));
                if (least < threshold_) return 0;
            }
        return least;
    }

    // The sets that score higher than each of their parts with one member less.
    std::vector<Nodes> scored(int target) {
        std::vector<Candidate> good;
        for (const auto& of_size : candidates_[target])
            for (const Candidate& one : of_size) {
                auto is_same = [&](const Candidate& other) { return other.members == one.members; };
                if (std::any_of(good.begin(), good.end(), is_same)) continue;
                double parts = table_.family(target, {}).score;
                for (int l : one.members)
                    parts = std::max(parts, table_.family(target, without(one.members, l)).score);
                double rise = table_.family(target, one.members).score - parts;
                if (rise > ENOUGH) good.push_back({rise, one.members});
            }
        std::sort(good.begin(), good.end(), [](const Candidate& a, const Candidate& b) {
            return a.strength != b.strength ? a.strength > b.strength : a.members < b.members;
        });
        if (static_cast<int>(good.size()) > options_.most_sets) good.resize(options_.most_sets);
        std::vector<Nodes> sets;
        for (Candidate& one : good) sets.push_back(std::move(one.members));
        return sets;
    }
};

}  // namespace tamis
