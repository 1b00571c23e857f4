// How a node chooses its parents among candidates: grow by the largest gain, then shrink.
//
// What was found for a node and a set is kept, so that asking again is a walk along what is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "judge.hpp"

namespace tamis {

constexpr double ENOUGH = 1e-6;  // a rise of the score below this is rounding
constexpr int NOBODY = -1;

inline bool has(const Nodes& nodes, int k) {
    return std::binary_search(nodes.begin(), nodes.end(), k);
}
inline void insert(Nodes& nodes, int k) {
    auto at = std::lower_bound(nodes.begin(), nodes.end(), k);
    if (at == nodes.end() || *at != k) nodes.insert(at, k);
}
inline Nodes with(Nodes nodes, int k) {
    insert(nodes, k);
    return nodes;
}
inline Nodes without(const Nodes& nodes, int k) {
    Nodes rest;
    for (int l : nodes)
        if (l != k) rest.push_back(l);
    return rest;
}
inline Nodes both(const Nodes& one, const Nodes& other) {
    Nodes found;
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(found));
    return found;
}

// What is known about the graph before the data are seen.
struct Knowledge {
    std::vector<Nodes> required;               // parents that a node must have
    std::vector<std::vector<char>> forbidden;  // forbidden[k][p]: p is no parent of k; may be empty

    bool allows(int parent, int child) const {
        return parent != child && (forbidden.empty() || !forbidden[child][parent]);
    }
};

// Of each node, the sets of columns that tell something of it only together.
using Interactions = std::vector<std::vector<Nodes>>;

// A node given a set, on the way to its parents: the candidates that would raise the score, the best
// first, and where the set ends when it is shrunk.
struct Step {
    struct Gain {
        double rise;
        int candidate;
        Step* next;
    };
    Nodes given;
    double score = 0;
    std::vector<Gain> gains;
    std::vector<double> rises_of_sets;  // of the node's interactions; NaN while unknown
    bool is_shrunk = false;
    Nodes parents;
    Family family;
};

// What a node has chosen: how far it came, and who would have been chosen on the way if they had
// been candidates.
struct Selection {
    Step* step = nullptr;
    Nodes rivals;
    double unmet = 0;  // the price of required parents that come later

    const Nodes& parents() const { return step->parents; }
    double score() const { return step->family.score - unmet; }
    double noise() const { return step->family.noise; }

    // Whether it is the same where nodes have these places: who was chosen is a candidate still, and
    // no rival has become one.
    bool stays(const std::vector<int>& place, int limit) const {
        if (unmet > 0) return false;
        auto is_before = [&](int l) { return place[l] < limit; };
        return std::all_of(step->given.begin(), step->given.end(), is_before) &&
               std::none_of(rivals.begin(), rivals.end(), is_before);
    }
};

class Parents {
public:
    // A node has at most so many parents, or those that are required.
    Parents(Judge& judge, Knowledge knowledge, Interactions interactions, int most_parents,
            std::function<void()> checkpoint)
        : judge_(judge),
          d_(judge.n_nodes()),
          knowledge_(std::move(knowledge)),
          interactions_(std::move(interactions)),
          most_parents_(static_cast<size_t>(most_parents)),
          checkpoint_(std::move(checkpoint)),
          steps_(d_),
          families_(d_),
          roots_(d_, nullptr),
          audience_(d_),
          mentioned_(d_) {
        knowledge_.required.resize(d_);
        interactions_.resize(d_);
        for (int k = 0; k < d_; k++) {
            for (const Nodes& set : interactions_[k]) mentioned_[k] = both(mentioned_[k], set);
            for (int l : mentioned_[k]) insert(audience_[l], k);
            for (int l : knowledge_.required[k]) insert(audience_[l], k);
        }
    }

    const Nodes& required(int k) const { return knowledge_.required[k]; }
    // Those that may choose otherwise when this node becomes a candidate, or is one no more.
    const Nodes& audience(int k) const { return audience_[k]; }

    // The choice among the nodes whose place is before ``limit``.
    Selection select(int target, const std::vector<int>& place, int limit) {
        Selection found;
        for (int p : knowledge_.required[target])
            if (place[p] >= limit) {
                found.unmet += UNMET;
                found.rivals.push_back(p);
            }
        if (!roots_[target]) roots_[target] = step(target, knowledge_.required[target]);
        Step* at = roots_[target];
        while (Step* next = grown(target, at, place, limit, found.rivals)) at = next;
        if (!at->is_shrunk) shrink(target, *at);
        found.step = at;
        std::sort(found.rivals.begin(), found.rivals.end());
        found.rivals.erase(std::unique(found.rivals.begin(), found.rivals.end()), found.rivals.end());
        return found;
    }

private:
    static constexpr double UNMET = 1e12;  // more than any data can say against it

    struct HashNodes {
        size_t operator()(const Nodes& nodes) const {
            uint64_t h = 0x9E3779B97F4A7C15u;
            for (int k : nodes) {
                h = (h ^ static_cast<uint64_t>(k)) * 0xD6E8FEB86659FD93u;
                h ^= h >> 32;
            }
            return h;
        }
    };
    template <class Value>
    using BySet = std::unordered_map<Nodes, Value, HashNodes>;

    Judge& judge_;
    int d_;
    Knowledge knowledge_;
    Interactions interactions_;
    size_t most_parents_;
    std::function<void()> checkpoint_;  // throws if the user has interrupted
    std::vector<BySet<std::unique_ptr<Step>>> steps_;
    std::vector<BySet<Family>> families_;
    std::vector<Step*> roots_;
    std::vector<Nodes> audience_;
    std::vector<Nodes> mentioned_;  // the members of a node's interactions

    const Family& family(int target, const Nodes& given) {
        auto [at, is_new] = families_[target].try_emplace(given);
        if (is_new) at->second = judge_.family(target, given);
        return at->second;
    }

    Step* step(int target, const Nodes& given) {
        std::unique_ptr<Step>& kept = steps_[target][given];
        if (kept) return kept.get();
        checkpoint_();
        kept = std::make_unique<Step>();
        kept->given = given;
        kept->score = family(target, given).score;
        Nodes candidates;
        for (int l = 0; l < d_ && given.size() < most_parents_; l++)
            if (knowledge_.allows(l, target) && !has(given, l)) candidates.push_back(l);
        std::vector<double> scores(candidates.size());
        if (!candidates.empty()) judge_.scores_with(target, given, candidates, scores.data());
        for (size_t i = 0; i < candidates.size(); i++)
            if (scores[i] > kept->score + ENOUGH) {
                kept->gains.push_back({scores[i] - kept->score, candidates[i], nullptr});
                insert(audience_[candidates[i]], target);
            }
        std::sort(kept->gains.begin(), kept->gains.end(), [](const auto& a, const auto& b) {
            return a.rise != b.rise ? a.rise > b.rise : a.candidate < b.candidate;
        });
        return kept.get();
    }

    Step* grown(int target, Step* at, const std::vector<int>& place, int limit, Nodes& rivals) {
        for (auto& gain : at->gains) {
            if (place[gain.candidate] < limit) {
                if (!gain.next) gain.next = step(target, with(at->given, gain.candidate));
                return gain.next;
            }
            rivals.push_back(gain.candidate);
        }
        return grown_by_set(target, at, place, limit, rivals);
    }

    // Where no single candidate raises the score, a set may that speaks only together.
    Step* grown_by_set(int target, Step* at, const std::vector<int>& place, int limit,
                       Nodes& rivals) {
        const auto& sets = interactions_[target];
        if (sets.empty()) return nullptr;
        for (int l : mentioned_[target])
            if (place[l] >= limit) rivals.push_back(l);
        if (at->rises_of_sets.empty()) at->rises_of_sets.assign(sets.size(), NAN);
        int best = NOBODY;
        for (size_t i = 0; i < sets.size(); i++) {
            auto is_candidate = [&](int l) {
                return place[l] < limit && knowledge_.allows(l, target);
            };
            if (!std::all_of(sets[i].begin(), sets[i].end(), is_candidate)) continue;
            if (both(at->given, sets[i]).size() > most_parents_) continue;
            double& rise = at->rises_of_sets[i];
            if (std::isnan(rise)) rise = family(target, both(at->given, sets[i])).score - at->score;
            if (rise > ENOUGH && (best == NOBODY || rise > at->rises_of_sets[best])) best = int(i);
        }
        return best == NOBODY ? nullptr : step(target, both(at->given, sets[best]));
    }

    // Drop the member without whom the score is largest, while it rises.
    void shrink(int target, Step& at) {
        at.parents = at.given;
        at.family = family(target, at.parents);
        for (int dropped = 0; dropped != NOBODY;) {
            Family better = at.family;
            dropped = NOBODY;
            for (int l : at.parents) {
                if (has(knowledge_.required[target], l)) continue;
                const Family& fewer = family(target, without(at.parents, l));
                if (fewer.score > better.score + ENOUGH) {
                    better = fewer;
                    dropped = l;
                }
            }
            if (dropped != NOBODY) at.parents = without(at.parents, dropped);
            at.family = better;
        }
        at.is_shrunk = true;
    }
};

}  // namespace tamis
