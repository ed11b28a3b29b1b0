/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - for tests: a document out of a text that must be right. */
#ifndef GT_TESTS_JSON_TEXT_H
#define GT_TESTS_JSON_TEXT_H

#include "core/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline struct gt_json *parsed(const char *text) {
    struct gt_json *doc = NULL;
    struct gt_err err = {""};
    const gt_status status = gt_json_parse(&doc, "t.json", text, strlen(text), &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_non_null(doc);
    return doc;
}

static inline struct gt_node member(const struct gt_json *doc, const char *key) {
    return gt_json_member(gt_json_root(doc), key);
}

#endif
