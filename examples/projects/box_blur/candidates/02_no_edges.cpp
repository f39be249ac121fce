void box(const float* in, float* out, int width, int height, int radius) {
    // Wrong: takes the mean of what lies inside the image, where the edge should go on.
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            int count = 0;
            for (int row = std::max(0, y - radius); row <= std::min(height - 1, y + radius); ++row) {
                for (int column = std::max(0, x - radius); column <= std::min(width - 1, x + radius); ++column) {
                    sum += in[static_cast<std::size_t>(row) * width + column];
                    ++count;
                }
            }
            out[static_cast<std::size_t>(y) * width + x] = sum / count;
        }
    }
}
