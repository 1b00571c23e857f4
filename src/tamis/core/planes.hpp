// Bit planes of a table: for each level of a column but its most common one, a bit for every row.
//
// A context is counted by the combinations of its columns' levels where "any" stands in for the
// most common level; what that level has itself is left over. So most combinations have few rows,
// and those of one column are known from the pairs of planes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "judge.hpp"
#include "popcount.hpp"

namespace tamis {

// The level of each row, in one byte or, of columns with more levels, in two or four.
struct Column {
    const uint8_t* narrow = nullptr;
    const uint16_t* wide = nullptr;
    const int32_t* widest = nullptr;
    int n_levels = 1;
    bool has_missing = false;  // rows whose level is ``n_levels`` have no value
    double n_possible = 1;     // levels, with those that never occur where it is several columns

    int n_codes() const { return n_levels + has_missing; }

    int level(size_t row) const { return narrow ? narrow[row] : wide ? wide[row] : widest[row]; }
    template <class Loop>
    void read(Loop&& loop) const {
        if (narrow)
            loop(narrow);
        else if (wide)
            loop(wide);
        else
            loop(widest);
    }
};

// Rows that one plane has in common with each of many.
template <class Processor>
void common_with_each_on(const uint64_t* rows, const uint64_t* planes, size_t n_planes,
                         size_t stride, size_t n_words, int32_t* to) {
    for (size_t p = 0; p < n_planes; p++)
        to[p] = int32_t(common_rows_on<Processor>(rows, planes + p * stride, n_words));
}
#if defined(__x86_64__) && defined(__GNUC__)
// Once more with the processor's name, so that the inner loop is not called but part of this one.
template <>
__attribute__((target("avx512f,avx512vl,avx512vpopcntdq"))) inline void common_with_each_on<Avx512>(
    const uint64_t* rows, const uint64_t* planes, size_t n_planes, size_t stride, size_t n_words,
    int32_t* to) {
    for (size_t p = 0; p < n_planes; p++)
        to[p] = int32_t(common_rows_on<Avx512>(rows, planes + p * stride, n_words));
}
#endif
inline void common_with_each(const uint64_t* rows, const uint64_t* planes, size_t n_planes,
                             size_t stride, size_t n_words, int32_t* to) {
    static const auto loop = for_this_processor(
        [](auto processor) { return &common_with_each_on<decltype(processor)>; });
    loop(rows, planes, n_planes, stride, n_words, to);
}

class Planes {
public:
    Planes() = default;
    Planes(const std::vector<Column>& columns, size_t n_rows)
        : columns_(&columns), n_rows_(n_rows), n_words_((n_rows + 63) / 64), first_(1, 0) {
        for (const Column& column : columns) first_.push_back(first_.back() + column.n_levels - 1);
        rows_.assign(size_t(first_.back()) * n_words_, 0);
        for (size_t k = 0; k < columns.size(); k++) draw(columns[k], first_[k]);
        for (int p = 0; p < first_.back(); p++)
            sizes_.push_back(int32_t(common_rows(plane(p), plane(p), n_words_)));
        is_paired_.assign(sizes_.size(), 0);
    }

    bool empty() const { return columns_ == nullptr; }
    size_t n_words() const { return n_words_; }
    int first(size_t column) const { return first_[column]; }
    const uint64_t* plane(int p) const { return rows_.data() + size_t(p) * n_words_; }

    // Count the combinations of levels of some columns, the last one's fastest, alone and in each
    // plane of the columns from ``begin`` to ``end``. The levels of a column are in the order of
    // its planes, the most common one last.
    void count(const Nodes& columns, int begin, int end) {
        chosen_ = columns;
        n_cells_ = 1;
        for (int k : chosen_) n_cells_ *= n_levels(k);
        int from = first_[begin], width = first_[end] - from;
        totals_.assign(n_cells_, 0);
        counts_.assign(size_t(n_cells_) * width, 0);
        some_.resize(width);
        masks_.resize(std::max(masks_.size(), size_t(n_cells_) * std::min(n_words_, BLOCK)));
        for (size_t word = 0; word < n_words_; word += BLOCK) add_block(word, begin, end);
        totals_[n_cells_ - 1] = int32_t(n_rows_);
        std::copy_n(sizes_.data() + from, width, counts_.end() - width);
        for (int e = 0; e + 1 < n_cells_; e++)
            if (int p = combinations_[e].plane; p >= 0) {
                totals_[e] = sizes_[p];
                if (width > 0)
                    std::copy_n(pairs_of(p, from, width), width, counts_.data() + size_t(e) * width);
            }
        leave_over(totals_.data(), 1);
        if (width > 0) leave_over(counts_.data(), width);
    }
    const int32_t* totals() const { return totals_.data(); }
    const int32_t* counts() const { return counts_.data(); }

private:
    static constexpr int MOST_PAIRS = 4096;  // planes whose pairs are kept
    static constexpr size_t BLOCK = 4096;    // words of each plane that are read together

    // Rows with some levels fixed: those of a plane, a mask, or, if they are few, a list.
    struct Combination {
        int plane = -1;
        const uint64_t* rows = nullptr;
        size_t list = 0;
        int32_t size = 0;
    };
    const std::vector<Column>* columns_ = nullptr;
    size_t n_rows_ = 0, n_words_ = 0, first_word_ = 0, block_words_ = 0;
    std::vector<int> first_;  // plane of each column
    std::vector<uint64_t> rows_, masks_;
    std::vector<int32_t> sizes_, pairs_, some_, lists_, totals_, counts_;
    std::vector<char> is_paired_;
    std::vector<std::vector<int>> place_of_;  // of each column, the order of its levels
    std::vector<Combination> combinations_;
    Nodes chosen_;
    int n_cells_ = 1;

    int n_levels(int k) const { return (*columns_)[k].n_levels; }

    void draw(const Column& column, int first) {
        column.read([&](const auto* code) {
            std::vector<int64_t> sizes(column.n_levels, 0);
            for (size_t i = 0; i < n_rows_; i++) sizes[code[i]]++;
            int common = int(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
            std::vector<int> place(column.n_levels);
            for (int y = 0; y < column.n_levels; y++) place[y] = y - (y > common);
            place[common] = column.n_levels - 1;
            for (size_t i = 0; i < n_rows_; i++)
                if (code[i] != common)
                    rows_[size_t(first + place[code[i]]) * n_words_ + i / 64] |= uint64_t{1}
                                                                                 << i % 64;
            place_of_.push_back(std::move(place));
        });
    }

    void add_block(size_t word, int begin, int end) {
        first_word_ = word;
        block_words_ = std::min(BLOCK, n_words_ - word);
        int from = first_[begin], width = first_[end] - from;
        lists_.clear();
        combinations_.assign(n_cells_, {});
        for (int e = n_cells_ - 2; e >= 0; e--) {
            const Combination one = combinations_[e] = combination(e);
            if (one.plane >= 0 || one.size == 0) continue;
            totals_[e] += one.size;
            if (one.rows)
                add_mask(one, from, counts_.data() + size_t(e) * width, width);
            else
                add_list(one, begin, end, counts_.data() + size_t(e) * width);
        }
    }

    // A combination is one with fewer levels fixed, cut by one plane more.
    Combination combination(int e) {
        int step = n_cells_;
        for (int k : chosen_) {
            step /= n_levels(k);
            int level = e / step % n_levels(k), any = n_levels(k) - 1;
            if (level == any) continue;
            int whole = e + (any - level) * step, p = first_[k] + level;
            const uint64_t* rows = plane(p) + first_word_;
            if (whole == n_cells_ - 1) return {p, rows, 0, sizes_[p]};
            return cut(combinations_[whole], rows, masks_.data() + size_t(e) * block_words_);
        }
        return {};
    }

    Combination cut(const Combination& whole, const uint64_t* by, uint64_t* mask) {
        Combination found;
        found.list = lists_.size();
        if (whole.rows) {
            for (size_t w = 0; w < block_words_; w++) mask[w] = whole.rows[w] & by[w];
            found.size = int32_t(common_rows(mask, mask, block_words_));
            if (found.size > int32_t(block_words_ / 8 + 4)) {
                found.rows = mask;
                return found;
            }
            for (size_t w = 0; lists_.size() < found.list + size_t(found.size); w++)
                for (uint64_t left = mask[w]; left; left &= left - 1)
                    lists_.push_back(int32_t(w * 64 + ones((left & -left) - 1)));
            return found;
        }
        for (int32_t i = 0; i < whole.size; i++) {
            int32_t row = lists_[whole.list + i];
            if (by[row / 64] >> row % 64 & 1) lists_.push_back(row);
        }
        found.size = int32_t(lists_.size() - found.list);
        return found;
    }

    void add_mask(const Combination& one, int from, int32_t* to, int width) {
        common_with_each(one.rows, plane(from) + first_word_, width, n_words_, block_words_,
                         some_.data());
        for (int p = 0; p < width; p++) to[p] += some_[p];
    }

    void add_list(const Combination& one, int begin, int end, int32_t* to) const {
        for (int k = begin; k < end; k++)
            (*columns_)[k].read([&](const auto* code) {
                const int* place = place_of_[k].data();
                int any = n_levels(k) - 1;
                int32_t* own = to + first_[k] - first_[begin];
                for (int32_t i = 0; i < one.size; i++) {
                    int level = place[code[first_word_ * 64 + lists_[one.list + i]]];
                    if (level < any) own[level]++;
                }
            });
    }

    // The rows that a plane has in common with others. Each pair is counted once.
    const int32_t* pairs_of(int p, int from, int width) {
        int n = first_.back();
        if (n > MOST_PAIRS) {
            common_with_each(plane(p), plane(from), width, n_words_, n_words_, some_.data());
            return some_.data();
        }
        if (pairs_.empty()) pairs_.resize(size_t(n) * n);
        int32_t* own = pairs_.data() + size_t(p) * n;
        for (int q = 0; q < n && !is_paired_[p];) {
            int end = q;
            while (end < n && !is_paired_[end]) end++;
            common_with_each(plane(p), plane(q), end - q, n_words_, n_words_, own + q);
            for (q = end; q < n && is_paired_[q]; q++) own[q] = pairs_[size_t(q) * n + p];
        }
        is_paired_[p] = 1;
        return own + from;
    }

    // Turn "any" into the most common level, along every column; so many tables lie side by side.
    void leave_over(int32_t* counts, int width) const {
        size_t step = width;
        for (size_t v = chosen_.size(); v-- > 0; step *= n_levels(chosen_[v])) {
            size_t block = step * n_levels(chosen_[v]), size = size_t(n_cells_) * width;
            for (size_t base = 0; base < size; base += block) {
                int32_t* any = counts + base + block - step;
                for (const int32_t* one = counts + base; one < any; one += step)
                    for (size_t j = 0; j < step; j++) any[j] -= one[j];
            }
        }
    }
};

}  // namespace tamis
