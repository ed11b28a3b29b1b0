/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a user's family: pipes, links and folders are refused at once, and so is a
 * source that would include another file, however its directive is spelled.
 */
#include "runtime/family/template_file.h"

#include "core/embed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[512];

static void path_of(char path[600], const char *name) {
    (void)snprintf(path, 600, "%s/%s", folder, name);
}

static int folder_create(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/gt-template-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int folder_remove(void **state) {
    static const char *const names[] = {"pipe", "link", "text", "folder", "none/x", ""};
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(path, names[i]);
        (void)remove(path);
    }
    return 0;
}

static void expect(const char *name, gt_status status, const char *said) {
    char path[600], *text;
    struct gt_err err = {""};
    path_of(path, name);
    assert_int_equal(gt_template_read(&text, path, &err), status);
    assert_null(text);
    if (strstr(err.line, said) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.line, said);
}

static void test_files(void **state) {
    char path[600], target[600], *text;
    (void)state;
    path_of(target, "text");
    FILE *file = fopen(target, "w");
    assert_non_null(file);
    assert_true(fputs("the text\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(gt_template_read(&text, target, NULL), GEMMTUNE_OK);
    assert_string_equal(text, "the text\n");
    free(text);

    path_of(path, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect("pipe", GEMMTUNE_EIO, "not a regular file");
    path_of(path, "link");
    assert_int_equal(symlink(target, path), 0);
    expect("link", GEMMTUNE_EIO, "a link");
    path_of(path, "folder");
    assert_int_equal(mkdir(path, 0700), 0);
    expect("folder", GEMMTUNE_EIO, "not a regular file");
    expect("nothing", GEMMTUNE_ENOTFOUND, "nothing");
    expect("text/x", GEMMTUNE_ENOTFOUND, "text/x");
}

static void test_directives(void **state) {
    static const char *const refused[] = {
        "#include \"/etc/passwd\"\n",
        "int x;\n  #  include <x>\n",
        "#in\\\nclude <x>\n",
        "#in\\  \r\nclude <x>\n",
        "#\\\n\\\ninclude <x>\n",
        "%:include <x>\n",
        "%\\\n: include <x>\n",
        "?"
        "?=include <x>\n",
        "#in?"
        "?/\nclude <x>\n",
        "/**/ # /* a\nb */ include <x>\n",
        "const char *s = R\"x(\" /* )x\";\n#include <x>\n/* */",
        "#include_next <x>\n",
        "#import <x>\n",
        "#embed \"x\"\n",
        "#if __has_include(<x>)\n#endif\n",
        "#if defined(A) && __has_embed(\"x\")\n#endif\n",
        "#if __has_inc\\\nlude(<x>)\n#endif\n",
        "#include",
    };
    static const char *const taken[] = {
        "",
        "#",
        "#define include 1\n",
        "int include, embed;\n",
        "#pragma unroll\n",
        "#if 1\n#else\n#endif\n",
        "#included\n",
        "int my__has_include;\n",
        "# /*",
        "\\",
        "// it includes nothing\n",
        "a %:: b",
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct gt_err err = {""};
        if (gt_template_check(refused[i], "k.cl", &err) != GEMMTUNE_EPARSE)
            fail_msg("taken: %s", refused[i]);
        assert_non_null(strstr(err.line, "k.cl: \""));
        assert_non_null(strstr(err.line, "includes nothing"));
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (gt_template_check(taken[i], "k.cl", NULL) != GEMMTUNE_OK)
            fail_msg("refused: %s", taken[i]);
}

static void test_our_own(void **state) {
    (void)state;
    for (const struct gt_embedded *e = gt_embedded_templates; e->path != NULL; e++)
        assert_int_equal(gt_template_check(e->text, e->path, NULL), GEMMTUNE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, folder_create, folder_remove),
        cmocka_unit_test(test_directives),
        cmocka_unit_test(test_our_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
