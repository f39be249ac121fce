// A guarding allocator, loaded in front of the C library in the judge's workers and asleep until switched on.
// Awake, it gives every aligned allocation pages of its own: filled with a pattern that is a huge number in every
// float format, its end against a page that may not be touched. Torch takes its tensors from posix_memalign.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { PAGE = 4096, PATTERN = 0xFE, AFTER = 0xA5 };
static const size_t RESERVE = (size_t)1 << 36;

struct head { size_t mapped, size; void *user; };

static volatile int awake;
static char *region;
static size_t used;

void kernelwright_guard(int on) { awake = on; }

// Address space is taken before any limit is set; memory only when it is used, and then it counts as data.
__attribute__((constructor)) static void reserve(void) {
    void *r = mmap(0, RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    region = r == MAP_FAILED ? 0 : r;
}

static int ours(const void *p) { return region && (const char *)p >= region && (const char *)p < region + RESERVE; }

// The head lies in the first page of an allocation, the user's bytes end at the last page but one.
static void *guarded(size_t align, size_t size) {
    size_t body = (size + PAGE - 1) / PAGE * PAGE, total = body + 3 * PAGE;
    size_t at = __sync_fetch_and_add(&used, total);
    if (!region || align > PAGE || at + total > RESERVE) return 0;
    char *base = region + at;
    if (mprotect(base, body + 2 * PAGE, PROT_READ | PROT_WRITE)) return 0;
    uintptr_t end = (uintptr_t)base + 2 * PAGE + body;
    char *user = (char *)((end - size) / align * align);
    struct head *head = (struct head *)base;
    head->mapped = total;
    head->size = size;
    head->user = user;
    memset(base + PAGE, AFTER, user - (base + PAGE));
    memset(user, PATTERN, size);
    memset(user + size, AFTER, end - (uintptr_t)(user + size));
    return user;
}

static struct head *head_of(void *p) {
    char *page = region + ((char *)p - region) / PAGE * PAGE;
    for (;; page -= PAGE) {
        struct head *head = (struct head *)page;
        if (((uintptr_t)page & (PAGE - 1)) == 0 && head->user == p) return head;
    }
}

static void check_edges(const struct head *head) {
    const char *base = (const char *)head, *user = head->user, *end = base + head->mapped - PAGE;
    for (const char *q = base + PAGE; q < user; q++) if ((unsigned char)*q != AFTER) __builtin_trap();
    for (const char *q = user + head->size; q < end; q++) if ((unsigned char)*q != AFTER) __builtin_trap();
}

int posix_memalign(void **out, size_t align, size_t size) {
    void *p = awake && size ? guarded(align, size) : 0;
    if (!p) p = __libc_memalign(align, size);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

void *aligned_alloc(size_t align, size_t size) {
    void *p = awake && size ? guarded(align, size) : 0;
    return p ? p : __libc_memalign(align, size);
}

void free(void *p) {
    if (!ours(p)) { __libc_free(p); return; }
    int saved = errno;
    struct head *head = head_of(p);
    check_edges(head);
    mmap(head, head->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    errno = saved;
}
