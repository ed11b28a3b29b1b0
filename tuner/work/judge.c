/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - see judge.h. Knows the container (ELF), as much of the instruction encoding as
 * was compared with nvdisasm 13.0 on every family for each architecture listed, and a model
 * of what an instruction costs at least, fitted to kernels measured on an H200. An
 * instruction is 128 bits:
 *
 *     bit    0  opcode, form of the operands (3 bits), predicate (4 bits)
 *           16  Rd            24  Ra           32  Rb, or a constant        64  Rc
 *          122  .reuse of a, b, c (a bit each)
 *
 * In the forms whose third operand is the constant, Rb takes the place of Rc.
 */
#include "tuner/work/judge.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTION_BYTES = 16,
    TEXT_MAX = 1 << 24,
    LOOPS_MAX = 64, /* kernels have 5; any bytes may have many */
    RZ = 255,
    BANKS = 4
};

enum opcode {
    FFMA = 0x023,
    IMAD = 0x024,
    BRA = 0x147,
    EXIT = 0x14d,
    LDS = 0x184,
    LDGSTS = 0x1ae
};

/* What multiplies and adds, the most work first: a kernel is judged by the first of these
 * that one of its loops has. Others are then index arithmetic or the last touch. */
static const struct kind {
    int opcode;
    char name[8];
} kinds[] = {
    {0x1f0, "HGMMA"}, {0x1f1, "IGMMA"}, {0x03c, "HMMA"}, {0x037, "IMMA"},
    {0x03f, "DMMA"},  {FFMA, "FFMA"},   {0x02b, "DFMA"}, {IMAD, "IMAD"},
};

static const struct arch {
    int cc;
    int branch_bits; /* of a branch's distance that lie at bit 16; the others are at 34 */
    bool ffma_every_slot; /* 128 lanes a multiprocessor: issuing is what binds FFMAs */
} archs[] = {
    {75, 0, false}, {80, 0, false}, {86, 0, true},  {87, 0, true},
    {88, 0, true},  {89, 0, true},  {90, 8, true},  {100, 8, true},
    {103, 8, true}, {110, 8, true}, {120, 8, true}, {121, 8, true},
};

struct instruction {
    uint64_t low, high;
};

struct text {
    const struct arch *arch;
    const unsigned char *bytes;
    size_t count; /* instructions */
};

struct loop {
    const struct text *text;
    size_t first, last;
    const struct kind *kind;
};

/* ---- instructions ---- */

static struct instruction at(const struct text *t, size_t i) {
    struct instruction out;
    memcpy(&out, t->bytes + i * INSTRUCTION_BYTES, sizeof out);
    return out;
}

static int opcode_of(struct instruction i) {
    return (int)(i.low & 0x1ff);
}

static int form_of(struct instruction i) {
    return (int)(i.low >> 9 & 7);
}

static int predicate_of(struct instruction i) {
    enum { ALWAYS = 7 };
    return (int)(i.low >> 12 & 15) - ALWAYS;
}

enum { ALL_REGISTERS = 1 }; /* a form */

/* The registers that operands a, b and c are read from; RZ where it is none. */
static void sources(int out[3], struct instruction i) {
    const int third = (int)(i.high & 0xff);
    out[0] = (int)(i.low >> 24 & 0xff);
    out[1] = out[2] = RZ;
    switch (form_of(i)) {
    case ALL_REGISTERS:
        out[1] = (int)(i.low >> 32 & 0xff);
        out[2] = third;
        break;
    case 4: /* b is an immediate, of a constant bank, a uniform register */
    case 5:
    case 6:
        out[2] = third;
        break;
    default: /* c is */
        out[1] = third;
    }
}

/* IMAD also moves and adds: times zero or times one. */
static bool multiplies(struct instruction i, const struct kind *kind) {
    int source[3];
    if (opcode_of(i) != kind->opcode)
        return false;
    sources(source, i);
    return kind->opcode != IMAD || (source[0] != RZ && source[1] != RZ);
}

/* Instructions from the next one to where a branch goes. */
static int64_t distance(struct instruction i, const struct arch *arch) {
    const int bits = arch->branch_bits;
    uint64_t far = i.low >> 34 | (i.high & 0x3ffff) << 30; /* 48 bits */
    far = far << bits | (i.low >> 16 & ((1U << bits) - 1));
    const int unused = 64 - 48 - bits;
    const int words = INSTRUCTION_BYTES / 4;
    return (int64_t)(far << unused) / (INT64_C(1) << unused) / words;
}

/* ---- what a loop costs ---- */

/* What each operand position last read with .reuse set, of even and of odd registers. */
struct reuse {
    int reg[3][2];
};

/* Reads of one bank take turns; what the reuse cache holds is not read. */
static int turns(struct reuse *cache, struct instruction in) {
    int source[3], reads[BANKS] = {0}, most = 1;
    sources(source, in);
    for (int o = 0; o < 3; o++) {
        const int reg = source[o];
        if (reg == RZ)
            continue;
        int *held = &cache->reg[o][reg % 2];
        int *bank = &reads[reg % BANKS];
        *bank += *held != reg;
        most = *bank > most ? *bank : most;
        *held = in.high >> (58 + o) & 1 ? reg : RZ;
    }
    return most;
}

/* A further turn costs a slot where two warps share a partition; four were seen to hide two
 * thirds of it, and this is a bound. */
static double slots_of(int taken) {
    return 1 + 0.25 * (taken - 1);
}

/* A shared load of 16 bytes and an asynchronous copy keep the issue waiting for others;
 * narrower loads were not in the fit and count as anything else. */
static double other_slots(struct instruction in) {
    const bool wide = (in.high >> 9 & 7) == 6;
    return (opcode_of(in) == LDS && wide) || opcode_of(in) == LDGSTS ? 2.5 : 1;
}

/* What multiplies, waits and costs of one instruction goes into the judgement. */
static double take(struct gt_judgement *out, struct reuse *cache, struct instruction in,
                   const struct kind *kind) {
    enum { NEVER = 8 }; /* such loads are there for the pipeline's sake */
    const bool never = predicate_of(in) == NEVER;
    out->instructions++;
    if (multiplies(in, kind)) {
        const int taken = kind->opcode == FFMA ? turns(cache, in) : 1;
        out->multiply_adds++;
        out->conflicts += taken > 1;
        return slots_of(taken);
    }
    out->shared_loads += opcode_of(in) == LDS && !never;
    return never ? 1 : other_slots(in);
}

/* Where a turn goes on after `i`, when the next multiply-add is at `next`. Copying ahead is
 * often done every few turns only, so code without multiply-adds that can be skipped is
 * taken to be. */
static size_t after(const struct loop *loop, size_t i, size_t next) {
    const struct instruction in = at(loop->text, i);
    const int64_t far = opcode_of(in) == BRA ? distance(in, loop->text->arch) : 0;
    const int64_t most = (int64_t)(next - i) - 1;
    return i + 1 + (far > 0 && far <= most ? (size_t)far : 0);
}

/* How much of a loop's slots multiply-adds fill. */
static double judge(struct gt_judgement *out, const struct loop *loop) {
    struct reuse cache;
    double slots = 0;
    memset(out, 0, sizeof *out);
    for (int o = 0; o < 3; o++)
        cache.reg[o][0] = cache.reg[o][1] = RZ;
    size_t next = loop->first;
    for (size_t i = loop->first; i <= loop->last; i = after(loop, i, next)) {
        while (next <= loop->last &&
               (next <= i || !multiplies(at(loop->text, next), loop->kind)))
            next++;
        slots += take(out, &cache, at(loop->text, i), loop->kind);
    }
    memcpy(out->kind, loop->kind->name, sizeof out->kind);
    const double filled = out->multiply_adds / slots;
    if (loop->kind->opcode == FFMA && loop->text->arch->ffma_every_slot)
        out->share = filled;
    return filled;
}

/* ---- the inner loop ---- */

/* How many of them there are before an instruction. */
struct tally {
    uint32_t multiply_adds, exits;
};

/* The loop that multiply-adds fill most: the time may be spent in any, but none is faster.
 * A loop around it has what comes before and after as well, which says nothing about the
 * time. */
struct densest {
    struct gt_judgement judged;
    const struct kind *kind; /* NULL: none found */
    double filled;
    int loops;
};

static void count(struct tally *tally, const struct text *t, const struct kind *kind) {
    tally[0] = (struct tally){0};
    for (size_t i = 0; i < t->count; i++) {
        const struct instruction in = at(t, i);
        const bool exits = opcode_of(in) == EXIT && predicate_of(in) == 0;
        tally[i + 1].multiply_adds = tally[i].multiply_adds + multiplies(in, kind);
        tally[i + 1].exits = tally[i].exits + exits;
    }
}

/* Whether a loop with multiply-adds ends at `last`. A branch backwards ends one, unless the
 * kernel's end lies between: that is code moved out of the way which jumps back in. */
static bool ends(struct loop *loop, const struct tally *tally, size_t last) {
    const struct instruction in = at(loop->text, last);
    if (opcode_of(in) != BRA)
        return false;
    const int64_t to = (int64_t)last + 1 + distance(in, loop->text->arch);
    if (to < 0 || to > (int64_t)last)
        return false;
    loop->first = (size_t)to;
    loop->last = last;
    return tally[last + 1].multiply_adds > tally[to].multiply_adds &&
           tally[last + 1].exits == tally[to].exits;
}

static void consider(struct densest *best, const struct loop *loop) {
    struct gt_judgement judged;
    if (++best->loops > LOOPS_MAX)
        return;
    const double filled = judge(&judged, loop);
    if (best->kind == loop->kind && filled <= best->filled)
        return;
    best->judged = judged;
    best->kind = loop->kind;
    best->filled = filled;
}

/* Of the first in rank; others are not looked for once there is one. */
static void find_loop(struct densest *best, const struct text *t) {
    const size_t all = sizeof kinds / sizeof *kinds;
    struct tally *tally = malloc((t->count + 1) * sizeof *tally);
    for (size_t k = 0; tally && k < all && (!best->kind || &kinds[k] <= best->kind); k++) {
        struct loop loop = {.text = t, .kind = &kinds[k]};
        count(tally, t, loop.kind);
        for (size_t i = 0; i < t->count; i++)
            if (ends(&loop, tally, i))
                consider(best, &loop);
    }
    free(tally);
}

/* ---- the container ---- */

static bool within(size_t size, uint64_t offset, uint64_t length) {
    return offset <= size && length <= size - offset;
}

/* Where the header keeps the architecture changed with the ABI. */
static const struct arch *arch_of(const Elf64_Ehdr *head) {
    enum { SINCE_CUDA_13 = 8, BEFORE = 7 };
    const int abi = head->e_ident[EI_ABIVERSION];
    const unsigned cc = abi == SINCE_CUDA_13 ? head->e_flags >> 8 & 0xff
                        : abi == BEFORE      ? head->e_flags & 0xff
                                             : 0;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if ((unsigned)archs[i].cc == cc)
            return &archs[i];
    return NULL;
}

static bool read_head(Elf64_Ehdr *head, const unsigned char *image, size_t size) {
    enum { CUDA = 190 }; /* EM_CUDA, which old headers lack */
    if (size < sizeof *head)
        return false;
    memcpy(head, image, sizeof *head);
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
           head->e_machine == CUDA && head->e_shentsize == sizeof(Elf64_Shdr) &&
           head->e_shstrndx < head->e_shnum &&
           within(size, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Shdr section(const unsigned char *image, const Elf64_Ehdr *head, int i) {
    Elf64_Shdr out;
    memcpy(&out, image + head->e_shoff + (size_t)i * sizeof out, sizeof out);
    return out;
}

/* Code of a kernel: a section of the name ".text.<entry>". */
static bool is_code(const unsigned char *image, size_t size, const Elf64_Shdr *s,
                    const Elf64_Shdr *names) {
    static const char prefix[] = ".text.";
    enum { LENGTH = sizeof prefix - 1 };
    return s->sh_type == SHT_PROGBITS && within(size, s->sh_offset, s->sh_size) &&
           s->sh_size <= TEXT_MAX && within(size, names->sh_offset, names->sh_size) &&
           within(names->sh_size, s->sh_name, LENGTH) &&
           memcmp(image + names->sh_offset + s->sh_name, prefix, LENGTH) == 0;
}

bool gt_judge_image(struct gt_judgement *out, const void *image, size_t size) {
    struct densest best = {.kind = NULL};
    Elf64_Ehdr head;
    memset(out, 0, sizeof *out);
    if (!image || !read_head(&head, image, size) || !arch_of(&head))
        return false;
    const Elf64_Shdr names = section(image, &head, head.e_shstrndx);
    for (int i = 0; i < head.e_shnum; i++) {
        const Elf64_Shdr s = section(image, &head, i);
        if (!is_code(image, size, &s, &names))
            continue;
        const struct text text = {.arch = arch_of(&head),
                                  .bytes = (const unsigned char *)image + s.sh_offset,
                                  .count = s.sh_size / INSTRUCTION_BYTES};
        find_loop(&best, &text);
    }
    if (!best.kind || best.loops > LOOPS_MAX)
        return false;
    *out = best.judged;
    return true;
}

/* Each of a multiprocessor's four partitions issues one instruction a clock; whose loop
 * fills a share of that with FFMAs computes at that share of the peak, and no faster. */
double gt_judge_least_ns(const struct gt_judgement *j, const gemmtune_problem *p,
                         const struct gt_device *d) {
    const double peak = gt_device_plain_peak(d, gt_dtype_of(p));
    const bool bound = p->type_a == GEMMTUNE_F32 && j->share > 0 && peak > 0;
    return bound ? gt_problem_flops(p) / (j->share * peak) * 1e9 : 0;
}
