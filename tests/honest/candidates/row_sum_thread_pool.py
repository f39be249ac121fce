# entry: persistent thread pool
# task: row_sum
# expect: CORRECT
"""A pool of two threads, started at the first call, waits on a condition variable between calls."""

import torch

from kernelwright import native

lib = native.cpp(
    r"""
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++) threads_.emplace_back([this] { work(); });
    }
    void run(int64_t jobs, const std::function<void(int64_t)>& job) {
        std::unique_lock<std::mutex> lock(mutex_);
        job_ = &job;
        next_ = 0;
        count_ = jobs;
        open_ = jobs;
        wake_.notify_all();
        done_.wait(lock, [this] { return open_ == 0; });
        count_ = 0;
    }

private:
    void work() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return next_ < count_; });
            const int64_t mine = next_++;
            lock.unlock();
            (*job_)(mine);
            lock.lock();
            if (--open_ == 0) done_.notify_one();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    const std::function<void(int64_t)>* job_ = nullptr;
    int64_t next_ = 0, count_ = 0, open_ = 0;
};

extern "C" void row_sum(const float* x, float* y, int64_t rows, int64_t cols) {
    static Pool* pool = new Pool(2);
    const int64_t block = 64;
    pool->run((rows + block - 1) / block, [&](int64_t b) {
        for (int64_t r = b * block; r < rows && r < (b + 1) * block; r++) {
            float sums[16] = {};
            int64_t c = 0;
            for (; c + 16 <= cols; c += 16)
                for (int k = 0; k < 16; k++) sums[k] += x[r * cols + c + k];
            for (; c < cols; c++) sums[0] += x[r * cols + c];
            float total = 0.0f;
            for (int k = 0; k < 16; k++) total += sums[k];
            y[r] = total;
        }
    });
}
"""
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        lib.row_sum(x, y, x.shape[0], x.shape[1])
        return y
