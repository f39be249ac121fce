// Device memory that other processes can be shown: torch's allocator in a candidate's process, and the blocks that
// inputs lie in. Made by the driver's virtual memory calls: every block is a descriptor, mapped where and how we say.
//
// Guarded, a block is filled with 0xFF when it is given out and with 0xDD when it is taken back, ends where an unmapped
// page begins, and is not given out again. Otherwise blocks are kept and given out again, as torch's own allocator does.
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

namespace {

typedef unsigned long long Pointer, Handle;
typedef void *Stream;
struct Location { int type, id; };
struct Properties {
    int type, handle_types;
    Location location;
    void *unused;
    unsigned char compression, direct;
    unsigned short usage;
    unsigned char reserved[4];
};
struct Access { Location location; int flags; };

constexpr int PINNED = 1, DESCRIPTOR = 1, DEVICE = 1, READ = 1, READ_WRITE = 3, MINIMUM = 0;
constexpr size_t ALIGN = 256;
constexpr unsigned char FRESH = 0xFF, DEAD = 0xDD;

struct Driver {
    int (*granularity)(size_t *, const Properties *, int);
    int (*create)(Handle *, size_t, const Properties *, unsigned long long);
    int (*release)(Handle);
    int (*reserve)(Pointer *, size_t, size_t, Pointer, unsigned long long);
    int (*unreserve)(Pointer, size_t);
    int (*map)(Pointer, size_t, size_t, Handle, unsigned long long);
    int (*unmap)(Pointer, size_t);
    int (*access)(Pointer, size_t, const Access *, size_t);
    int (*give)(void *, Handle, int, unsigned long long);
    int (*take)(Handle *, void *, int);
    int (*fill)(Pointer, unsigned char, size_t, Stream);
    int (*wait)();

    Driver() {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
        auto find = [&](auto &target, const char *name) {
            target = reinterpret_cast<std::decay_t<decltype(target)>>(library ? dlsym(library, name) : nullptr);
        };
        find(granularity, "cuMemGetAllocationGranularity");
        find(create, "cuMemCreate");
        find(release, "cuMemRelease");
        find(reserve, "cuMemAddressReserve");
        find(unreserve, "cuMemAddressFree");
        find(map, "cuMemMap");
        find(unmap, "cuMemUnmap");
        find(access, "cuMemSetAccess");
        find(give, "cuMemExportToShareableHandle");
        find(take, "cuMemImportFromShareableHandle");
        find(fill, "cuMemsetD8Async");
        find(wait, "cuCtxSynchronize");
    }
};

struct Block {
    uint64_t number;
    Pointer base;          // where its mapped part begins
    size_t mapped, given;  // bytes mapped, and bytes asked for: the last ones of the mapped part
    int device;
    Stream stream;
    Handle handle;
    bool guarded;
    Pointer start() const { return guarded ? base + mapped - (given + ALIGN - 1) / ALIGN * ALIGN : base; }
};

std::mutex lock;
std::map<Pointer, Block> living;  // by where its mapped part begins
std::multimap<std::pair<size_t, Stream>, Block> kept;
std::vector<Block> dead;
uint64_t blocks = 0;
bool guarding = false;
int fault = 0;

Driver &driver() {
    static Driver found;
    return found;
}

Properties properties(int device) {
    Properties wanted{};
    wanted.type = PINNED;
    wanted.handle_types = DESCRIPTOR;
    wanted.location = {DEVICE, device};
    return wanted;
}

bool good(int code) {
    if (code) fault = code;
    return code == 0;
}

size_t rounded(size_t bytes, int device) {
    static size_t grain = 0;
    Properties wanted = properties(device);
    if (!grain && !good(driver().granularity(&grain, &wanted, MINIMUM))) grain = 2 << 20;
    return (bytes + grain - 1) / grain * grain;
}

// Maps a handle with an unmapped page behind it; 0 where that fails.
Pointer shown(Handle handle, size_t mapped, int device, int flags) {
    Pointer base = 0;
    size_t hole = rounded(1, device);
    if (!good(driver().reserve(&base, mapped + hole, 0, 0, 0))) return 0;
    Access access{{DEVICE, device}, flags};
    if (good(driver().map(base, mapped, 0, handle, 0)) && good(driver().access(base, mapped, &access, 1))) return base;
    driver().unmap(base, mapped);
    driver().unreserve(base, mapped + hole);
    return 0;
}

bool make(Block &block) {
    Properties wanted = properties(block.device);
    if (!good(driver().create(&block.handle, block.mapped, &wanted, 0))) return false;
    block.base = shown(block.handle, block.mapped, block.device, READ_WRITE);
    if (!block.base) driver().release(block.handle);
    return block.base != 0;
}

void unmake(const Block &block) {
    driver().unmap(block.base, block.mapped);
    driver().unreserve(block.base, block.mapped + rounded(1, block.device));
    driver().release(block.handle);
}

void give_back() {
    for (auto &entry : kept) unmake(entry.second);
    kept.clear();
}

const Block *containing(Pointer address) {
    auto after = living.upper_bound(address);
    if (after == living.begin()) return nullptr;
    const Block &block = (--after)->second;
    return address < block.base + block.mapped ? &block : nullptr;
}

}  // namespace

extern "C" {

// A block for torch, or for the judge's own use; null if there is no room.
void *device_make(ptrdiff_t size, int device, Stream stream) {
    if (size <= 0) return nullptr;
    std::lock_guard<std::mutex> held(lock);
    Block block{++blocks, 0, rounded(size, device), static_cast<size_t>(size), device, stream, 0, guarding};
    auto again = guarding ? kept.end() : kept.find({block.mapped, stream});
    if (again != kept.end()) {
        block = again->second;
        block.given = size;
        kept.erase(again);
    } else if (!make(block)) {
        give_back();
        if (!make(block)) return nullptr;
    }
    if (guarding) driver().fill(block.base, FRESH, block.mapped, stream);
    living[block.base] = block;
    return reinterpret_cast<void *>(block.start());
}

void *device_allocate(ptrdiff_t size, int device, Stream stream) {
    void *found = device_make(size, device, stream);
    if (!found && size > 0) throw std::bad_alloc();
    return found;
}

void device_free(void *address, size_t, int, Stream stream) {
    std::lock_guard<std::mutex> held(lock);
    const Block *found = containing(reinterpret_cast<Pointer>(address));
    if (!found) return;
    Block block = *found;
    living.erase(block.base);
    if (block.guarded) {
        driver().fill(block.base, DEAD, block.mapped, stream);
        dead.push_back(block);
    } else {
        kept.emplace(std::make_pair(block.mapped, block.stream), block);
    }
}

// What was taken back while guarded is given back to the driver; nothing may still be running.
void device_collect() {
    std::lock_guard<std::mutex> held(lock);
    for (auto &block : dead) unmake(block);
    dead.clear();
}

// What is kept for reuse is given back to the driver; nothing may still be running.
void device_release() {
    std::lock_guard<std::mutex> held(lock);
    give_back();
}

void device_guard(int on) { guarding = on != 0; }

// Of the block around an address: its number, where its mapped part begins and how long that is. 0 if there is none.
int device_block(Pointer address, uint64_t *number, Pointer *base, size_t *mapped) {
    std::lock_guard<std::mutex> held(lock);
    const Block *block = containing(address);
    if (!block) return 0;
    *number = block->number, *base = block->base, *mapped = block->mapped;
    return 1;
}

int device_export(Pointer address) {
    std::lock_guard<std::mutex> held(lock);
    const Block *block = containing(address);
    int fd = -1;
    return block && good(driver().give(&fd, block->handle, DESCRIPTOR, 0)) ? fd : -1;
}

// A block of another process. The descriptor stays the caller's.
Pointer device_import(int fd, size_t mapped, int device, int writable) {
    Handle handle = 0;
    if (!good(driver().take(&handle, reinterpret_cast<void *>(static_cast<uintptr_t>(fd)), DESCRIPTOR))) return 0;
    Pointer base = shown(handle, mapped, device, writable ? READ_WRITE : READ);
    driver().release(handle);  // the mapping keeps it
    return base;
}

void device_unimport(Pointer base, size_t mapped, int device) {
    driver().unmap(base, mapped);
    driver().unreserve(base, mapped + rounded(1, device));
}

int device_synchronize() { return driver().wait(); }

int device_fault() { return fault; }

}
