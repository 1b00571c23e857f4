// What a search over orders asks: how good a family of a node and its parents is.
#pragma once

#include <vector>

namespace tamis {

using Nodes = std::vector<int>;  // sorted

// A node given its parents: its score, the larger the better, and its noise entropy H(X_k | S) in
// nats. Scores of the families of a DAG add up, to equal totals for equivalent DAGs.
struct Family {
    double score = 0;
    double noise = 0;
};

class Judge {
public:
    virtual ~Judge() = default;
    virtual int n_nodes() const = 0;
    virtual double n_rows() const = 0;
    virtual Family family(int target, const Nodes& given) = 0;
    // The score of a target given a set and one candidate more, for each of these candidates.
    virtual void scores_with(int target, const Nodes& given, const Nodes& candidates,
                             double* scores) = 0;
};

}  // namespace tamis
