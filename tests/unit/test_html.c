/* SPDX-License-Identifier: Apache-2.0 */
/* test_html.c - texts, bytes and tables in a page of HTML. */
#include "tuner/base/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Text that a function writes. */
struct page {
    FILE *out;
    char *text;
    size_t size;
};

static void open_page(struct page *p) {
    p->out = open_memstream(&p->text, &p->size);
    assert_non_null(p->out);
}

static void assert_page(struct page *p, const char *want) {
    assert_int_equal(fclose(p->out), 0);
    assert_string_equal(p->text, want);
    free(p->text);
}

static void test_text(void **state) {
    struct page p;
    open_page(&p);
    gt_html_text(p.out, "a < b & \"c\" > 'd' </script>");
    assert_page(&p, "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39; &lt;/script&gt;");
}

static void test_json(void **state) {
    struct page p;
    open_page(&p);
    gt_html_json(p.out, "</script><!-- \"\\\n\x7f\xc3\xa9");
    assert_page(&p,
                "\"\\u003c/script\\u003e\\u003c!-- \\u0022\\u005c\\u000a\\u007f\xc3\xa9\"");
}

static void test_base64(void **state) {
    /* RFC 4648, section 10 */
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct page p;
        open_page(&p);
        gt_html_base64(p.out, (const unsigned char *)vectors[i][0], strlen(vectors[i][0]));
        assert_page(&p, vectors[i][1]);
    }
}

struct row {
    const char *name;
    double ns;
};

#define ROWS(X)                                                                            \
    X("name", "name", TEXT, 0, r->name, "what it is \"called\"")                           \
    X("ns", "time", NS, 0, r->ns, "its time")                                              \
    X("empty", "empty", NS, 1, (r->ns > 1e9 ? r->ns : 0), "left out where all are empty")  \
    X("hidden", NULL, TEXT, 0, r->name, "for programs")
GT_COLUMNS(row, struct row, ROWS)
static const struct gt_form form = GT_FORM(row, "");

static void test_table(void **state) {
    struct gt_table *t;
    struct gt_err err = {""};
    struct page p;
    assert_int_equal(gt_table_create(&t, &form, &err), GEMMTUNE_OK);
    open_page(&p);
    gt_html_table(p.out, t, "t");
    assert_page(&p, "");
    assert_int_equal(add_row(t, &(struct row){"<b>", 1500}, &err), GEMMTUNE_OK);
    assert_int_equal(add_row(t, &(struct row){"x", 0}, &err), GEMMTUNE_OK);
    open_page(&p);
    gt_html_table(p.out, t, "t");
    assert_page(&p, "<div class=\"wide\"><table id=\"t\"><thead><tr>"
                    "<th scope=\"col\" title=\"what it is &quot;called&quot;\">name</th>"
                    "<th scope=\"col\" class=\"n\" title=\"its time\">time</th>"
                    "</tr></thead><tbody>\n<tr><td>&lt;b&gt;<td data-v=\"1500\">1.5 us\n"
                    "<tr><td>x<td>\n</tbody></table></div>\n");
    gt_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
