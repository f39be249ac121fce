// Runs compiled SYCL kernels on tensors in main memory: the part of a SYCL library that is the same in all of them.
//
// It speaks to Intel's OpenCL driver for processors, found by path. Only the few functions of OpenCL that are used
// are declared here, so no header is needed. Every launch has ended when it returns.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

namespace {

using Handle = void *;
constexpr uint64_t PROCESSOR = 1 << 1;
constexpr uint32_t DRIVER_SAYS_WHY = 0x1183;

struct Driver {
    Handle library = nullptr, platform = nullptr, device = nullptr, context = nullptr, queue = nullptr;
    int32_t (*set_pointer)(Handle, uint32_t, const void *) = nullptr;
};

Driver driver;
std::mutex busy;
char fault[4096];

template <typename Function> Function *named(const char *name) {
    return reinterpret_cast<Function *>(dlsym(driver.library, name));
}

const char *because(const char *what, int32_t code) {
    std::snprintf(fault, sizeof fault, "%s (OpenCL error %d)", what, code);
    return fault;
}

// The loader asks this variable which drivers there are.
const char *load(const char *loader, const char *implementation) {
    setenv("OCL_ICD_FILENAMES", implementation, 1);
    driver.library = dlopen(loader, RTLD_NOW | RTLD_LOCAL);
    if (!driver.library) {
        std::snprintf(fault, sizeof fault, "%s", dlerror());
        return fault;
    }
    return nullptr;
}

const char *find_device() {
    auto platforms = named<int32_t(uint32_t, Handle *, uint32_t *)>("clGetPlatformIDs");
    auto devices = named<int32_t(Handle, uint64_t, uint32_t, Handle *, uint32_t *)>("clGetDeviceIDs");
    Handle found[16];
    uint32_t number = 0;
    int32_t code = platforms(16, found, &number);
    for (uint32_t i = 0; code == 0 && i < number && i < 16 && !driver.device; i++)
        if (devices(found[i], PROCESSOR, 1, &driver.device, nullptr) == 0) driver.platform = found[i];
    return driver.device ? nullptr : because("there is no SYCL device for this processor", code);
}

const char *open_queue() {
    int32_t code = 0;
    auto context = named<Handle(const void *, uint32_t, const Handle *, void *, void *, int32_t *)>("clCreateContext");
    driver.context = context(nullptr, 1, &driver.device, nullptr, nullptr, &code);
    if (code) return because("the device gives no context", code);
    auto queue = named<Handle(Handle, Handle, const void *, int32_t *)>("clCreateCommandQueueWithProperties");
    driver.queue = queue(driver.context, driver.device, nullptr, &code);
    if (code) return because("the device gives no queue", code);
    auto extension = named<void *(Handle, const char *)>("clGetExtensionFunctionAddressForPlatform");
    driver.set_pointer = reinterpret_cast<int32_t (*)(Handle, uint32_t, const void *)>(
        extension(driver.platform, "clSetKernelArgMemPointerINTEL"));
    return driver.set_pointer ? nullptr : because("the driver takes no pointers", 0);
}

const char *explain(Handle program, int32_t code) {
    auto info = named<int32_t(Handle, Handle, uint32_t, size_t, void *, size_t *)>("clGetProgramBuildInfo");
    std::memset(fault, 0, sizeof fault);
    if (info(program, driver.device, DRIVER_SAYS_WHY, sizeof fault - 1, fault, nullptr) == 0 && fault[0]) return fault;
    return because("the driver does not take the program", code);
}

int32_t set_arguments(Handle kernel, uint32_t count, const char *values, const uint32_t *offsets,
                      const uint32_t *sizes) {
    static auto set = named<int32_t(Handle, uint32_t, size_t, const void *)>("clSetKernelArg");
    int32_t code = 0;
    for (uint32_t i = 0; i < count && code == 0; i++) {
        void *pointer;
        if (sizes[i]) {
            code = set(kernel, i, sizes[i], values + offsets[i]);
        } else {
            std::memcpy(&pointer, values + offsets[i], sizeof pointer);
            code = driver.set_pointer(kernel, i, pointer);
        }
    }
    return code;
}

}  // namespace

// Each of these returns why it failed, or null. Text lasts until the next call.

extern "C" const char *kernelwright_open(const char *loader, const char *implementation, const unsigned char *program,
                                         size_t size, Handle *opened) {
    std::lock_guard<std::mutex> alone(busy);
    const char *failed = load(loader, implementation);
    if (!failed) failed = find_device();
    if (!failed) failed = open_queue();
    if (failed) return failed;
    int32_t code = 0, status = 0;
    auto create = named<Handle(Handle, uint32_t, const Handle *, const size_t *, const unsigned char **, int32_t *,
                               int32_t *)>("clCreateProgramWithBinary");
    *opened = create(driver.context, 1, &driver.device, &size, &program, &status, &code);
    if (code) return because("the driver does not read the program", code);
    auto build = named<int32_t(Handle, uint32_t, const Handle *, const char *, void *, void *)>("clBuildProgram");
    code = build(*opened, 1, &driver.device, nullptr, nullptr, nullptr);
    return code ? explain(*opened, code) : nullptr;
}

extern "C" const char *kernelwright_kernel(Handle program, const char *name, uint32_t parameters, Handle *kernel) {
    std::lock_guard<std::mutex> alone(busy);
    int32_t code = 0;
    *kernel = named<Handle(Handle, const char *, int32_t *)>("clCreateKernel")(program, name, &code);
    if (code) return because("the program has no such kernel", code);
    constexpr uint32_t ARGUMENTS = 0x1191;
    uint32_t number = 0;
    auto info = named<int32_t(Handle, uint32_t, size_t, void *, size_t *)>("clGetKernelInfo");
    code = info(*kernel, ARGUMENTS, sizeof number, &number, nullptr);
    if (code == 0 && number == parameters) return nullptr;
    std::snprintf(fault, sizeof fault, "the compiled kernel takes %u arguments, its text %u", number, parameters);
    return fault;
}

// `sizes[i]` is 0 for a pointer, else the bytes of a scalar; every value stands at `values + offsets[i]`.
extern "C" const char *kernelwright_launch(Handle kernel, uint32_t count, const char *values, const uint32_t *offsets,
                                           const uint32_t *sizes, uint32_t dimensions, const size_t *global,
                                           const size_t *local) {
    static auto enqueue = named<int32_t(Handle, Handle, uint32_t, const size_t *, const size_t *, const size_t *,
                                        uint32_t, const Handle *, Handle *)>("clEnqueueNDRangeKernel");
    static auto finish = named<int32_t(Handle)>("clFinish");
    std::lock_guard<std::mutex> alone(busy);
    int32_t code = set_arguments(kernel, count, values, offsets, sizes);
    if (code) return because("the kernel does not take these arguments", code);
    code = enqueue(driver.queue, kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr);
    if (code) return because("the kernel cannot be launched with these sizes", code);
    code = finish(driver.queue);
    return code ? because("the kernel failed while it ran", code) : nullptr;
}
