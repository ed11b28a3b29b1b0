/* SPDX-License-Identifier: Apache-2.0 */
/* cubin.c - see cubin.h. */
#include "tools/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

struct section {
    const char *name;
    uint32_t type;
    uint32_t info; /* of code: its registers, and its place among the symbols */
    uint64_t flags, size, align;
    const unsigned char *bytes; /* NULL: it takes no place in the file, as shared memory */
};

/* Whether `size` bytes from `at` on are in the image. */
static bool is_inside(const struct gt_image *image, uint64_t at, uint64_t size) {
    return at <= image->size && size <= image->size - at;
}

static bool read_head(Elf64_Ehdr *head, const struct gt_image *image) {
    if (!is_inside(image, 0, sizeof *head))
        return false;
    memcpy(head, image->bytes, sizeof *head);
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_shentsize == sizeof(Elf64_Shdr) && head->e_shstrndx < head->e_shnum &&
           is_inside(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
}

static Elf64_Shdr read_entry(const struct gt_image *image, const Elf64_Ehdr *head, int i) {
    Elf64_Shdr entry;
    const unsigned char *all = image->bytes;
    memcpy(&entry, all + head->e_shoff + (uint64_t)i * sizeof entry, sizeof entry);
    return entry;
}

/* The name at `at` in the table of names; NULL: it does not end inside. */
static const char *name_at(const struct gt_image *image, const Elf64_Ehdr *head,
                           uint32_t at) {
    const Elf64_Shdr names = read_entry(image, head, head->e_shstrndx);
    if (!is_inside(image, names.sh_offset, names.sh_size) || at >= names.sh_size)
        return NULL;
    const char *name = (const char *)image->bytes + names.sh_offset + at;
    return memchr(name, '\0', names.sh_size - at) != NULL ? name : NULL;
}

static bool read_section(struct section *out, const struct gt_image *image,
                         const Elf64_Ehdr *head, int i) {
    const Elf64_Shdr entry = read_entry(image, head, i);
    const bool empty = entry.sh_type == SHT_NOBITS || entry.sh_type == SHT_NULL;
    *out = (struct section){name_at(image, head, entry.sh_name),
                            entry.sh_type,
                            entry.sh_info,
                            entry.sh_flags,
                            entry.sh_size,
                            entry.sh_addralign,
                            NULL};
    if (out->name == NULL || (!empty && !is_inside(image, entry.sh_offset, entry.sh_size)))
        return false;
    if (!empty)
        out->bytes = (const unsigned char *)image->bytes + entry.sh_offset;
    return true;
}

static bool counts(const struct section *s) {
    static const char *const left_out[] = {".debug",  ".rela.debug", ".nv_debug", ".note",
                                           ".symtab", ".strtab",     ".shstrtab"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (strncmp(s->name, left_out[i], strlen(left_out[i])) == 0)
            return false;
    return s->type != SHT_NULL;
}

static bool is_same(const struct section *a, const struct section *b) {
    return a->type == b->type && a->info == b->info && a->flags == b->flags &&
           a->size == b->size && a->align == b->align &&
           (a->bytes == NULL) == (b->bytes == NULL) &&
           (a->bytes == NULL || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* Whether each section of `a` that counts has its like in `b`. */
static bool has_all(const struct gt_image *b, const struct gt_image *a,
                    char why[GT_CUBIN_WHY_MAX]) {
    Elf64_Ehdr head_a, head_b;
    struct section s, t;
    if (!read_head(&head_a, a) || !read_head(&head_b, b)) {
        (void)snprintf(why, GT_CUBIN_WHY_MAX, "a cubin cannot be read");
        return false;
    }
    for (int i = 0; i < head_a.e_shnum; i++) {
        bool found = false;
        const bool sound = read_section(&s, a, &head_a, i);
        if (sound && !counts(&s))
            continue;
        for (int j = 0; sound && j < head_b.e_shnum && !found; j++)
            found = read_section(&t, b, &head_b, j) && strcmp(s.name, t.name) == 0 &&
                    is_same(&s, &t);
        if (found)
            continue;
        (void)snprintf(why, GT_CUBIN_WHY_MAX, "section %.100s differs",
                       sound ? s.name : "?");
        return false;
    }
    return true;
}

bool gt_cubin_same(const struct gt_image *a, const struct gt_image *b,
                   char why[GT_CUBIN_WHY_MAX]) {
    if (a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0)
        return true;
    return has_all(b, a, why) && has_all(a, b, why);
}
