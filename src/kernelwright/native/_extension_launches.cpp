// Stands between an extension and the CUDA runtime: wherever the extension launches a kernel, it asks here first.
// The linker sends it here (--wrap). Switched off, launches succeed and run nothing.
#include <cuda_runtime_api.h>

static bool launches = true;

extern "C" __attribute__((visibility("default"))) void kernelwright_mute_launches() { launches = false; }

// Weak: which of them a runtime has depends on its version.
#define STAND_BETWEEN(name, parameters, arguments)                               \
    extern "C" __attribute__((weak)) cudaError_t __real_##name parameters;       \
    extern "C" cudaError_t __wrap_##name parameters {                            \
        return launches ? __real_##name arguments : cudaSuccess;                 \
    }
#define GRID_PARAMETERS (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t bytes, cudaStream_t stream)
#define GRID_ARGUMENTS (kernel, grid, block, arguments, bytes, stream)

STAND_BETWEEN(__cudaLaunchKernel, GRID_PARAMETERS, GRID_ARGUMENTS)
STAND_BETWEEN(__cudaLaunchKernel_ptsz, GRID_PARAMETERS, GRID_ARGUMENTS)
STAND_BETWEEN(cudaLaunchKernel, GRID_PARAMETERS, GRID_ARGUMENTS)
STAND_BETWEEN(cudaLaunchCooperativeKernel, GRID_PARAMETERS, GRID_ARGUMENTS)
STAND_BETWEEN(cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* kernel, void** arguments),
              (config, kernel, arguments))
STAND_BETWEEN(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream))
