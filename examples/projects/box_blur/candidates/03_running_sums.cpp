void box(const float* in, float* out, int width, int height, int radius) {
    // Each sum is the one before it, plus what comes in and less what goes out: the radius costs nothing.
    const double scale = 1.0 / (static_cast<double>(2 * radius + 1) * (2 * radius + 1));
    std::vector<float> rows(static_cast<std::size_t>(width) * height);
    for (int y = 0; y < height; ++y) {
        const float* from = in + static_cast<std::size_t>(y) * width;
        float* to = rows.data() + static_cast<std::size_t>(y) * width;
        double sum = 0.0;
        for (int dx = -radius; dx <= radius; ++dx) sum += from[std::clamp(dx, 0, width - 1)];
        for (int x = 0; x < width; ++x) {
            to[x] = static_cast<float>(sum);
            sum += from[std::min(x + radius + 1, width - 1)];
            sum -= from[std::max(x - radius, 0)];
        }
    }
    std::vector<double> sums(width, 0.0);
    for (int dy = -radius; dy <= radius; ++dy) {
        const float* from = rows.data() + static_cast<std::size_t>(std::clamp(dy, 0, height - 1)) * width;
        for (int x = 0; x < width; ++x) sums[x] += from[x];
    }
    for (int y = 0; y < height; ++y) {
        float* to = out + static_cast<std::size_t>(y) * width;
        const float* enters = rows.data() + static_cast<std::size_t>(std::min(y + radius + 1, height - 1)) * width;
        const float* leaves = rows.data() + static_cast<std::size_t>(std::max(y - radius, 0)) * width;
        for (int x = 0; x < width; ++x) {
            to[x] = static_cast<float>(sums[x] * scale);
            sums[x] += static_cast<double>(enters[x]) - leaves[x];
        }
    }
}
