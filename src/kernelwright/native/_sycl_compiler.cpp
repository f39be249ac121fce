// Compiles SYCL text for the processor of this machine:
//
//     sycl-compiler LIBRARY TEXT OUTPUT [FLAG...]
//
// The run-time compiler that comes with SYCL reads the text, the OpenCL driver makes machine code of it. OUTPUT is a
// copy of LIBRARY, the launcher, with the driver's program behind it and its size in the last eight bytes. What the
// compiler says goes to standard output. DRIVER, the path of the OpenCL driver, is given when this is compiled.
#include <sycl/sycl.hpp>

#include <sycl/backend.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace syclexp = sycl::ext::oneapi::experimental;

using Bytes = std::vector<char>;

static Bytes read(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

static Bytes program_of(cl_program program) {
    size_t size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS || size == 0)
        throw std::runtime_error("error: the driver gives no program");
    Bytes bytes(size);
    auto *start = reinterpret_cast<unsigned char *>(bytes.data());
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof start, &start, nullptr) != CL_SUCCESS)
        throw std::runtime_error("error: the driver does not give its program");
    return bytes;
}

static Bytes compiled(const std::string &text, const std::vector<std::string> &flags, std::string &log) {
    sycl::device device(sycl::cpu_selector_v);
    sycl::context context(device);
    auto source = syclexp::create_kernel_bundle_from_source(context, syclexp::source_language::sycl, text);
    auto bundle = syclexp::build(
        source, {device}, syclexp::properties{syclexp::build_options{flags}, syclexp::save_log{&log}});
    auto programs = sycl::get_native<sycl::backend::opencl>(bundle);
    if (programs.size() != 1) throw std::runtime_error("error: the text did not become one program");
    return program_of(programs.front());
}

static void write(const char *path, const Bytes &library, const Bytes &program) {
    std::ofstream file(path, std::ios::binary);
    uint64_t size = program.size();
    file.write(library.data(), library.size());
    file.write(program.data(), program.size());
    file.write(reinterpret_cast<const char *>(&size), sizeof size);
}

static int run(int argc, char **argv) {
    Bytes text = read(argv[2]);
    std::string log;
    try {
        write(argv[3], read(argv[1]), compiled({text.begin(), text.end()}, {argv + 4, argv + argc}, log));
    } catch (const std::exception &error) {
        std::printf("%s\n%s\n", log.c_str(), error.what());
        return 1;
    }
    std::printf("%s", log.c_str());
    return 0;
}

// Leaving without destructors: the runtime is known to abort in them after a failed build.
int main(int argc, char **argv) {
    setenv("OCL_ICD_FILENAMES", DRIVER, 1);  // which drivers there are; the packages' own list has wrong paths
    int code = run(argc, argv);
    std::fflush(stdout);
    _exit(code);
}
