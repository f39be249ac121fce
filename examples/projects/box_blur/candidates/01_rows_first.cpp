void box(const float* in, float* out, int width, int height, int radius) {
    // A box is a row of columns: sum along rows, then those sums along columns.
    const float scale = 1.0f / ((2 * radius + 1) * (2 * radius + 1));
    std::vector<float> rows(static_cast<std::size_t>(width) * height);
    for (int y = 0; y < height; ++y) {
        const float* from = in + static_cast<std::size_t>(y) * width;
        float* to = rows.data() + static_cast<std::size_t>(y) * width;
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int dx = -radius; dx <= radius; ++dx) sum += from[std::clamp(x + dx, 0, width - 1)];
            to[x] = sum;
        }
    }
    for (int y = 0; y < height; ++y) {
        float* to = out + static_cast<std::size_t>(y) * width;
        std::fill(to, to + width, 0.0f);
        for (int dy = -radius; dy <= radius; ++dy) {
            const float* from = rows.data() + static_cast<std::size_t>(std::clamp(y + dy, 0, height - 1)) * width;
            for (int x = 0; x < width; ++x) to[x] += from[x];
        }
        for (int x = 0; x < width; ++x) to[x] *= scale;
    }
}
