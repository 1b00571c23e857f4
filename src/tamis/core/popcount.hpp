// Counting the rows of bit planes, by the widest instruction that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace tamis {

#ifdef _MSC_VER
inline int ones(uint64_t word) { return static_cast<int>(__popcnt64(word)); }
#else
inline int ones(uint64_t word) { return __builtin_popcountll(word); }
#endif

struct Anywhere {};  // what every processor of a kind can do

// Rows that two planes have in common.
template <class Processor>
int64_t common_rows_on(const uint64_t* a, const uint64_t* b, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += ones(a[w] & b[w]);
    return total;
}

// Rows that are in one of two planes and not in both; they are written to a third.
template <class Processor>
int64_t rows_apart_on(const uint64_t* a, const uint64_t* b, uint64_t* to, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += ones(to[w] = a[w] ^ b[w]);
    return total;
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same loops once more for newer processors. (`target_clones` would write them, but it does not
// choose its versions on every processor that has them.)
struct Avx512 {};
struct Popcnt {};

template <>
__attribute__((target("avx512f,avx512vl,avx512vpopcntdq"))) inline int64_t common_rows_on<Avx512>(
    const uint64_t* a, const uint64_t* b, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += __builtin_popcountll(a[w] & b[w]);
    return total;
}
template <>
__attribute__((target("avx512f,avx512vl,avx512vpopcntdq"))) inline int64_t rows_apart_on<Avx512>(
    const uint64_t* a, const uint64_t* b, uint64_t* to, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += __builtin_popcountll(to[w] = a[w] ^ b[w]);
    return total;
}
template <>
__attribute__((target("popcnt"))) inline int64_t common_rows_on<Popcnt>(
    const uint64_t* a, const uint64_t* b, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += __builtin_popcountll(a[w] & b[w]);
    return total;
}
template <>
__attribute__((target("popcnt"))) inline int64_t rows_apart_on<Popcnt>(
    const uint64_t* a, const uint64_t* b, uint64_t* to, size_t n_words) {
    int64_t total = 0;
    for (size_t w = 0; w < n_words; w++) total += __builtin_popcountll(to[w] = a[w] ^ b[w]);
    return total;
}

template <class Choose>
auto for_this_processor(Choose choose) {
    if (__builtin_cpu_supports("avx512vpopcntdq")) return choose(Avx512{});
    if (__builtin_cpu_supports("popcnt")) return choose(Popcnt{});
    return choose(Anywhere{});
}
#else
template <class Choose>
auto for_this_processor(Choose choose) {
    return choose(Anywhere{});
}
#endif

inline int64_t common_rows(const uint64_t* a, const uint64_t* b, size_t n_words) {
    static const auto loop =
        for_this_processor([](auto processor) { return &common_rows_on<decltype(processor)>; });
    return loop(a, b, n_words);
}

inline int64_t rows_apart(const uint64_t* a, const uint64_t* b, uint64_t* to, size_t n_words) {
    static const auto loop =
        for_this_processor([](auto processor) { return &rows_apart_on<decltype(processor)>; });
    return loop(a, b, to, n_words);
}

}  // namespace tamis
