#pragma once

namespace blur {

// The mean over a square of 2 * radius + 1 pixels around every pixel. Beyond the edge, the edge goes on.
void box(const float* in, float* out, int width, int height, int radius);

}  // namespace blur
