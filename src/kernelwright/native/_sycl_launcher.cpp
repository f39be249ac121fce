// Runs compiled SYCL kernels on tensors in main memory: the part of a SYCL library that is the same in all of them.
//
// It speaks to Intel's OpenCL driver for processors. Only the few functions of OpenCL that are used are declared here,
// so no header is needed. Every launch has ended when it returns. DRIVER, its path, is given when compiled.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <dlfcn.h>
#include <mutex>

namespace {

using Handle = void *;
using Code = int32_t;
constexpr uint64_t PROCESSOR = 1 << 1;
constexpr uint32_t ARGUMENTS = 0x1191;

Handle library, device, context, queue;
Code (*set_pointer)(Handle, uint32_t, const void *);
std::mutex busy;
thread_local char fault[4096];

template <typename Function> Function *named(const char *name) {
    return reinterpret_cast<Function *>(dlsym(library, name));
}

const char *because(const char *what, Code code) {
    std::snprintf(fault, sizeof fault, "%s (OpenCL error %d)", what, code);
    return fault;
}

const char *find_device(Handle *platform) {
    library = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    Code code = named<Code(uint32_t, Handle *, uint32_t *)>("clGetPlatformIDs")(1, platform, nullptr);
    if (code) return because("there is no driver for SYCL on this processor", code);
    auto devices = named<Code(Handle, uint64_t, uint32_t, Handle *, uint32_t *)>("clGetDeviceIDs");
    code = devices(*platform, PROCESSOR, 1, &device, nullptr);
    return code ? because("there is no SYCL device for this processor", code) : nullptr;
}

const char *open_device() {
    if (queue) return nullptr;
    Handle platform;
    if (const char *failed = find_device(&platform)) return failed;
    Code code = 0;
    auto new_context = named<Handle(const void *, uint32_t, const Handle *, void *, void *, Code *)>("clCreateContext");
    context = new_context(nullptr, 1, &device, nullptr, nullptr, &code);
    if (code) return because("the device gives no context", code);
    auto extension = named<void *(Handle, const char *)>("clGetExtensionFunctionAddressForPlatform");
    set_pointer = reinterpret_cast<decltype(set_pointer)>(extension(platform, "clSetKernelArgMemPointerINTEL"));
    if (!set_pointer) return because("the driver takes no pointers", 0);
    auto new_queue = named<Handle(Handle, Handle, const void *, Code *)>("clCreateCommandQueueWithProperties");
    queue = new_queue(context, device, nullptr, &code);
    return code ? because("the device gives no queue", code) : nullptr;
}

// The driver has signals caught, to report its own crashes; a kernel's crash must stay a crash of the process.
struct SignalsAsBefore {
    static constexpr int LAST = 31;
    struct sigaction before[LAST + 1];
    SignalsAsBefore() {
        for (int number = 1; number <= LAST; number++) sigaction(number, nullptr, &before[number]);
    }
    ~SignalsAsBefore() {
        for (int number = 1; number <= LAST; number++) sigaction(number, &before[number], nullptr);
    }
};

}  // namespace

// Each of these returns why it failed, or null. The text lasts until the thread's next call.

extern "C" const char *kernelwright_open(const unsigned char *binary, size_t size, Handle *program) {
    std::lock_guard<std::mutex> alone(busy);
    SignalsAsBefore signals;
    if (const char *failed = open_device()) return failed;
    Code code = 0;
    auto create = named<Handle(Handle, uint32_t, const Handle *, const size_t *, const unsigned char **, Code *, Code *)>(
        "clCreateProgramWithBinary");
    *program = create(context, 1, &device, &size, &binary, nullptr, &code);
    if (code) return because("the driver does not read the program", code);
    auto build = named<Code(Handle, uint32_t, const Handle *, const char *, void *, void *)>("clBuildProgram");
    code = build(*program, 1, &device, nullptr, nullptr, nullptr);
    return code ? because("the driver does not take the program", code) : nullptr;
}

extern "C" const char *kernelwright_kernel(Handle program, const char *name, uint32_t parameters, Handle *kernel) {
    std::lock_guard<std::mutex> alone(busy);
    Code code = 0;
    *kernel = named<Handle(Handle, const char *, Code *)>("clCreateKernel")(program, name, &code);
    if (code) return because("the program has no such kernel", code);
    uint32_t number = 0;
    auto info = named<Code(Handle, uint32_t, size_t, void *, size_t *)>("clGetKernelInfo");
    code = info(*kernel, ARGUMENTS, sizeof number, &number, nullptr);
    if (code == 0 && number == parameters) return nullptr;
    std::snprintf(fault, sizeof fault, "the compiled kernel takes %u arguments, its text %u", number, parameters);
    return fault;
}

// `sizes[i]` is 0 for a pointer, else the bytes of a scalar; `values[i]` is where the argument stands.
extern "C" const char *kernelwright_launch(Handle kernel, uint32_t count, const size_t *sizes, void **values,
                                           uint32_t dimensions, const size_t *global, const size_t *local) {
    static auto set = named<Code(Handle, uint32_t, size_t, const void *)>("clSetKernelArg");
    static auto enqueue = named<Code(Handle, Handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
                                     const Handle *, Handle *)>("clEnqueueNDRangeKernel");
    static auto finish = named<Code(Handle)>("clFinish");
    std::lock_guard<std::mutex> alone(busy);
    for (uint32_t i = 0; i < count; i++) {
        Code code = sizes[i] ? set(kernel, i, sizes[i], values[i]) : set_pointer(kernel, i, *(void **)values[i]);
        if (code) return because("the kernel does not take these arguments", code);
    }
    Code code = enqueue(queue, kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr);
    if (code) return because("the kernel cannot be launched with these sizes", code);
    code = finish(queue);
    return code ? because("the kernel failed while it ran", code) : nullptr;
}
