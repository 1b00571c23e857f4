// A judge that asks somebody else, such as a source written in Python, by a function and a pointer.
#pragma once

#include <stdexcept>

#include "judge.hpp"

namespace tamis {

class AskedJudge final : public Judge {
public:
    // Writes the score and noise of the family, or, given candidates, a score for each. It returns a
    // negative number where it has failed.
    using Ask = int (*)(void* whom, int target, const Nodes& given, const Nodes* candidates,
                        double* answer);

    AskedJudge(int n_nodes, double n_rows, Ask ask, void* whom)
        : n_nodes_(n_nodes), n_rows_(n_rows), ask_(ask), whom_(whom) {}

    int n_nodes() const override { return n_nodes_; }
    double n_rows() const override { return n_rows_; }

    Family family(int target, const Nodes& given) override {
        double answer[2];
        require(ask_(whom_, target, given, nullptr, answer));
        return {answer[0], answer[1]};
    }
    void scores_with(int target, const Nodes& given, const Nodes& candidates,
                     double* scores) override {
        require(ask_(whom_, target, given, &candidates, scores));
    }

    static void require(int outcome) {
        if (outcome < 0) throw std::runtime_error("the question was not answered");
    }

private:
    int n_nodes_;
    double n_rows_;
    Ask ask_;
    void* whom_;
};

}  // namespace tamis
