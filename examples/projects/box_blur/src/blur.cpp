#include "blur.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace blur {

// INSTRUCTIONS begin
// Sums may be taken in another order; results must stay within 1e-4 of the definition.
// The function must work for every radius from 0 up, also one larger than the image.
// INSTRUCTIONS end

// EVOLVE begin box
void box(const float* in, float* out, int width, int height, int radius) {
    const float scale = 1.0f / ((2 * radius + 1) * (2 * radius + 1));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int dy = -radius; dy <= radius; ++dy) {
                for (int dx = -radius; dx <= radius; ++dx) {
                    const int row = std::clamp(y + dy, 0, height - 1);
                    const int column = std::clamp(x + dx, 0, width - 1);
                    sum += in[static_cast<std::size_t>(row) * width + column];
                }
            }
            out[static_cast<std::size_t>(y) * width + x] = sum * scale;
        }
    }
}
// EVOLVE end

}  // namespace blur
