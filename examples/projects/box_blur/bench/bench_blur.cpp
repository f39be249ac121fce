// Times blur::box on an image of the size and seed asked for, and says what the results add up to.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "blur.hpp"

int main(int count, char** words) {
    if (count != 5) {
        std::fprintf(stderr, "bench_blur WIDTH HEIGHT RADIUS SEED\n");
        return 2;
    }
    const int width = std::atoi(words[1]), height = std::atoi(words[2]), radius = std::atoi(words[3]);
    const std::size_t pixels = std::size_t(width) * height;
    std::mt19937 random(std::strtoul(words[4], nullptr, 10));
    std::vector<float> in(pixels), out(pixels), weights(pixels);
    double check = 0;
    std::printf("{\"seconds\": [");
    for (int round = 0; round < 3; ++round) {
        for (float& value : in) value = float(random()) * 0x1p-32f;
        for (float& value : weights) value = float(random()) * 0x1p-32f;
        const auto begin = std::chrono::steady_clock::now();
        blur::box(in.data(), out.data(), width, height, radius);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        for (std::size_t i = 0; i < pixels; ++i) check += double(out[i]) * weights[i];
        std::printf("%s%.9f", round ? ", " : "", took.count());
    }
    std::printf("], \"check\": %.12g}\n", check);
}
