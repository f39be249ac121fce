#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "blur.hpp"

namespace {

int failures = 0;

void expect_near(float found, double wanted, const char* what, int at) {
    if (!(std::fabs(found - wanted) <= 1e-4)) {
        if (failures++ < 5) std::printf("%s: pixel %d is %g and should be %g\n", what, at, found, wanted);
    }
}

std::vector<float> blurred(const std::vector<float>& in, int width, int height, int radius) {
    std::vector<float> out(in.size(), -1e30f);
    blur::box(in.data(), out.data(), width, height, radius);
    return out;
}

void constant() {
    const std::vector<float> out = blurred(std::vector<float>(31 * 17, 0.25f), 31, 17, 4);
    for (std::size_t i = 0; i < out.size(); ++i) expect_near(out[i], 0.25, "constant", int(i));
}

void impulse() {
    std::vector<float> in(21 * 21, 0.0f);
    in[10 * 21 + 10] = 1.0f;
    const std::vector<float> out = blurred(in, 21, 21, 2);
    for (int y = 0; y < 21; ++y)
        for (int x = 0; x < 21; ++x) {
            const bool inside = std::abs(y - 10) <= 2 && std::abs(x - 10) <= 2;
            expect_near(out[y * 21 + x], inside ? 1.0 / 25 : 0.0, "impulse", y * 21 + x);
        }
}

void against(int width, int height, int radius) {
    std::mt19937 random(width * 1000 + height * 10 + radius);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    std::vector<float> in(std::size_t(width) * height);
    for (float& value : in) value = uniform(random);
    const std::vector<float> out = blurred(in, width, height, radius);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            double sum = 0;
            for (int dy = -radius; dy <= radius; ++dy)
                for (int dx = -radius; dx <= radius; ++dx)
                    sum += in[std::size_t(std::clamp(y + dy, 0, height - 1)) * width + std::clamp(x + dx, 0, width - 1)];
            expect_near(out[std::size_t(y) * width + x], sum / ((2 * radius + 1) * (2 * radius + 1)), "definition",
                        y * width + x);
        }
}

void edges() {
    against(1, 1, 3);
    against(5, 1, 2);
    against(1, 9, 4);
    against(6, 4, 9);
}

void against_definition() {
    against(33, 29, 0);
    against(33, 29, 1);
    against(64, 48, 7);
}

}  // namespace

int main(int count, char** names) {
    const struct {
        const char* name;
        void (*run)();
    } tests[] = {{"constant", constant}, {"impulse", impulse}, {"edges", edges}, {"against_definition", against_definition}};
    for (const auto& test : tests)
        if (count < 2 || std::strcmp(names[1], test.name) == 0) test.run();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
