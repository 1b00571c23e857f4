// Numbers by their covariances: a family's log-likelihood is that of a linear regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "judge.hpp"

namespace tamis {

class Moments final : public Judge {
public:
    // ``covariance`` holds rows of a symmetric matrix; a parent costs ``price`` nats.
    Moments(std::vector<double> covariance, double n_rows, double price)
        : covariance_(std::move(covariance)),
          n_nodes_(static_cast<int>(std::lround(std::sqrt(double(covariance_.size()))))),
          n_rows_(n_rows),
          price_(price) {}

    int n_nodes() const override { return n_nodes_; }
    double n_rows() const override { return n_rows_; }

    Family family(int target, const Nodes& given) override {
        factorise(given);
        double variance = project(target, given, own_);
        Family found;
        found.noise = 0.5 * std::log(variance);
        found.score = -n_rows_ * found.noise - price_ * static_cast<double>(given.size());
        return found;
    }

    void scores_with(int target, const Nodes& given, const Nodes& candidates,
                     double* scores) override {
        factorise(given);
        double variance = project(target, given, own_);
        double price = price_ * static_cast<double>(given.size() + 1);
        for (size_t i = 0; i < candidates.size(); i++) {
            double other = project(candidates[i], given, other_);
            double shared = at(target, candidates[i]);
            for (size_t j = 0; j < given.size(); j++) shared -= own_[j] * other_[j];
            double left = std::max(variance - shared * shared / other, SMALLEST * at(target, target));
            scores[i] = -n_rows_ * 0.5 * std::log(left) - price;
        }
    }

private:
    static constexpr double SMALLEST = 1e-12;  // what is left of a variance that is all explained

    std::vector<double> covariance_;
    int n_nodes_;
    double n_rows_, price_;
    std::vector<double> factor_, own_, other_;  // the Cholesky factor of the given, projections on it

    double at(int k, int l) const { return covariance_[size_t(k) * n_nodes_ + l]; }

    void factorise(const Nodes& given) {
        size_t n = given.size();
        factor_.assign(n * n, 0);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                double left = at(given[i], given[j]);
                for (size_t m = 0; m < j; m++) left -= factor_[i * n + m] * factor_[j * n + m];
                double least = SMALLEST * at(given[i], given[i]);
                factor_[i * n + j] =
                    i == j ? std::sqrt(std::max(left, least)) : left / factor_[j * n + j];
            }
    }

    // The residual variance of a node given the set that was factorised, and its coordinates there.
    double project(int node, const Nodes& given, std::vector<double>& coordinates) const {
        size_t n = given.size();
        coordinates.resize(n);
        double left = at(node, node);
        for (size_t i = 0; i < n; i++) {
            double value = at(given[i], node);
            for (size_t m = 0; m < i; m++) value -= factor_[i * n + m] * coordinates[m];
            coordinates[i] = value / factor_[i * n + i];
            left -= coordinates[i] * coordinates[i];
        }
        return std::max(left, SMALLEST * at(node, node));
    }
};

}  // namespace tamis
