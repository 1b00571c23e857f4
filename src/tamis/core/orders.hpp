// The search over orders: each node chooses its parents among those before it, and the order is
// improved until no move and no new start pays.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "parents.hpp"

namespace tamis {

class OrderSearch {
public:
    struct Options {
        int least_fruitless = 30;  // new starts that find nothing before the search ends:
        int most_fruitless = 100;  // as many as nodes, within these
        int most_starts = 1000;
        int most_moved = 8;        // nodes that a new start moves
        int most_parents = std::numeric_limits<int>::max();
        uint64_t seed = 0;
    };
    struct Dag {
        std::vector<int> order;
        std::vector<Nodes> parents;
        std::vector<double> scores;
        std::vector<double> noise;
    };

    OrderSearch(Judge& judge, Knowledge knowledge, Interactions interactions, Options options,
                std::function<void()> checkpoint)
        : d_(judge.n_nodes()),
          parents_(judge, std::move(knowledge), std::move(interactions),
                   options.most_parents, std::move(checkpoint)),
          options_(options),
          seen_(d_, 0),
          random_(options.seed) {}

    // The DAG of "least conditional entropy next", the paper's cond:uneq1.
    Dag first() {
        if (first_.order.empty()) first_ = along(by_entropy());
        return told(first_);
    }

    // The DAG of the best order that climbs and new starts find from there.
    Dag best() {
        first();
        best_ = first_;
        climb(best_, best_.order);
        ends_ = {End{best_.score, best_.place}};
        start_anew();
        return told(best_);
    }

    int n_starts() const { return static_cast<int>(ends_.size()) - 1; }

    // What the score loses at least with the child before the parent, as far as new starts and one
    // climb with the child held there have found.
    double loss_without(int parent, int child) {
        if (best_.order.empty()) best();
        if (best_.place[child] < best_.place[parent]) return 0;
        double most = -INFINITY;
        for (const End& end : ends_)
            if (end.place[child] < end.place[parent]) most = std::max(most, end.score);
        State turned = best_;
        held_first_ = child;
        held_second_ = parent;
        reorder(turned, with_tuck(turned, parent, child));
        climb(turned, turned.order);
        held_first_ = held_second_ = NOBODY;
        return std::max(0.0, best_.score - std::max(most, turned.score));
    }

private:
    struct State {
        std::vector<int> order, place;
        std::vector<Selection> chosen;
        double score = 0;
    };
    struct End {
        double score;
        std::vector<int> place;
    };
    int d_;
    Parents parents_;
    Options options_;
    std::vector<char> seen_;
    std::mt19937_64 random_;
    State first_, best_;
    std::vector<End> ends_;
    int held_first_ = NOBODY, held_second_ = NOBODY;
    Nodes touched_;  // whose parents, or whose children, have changed

    int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }

    // --- orders ----------------------------------------------------------------------------------

    void add_up(State& s) const {
        s.score = 0;
        for (int k = 0; k < d_; k++) s.score += s.chosen[k].score();  // not in the order of s: the
    }                                                                 // same DAG has the same score

    State along(const std::vector<int>& order) {
        State s;
        s.order = order;
        s.place.assign(d_, 0);
        s.chosen.resize(d_);
        for (int i = 0; i < d_; i++) s.place[order[i]] = i;
        for (int i = 0; i < d_; i++) s.chosen[order[i]] = parents_.select(order[i], s.place, i);
        add_up(s);
        return s;
    }

    void reorder(State& s, std::vector<int> order) {
        for (int i = 0; i < d_; i++) s.place[order[i]] = i;
        for (int i = 0; i < d_; i++) {
            int k = order[i];
            if (s.chosen[k].stays(s.place, i)) continue;
            Selection fresh = parents_.select(k, s.place, i);
            if (fresh.parents() != s.chosen[k].parents()) {
                touched_.push_back(k);
                for (const Step* one : {fresh.step, s.chosen[k].step})
                    touched_.insert(touched_.end(), one->parents.begin(), one->parents.end());
            }
            s.chosen[k] = std::move(fresh);
        }
        s.order = std::move(order);
        add_up(s);
    }

    // Admit the least uncertain node, one at a time: the order of the paper's cond:uneq1.
    std::vector<int> by_entropy() {
        std::vector<int> order, place(d_, d_);
        std::vector<Selection> chosen(d_);
        for (int k = 0; k < d_; k++) chosen[k] = parents_.select(k, place, 0);
        while (static_cast<int>(order.size()) < d_) {
            int least = NOBODY;
            for (int k = 0; k < d_; k++) {
                if (place[k] < d_ || !is_free(k, place)) continue;
                if (least == NOBODY || chosen[k].noise() < chosen[least].noise() - 1e-9) least = k;
            }
            place[least] = static_cast<int>(order.size());
            order.push_back(least);
            const Nodes audience = parents_.audience(least);  // a copy: asking may add to it
            for (int k : audience)
                if (place[k] == d_ && has(chosen[k].rivals, least)) chosen[k] = parents_.select(k, place, d_);
        }
        return order;
    }
    bool is_free(int k, const std::vector<int>& place) const {
        return std::all_of(parents_.required(k).begin(), parents_.required(k).end(),
                           [&](int p) { return place[p] < d_; });
    }

    // --- climbing --------------------------------------------------------------------------------

    // Tucks, then every node to its best place, as long as something near it has changed. That the
    // whole has risen is looked at: what moves promise is rounded, or is no number.
    void climb(State& s, Nodes due) {
        for (bool has_risen = true; has_risen && !due.empty();) {
            double before = s.score;
            touched_.clear();
            Nodes near = due;
            for (int pass = 0; pass < 50 && tuck_all(s, near); pass++) {}
            Nodes changed = touched_;
            for (int k : due) {
                touched_.clear();
                if (move_to_best_place(s, k)) {
                    changed.push_back(k);
                    changed.insert(changed.end(), touched_.begin(), touched_.end());
                }
            }
            due = unique_of(changed);
            has_risen = s.score > before;
        }
    }

    Nodes unique_of(const Nodes& nodes) {
        Nodes found;
        for (int k : nodes)
            if (!std::exchange(seen_[k], 1)) found.push_back(k);
        for (int k : found) seen_[k] = 0;
        std::sort(found.begin(), found.end());
        return found;
    }

    // The order with the child and its ancestors that stand between moved before the parent.
    std::vector<int> with_tuck(const State& s, int parent, int child) const {
        int start = s.place[parent], stop = s.place[child];
        std::vector<char> moves(stop - start + 1, 0);
        moves[stop - start] = 1;
        for (int i = stop; i > start; i--)
            if (moves[i - start])
                for (int p : s.chosen[s.order[i]].parents())  // a required one may come later
                    if (s.place[p] > start && s.place[p] < i) moves[s.place[p] - start] = 1;
        std::vector<int> order = s.order;
        std::stable_partition(order.begin() + start, order.begin() + stop + 1,
                              [&](int k) { return moves[s.place[k] - start] != 0; });
        return order;
    }

    bool keeps_hold(const std::vector<int>& order, int start, int stop) const {
        if (held_first_ == NOBODY) return true;
        int first = NOBODY, second = NOBODY;
        for (int i = start; i <= stop; i++) {
            if (order[i] == held_first_) first = i;
            if (order[i] == held_second_) second = i;
        }
        return first == NOBODY || second == NOBODY || first < second;
    }

    bool tuck_all(State& s, const Nodes& near) {
        bool any = false;
        for (int k : near) seen_[k] = 1;
        auto is_near = [&](int k) {
            const Nodes& parents = s.chosen[k].parents();
            return seen_[k] || std::any_of(parents.begin(), parents.end(), [&](int p) { return seen_[p]; });
        };
        std::vector<int> children;
        for (int k : s.order)
            if (is_near(k)) children.push_back(k);
        for (int k : near) seen_[k] = 0;
        for (int child : children) {
            Nodes parents = s.chosen[child].parents();
            for (int parent : parents)
                if (has(s.chosen[child].parents(), parent) && s.place[parent] < s.place[child])
                    any |= tuck(s, parent, child);
        }
        return any;
    }

    bool tuck(State& s, int parent, int child) {
        int start = s.place[parent], stop = s.place[child];
        std::vector<int> order = with_tuck(s, parent, child);
        if (!keeps_hold(order, start, stop)) return false;
        for (int i = start; i <= stop; i++) s.place[order[i]] = i;
        double score = s.score;
        for (int i = start; i <= stop; i++) {
            const Selection& old = s.chosen[order[i]];
            if (old.stays(s.place, i)) continue;
            Selection fresh = parents_.select(order[i], s.place, i);
            score += fresh.score() - old.score();
        }
        for (int i = start; i <= stop; i++) s.place[s.order[i]] = i;
        if (score <= s.score + ENOUGH) return false;
        reorder(s, std::move(order));
        return true;
    }

    // Take a node out and put it back where the whole is best.
    bool move_to_best_place(State& s, int node) {
        int at = s.place[node], last = d_ - 1;
        std::vector<int> rest = s.order;
        rest.erase(rest.begin() + at);
        std::vector<int>& place = s.place;
        for (int i = at; i < last; i++) place[rest[i]] = i;
        // What each of the others gains by the node being behind it: 0 for most.
        std::vector<double> behind(last, 0.0);
        double others = s.score - s.chosen[node].score();
        const Nodes audience = parents_.audience(node);  // a copy: whoever is asked may add to it
        for (int k : audience) {
            int i = place[k];
            const Selection& chosen = s.chosen[k];
            bool was_before = at <= i;  // the node stood before this one
            place[node] = was_before ? d_ : -1;
            if (!has(was_before ? chosen.step->given : chosen.rivals, node)) continue;
            double other = parents_.select(k, place, i).score();
            behind[i] = was_before ? other - chosen.score() : chosen.score() - other;
            if (!was_before) others += other - chosen.score();
        }
        auto [low, high] = room_for(node, rest);
        place[node] = d_;
        Selection own = parents_.select(node, place, 0);
        double best = -INFINITY, now = -INFINITY;
        int where = at;
        for (int i = 0; i < d_; i++) {
            double whole = others + own.score();
            if (i == at) now = whole;
            if (i >= low && i <= high && whole > best) {
                best = whole;
                where = i;
            }
            if (i == last) break;
            others += behind[i];
            if (has(own.rivals, rest[i])) own = parents_.select(node, place, i + 1);
        }
        for (int i = 0; i < d_; i++) place[s.order[i]] = i;
        if (best <= now + ENOUGH) return false;
        rest.insert(rest.begin() + where, node);
        reorder(s, std::move(rest));
        return true;
    }

    // The places that a node may take where one node is held before another.
    std::pair<int, int> room_for(int node, const std::vector<int>& rest) const {
        auto find = [&](int k) { return int(std::find(rest.begin(), rest.end(), k) - rest.begin()); };
        if (held_first_ != NOBODY && node == held_first_) return {0, find(held_second_)};
        if (held_first_ != NOBODY && node == held_second_) return {find(held_first_) + 1, d_ - 1};
        return {0, d_ - 1};
    }

    // --- new starts ------------------------------------------------------------------------------

    // Move some nodes anywhere and climb from there, until so many starts in a row find nothing.
    void start_anew() {
        int enough = std::clamp(d_, options_.least_fruitless, options_.most_fruitless);
        int most = std::max(2, std::min(options_.most_moved, d_ / 3));
        for (int fruitless = 0; fruitless < enough && d_ > 1; fruitless++) {
            if (static_cast<int>(ends_.size()) > options_.most_starts) break;
            State other = best_;
            std::vector<int> order = other.order;
            touched_.clear();
            Nodes moved;
            for (int left = 2 + below(most - 1); left > 0; left--) {
                int k = order[below(d_)];
                moved.push_back(k);
                order.erase(std::find(order.begin(), order.end(), k));
                order.insert(order.begin() + below(d_), k);
            }
            reorder(other, std::move(order));
            Nodes due = touched_;
            due.insert(due.end(), moved.begin(), moved.end());
            climb(other, unique_of(due));
            ends_.push_back({other.score, other.place});
            if (other.score > best_.score + ENOUGH) {
                best_ = std::move(other);
                fruitless = -1;
            }
        }
    }

    Dag told(const State& s) const {
        Dag found;
        found.order = s.order;
        for (int k = 0; k < d_; k++) {
            found.parents.push_back(s.chosen[k].parents());
            found.scores.push_back(s.chosen[k].score());
            found.noise.push_back(s.chosen[k].noise());
        }
        return found;
    }
};

}  // namespace tamis
