// The allocator of the judge's workers, loaded in front of the C library. Torch takes its tensors from
// posix_memalign. Large blocks come from here, in one of two ways:
//
// Pooled (the rule). A freed block is kept and given to the next request of its size, so that in the steady state no
// page is faulted in while anything is timed: neither in a candidate nor in a baseline.
//
// Guarded (while checking). Every block has pages of its own, filled with a byte that makes NaN or a huge number in
// every float format, its end against a page that may not be touched.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { PAGE = 4096, LARGE = 1 << 16, EDGE = 64, KEPT = 512 };
static const size_t RESERVE = (size_t)1 << 36;

struct head { size_t mapped, size; void *user; unsigned char pattern; };
struct region { char *start; size_t used; };

static volatile int awake;  // the pattern to fill guarded blocks with; 0: not guarding
static struct region guards, pool;
static struct head *kept[KEPT], *kept_guards[KEPT];
static volatile char busy;

void kernelwright_guard(int pattern) { awake = pattern; }

// Address space is taken before any limit is set; memory only when it is used, and then it counts as data.
__attribute__((constructor)) static void reserve(void) {
    struct region *all[] = {&guards, &pool};
    for (int i = 0; i < 2; i++) {
        void *r = mmap(0, RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        all[i]->start = r == MAP_FAILED ? 0 : r;
    }
    // Nothing is timed in guarded blocks, and a large page is faulted in, filled and dropped at a fraction of the cost.
    if (guards.start) madvise(guards.start, RESERVE, MADV_HUGEPAGE);
}

static int within(const struct region *r, const void *p) {
    return r->start && (const char *)p >= r->start && (const char *)p < r->start + RESERVE;
}

static char *take(struct region *r, size_t total, size_t writable) {
    if (!r->start || total > RESERVE) return 0;
    size_t at = __sync_fetch_and_add(&r->used, total);
    if (at + total > RESERVE) return 0;
    return mprotect(r->start + at, writable, PROT_READ | PROT_WRITE) ? 0 : r->start + at;
}

// Shelves of freed blocks, found again by how much is mapped.

static void lock(void) { while (__sync_lock_test_and_set(&busy, 1)) ; }
static void unlock(void) { __sync_lock_release(&busy); }

static struct head *from_shelf(struct head **shelf, size_t mapped) {
    struct head *found = 0;
    lock();
    for (int i = 0; i < KEPT && !found; i++)
        if (shelf[i] && shelf[i]->mapped == mapped) { found = shelf[i]; shelf[i] = 0; }
    unlock();
    return found;
}

static void to_shelf(struct head **shelf, struct head *head) {
    int i = 0;
    lock();
    while (i < KEPT && shelf[i]) i++;
    if (i < KEPT) shelf[i] = head;
    unlock();
    if (i == KEPT) mmap(head, head->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// Guarded blocks: the head lies in the first page, the user's bytes end at the last page but one.

static void *guarded(size_t align, size_t size) {
    size_t body = (size + PAGE - 1) / PAGE * PAGE, total = body + 3 * PAGE;
    if (align > PAGE) return 0;
    char *base = (char *)from_shelf(kept_guards, total);
    if (!base) base = take(&guards, total, total - PAGE);
    if (!base) return 0;
    uintptr_t end = (uintptr_t)base + 2 * PAGE + body;
    char *user = (char *)((end - size) / align * align);
    struct head *head = (struct head *)base;
    head->mapped = total;
    head->size = size;
    head->user = user;
    head->pattern = awake;
    memset(base + PAGE, head->pattern, end - (uintptr_t)(base + PAGE));
    return user;
}

static struct head *head_of(void *p) {
    char *page = guards.start + ((char *)p - guards.start) / PAGE * PAGE;
    while (((struct head *)page)->user != p) page -= PAGE;
    return (struct head *)page;
}

static void check_edges(const struct head *head) {
    const char *base = (const char *)head, *user = head->user, *end = base + head->mapped - PAGE;
    for (const char *q = base + PAGE; q < user; q++) if ((unsigned char)*q != head->pattern) __builtin_trap();
    for (const char *q = user + head->size; q < end; q++) if ((unsigned char)*q != head->pattern) __builtin_trap();
}

static void free_guarded(void *p) {
    struct head *head = head_of(p);
    check_edges(head);
    memset(head->user, head->pattern, head->size);
    to_shelf(kept_guards, head);
}

// Pooled blocks: the head lies right before the user's bytes.

static void *pooled(size_t align, size_t size) {
    if (align > EDGE) return 0;
    size_t mapped = (size + EDGE + LARGE - 1) / LARGE * LARGE;
    struct head *head = from_shelf(kept, mapped);
    if (!head) head = (struct head *)take(&pool, mapped, mapped);
    if (!head) return 0;
    head->mapped = mapped;
    return (char *)head + EDGE;
}

static void free_pooled(void *p) { to_shelf(kept, (struct head *)((char *)p - EDGE)); }

static void *allocate(size_t align, size_t size) {
    void *p = 0;
    if (awake && size) p = guarded(align, size);
    else if (size >= LARGE) p = pooled(align, size);
    return p ? p : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size) {
    void *p = allocate(align, size);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

void *aligned_alloc(size_t align, size_t size) { return allocate(align, size); }

void free(void *p) {
    int saved = errno;
    if (within(&guards, p)) free_guarded(p);
    else if (within(&pool, p)) free_pooled(p);
    else __libc_free(p);
    errno = saved;
}
