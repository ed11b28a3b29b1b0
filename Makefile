# SPDX-License-Identifier: Apache-2.0
# GNU make. `make demo` and `make check` install what they need first (tools/setup).
#
#   make [all]      build/gemmtune, build/libgemmtune.a, build/libgemmtune.so, and the libraries of
#                   gemmtune exec
#   make demo       tune the first device there is, then run a tuned kernel
#   make check      what a change should pass; check-unit check-device check-tune check-cli check-python:
#                   every test of one kind
#   make check-long what `make check` leaves out: tests that take long, and the rest of the
#                   tests that it does a part of (GT_LONG=1)
#   make check-ptx  CUDA's kernels on a GPU in software, with the NVRTC of tools/fetch-nvrtc
#   make restamp OLD=HEAD~1: which families have the same kernels as in OLD, though their hashes
#                   differ; WRITE=1 gives their records the new hashes (tools/restamp)
#   make lint       rooms, cppcheck, shellcheck, mandoc; format, format-check: clang-format
#   make figures    picture and tables of README.md and docs/, out of docs/figures/*.json (tools/figures)
#   make help       this text
#   make wheel      the Python package, in build/wheels
#   make deb        the Debian packages, in build/debs; make check-packages tests them, CMake's files and the
#                   recipes of tools/packages
#   make install    PREFIX=/usr/local DESTDIR= BINDIR= LIBDIR= INCLUDEDIR= MANDIR= DATADIR= DOCDIR=
#                   BASHDIR= ZSHDIR= FISHDIR=; uninstall removes what install has put there
#
#   V=1             show commands
#   WERROR=1        warnings are errors
#   SAN=LIST        address,undefined or thread: sanitizers, in build-LIST/
#   T='a b'         only the tests of these names, in any check target:
#                   make check-unit T=test_table, make check-cli T='help tables'
#   GT_SHARE=I/N    part I of the longest lists of tests: a sixteenth of the tests of check-long and
#                   every (N/16)th of their items, every Nth item elsewhere, in scripts at most
#                   every 16th; N is a multiple of 16
#   GT_TEST_JOBS=N  so many tests at once (as many as there are cores)

VERSION   := $(shell awk '/define GEMMTUNE_VERSION_(MAJOR|MINOR|PATCH)/ \
                        { printf "%s%s", dot, $$3; dot = "." }' include/gemmtune.h)
# While the major version is 0, each minor version is an ABI of its own.
SOVERSION := $(patsubst 0,0.$(word 2,$(subst ., ,$(VERSION))),$(firstword $(subst ., ,$(VERSION))))

# The revision of the sources, for --version; "" where git does not know it. A package that is built from an
# archive may give it.
REVISION  ?= $(shell [ ! -e .git ] || git describe --always --exclude='*' --abbrev=12 --dirty 2>/dev/null)

PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
DATADIR    ?= $(PREFIX)/share/gemmtune
DOCDIR     ?= $(PREFIX)/share/doc/gemmtune
BASHDIR    ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
FISHDIR    ?= $(PREFIX)/share/fish/vendor_completions.d
INSTALL    ?= install
PKG_CONFIG ?= pkg-config

comma := ,
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
B     := $(BUILD)

# ---- what there is --------------------------------------------------------------------------

# The part of db/ that libgemmtune needs: reading. The rest of db/ is the program's.
LIB_DB := $(addprefix db/,sql.c table.c column.c row.c sum.c migrate.c rekey.c state.c open.c read.c)

LIB_SRC  := $(wildcard core/*.c core/*/*.c) $(LIB_DB) $(wildcard runtime/*/*.c)
PROG_SRC := $(filter-out $(LIB_DB),$(wildcard db/*.c)) $(wildcard tuner/*/*.c)
# Two libraries of their own, which link nothing but libc: the one that is preloaded, and its auditor.
SHIM_SRC := $(filter-out shim/audit.c,$(wildcard shim/*.c))
SHIM_OBJ := $(SHIM_SRC:%.c=$(B)/%.o)
SHIMS    := $(B)/libgemmtune-blas.so $(B)/libgemmtune-audit.so
# Under the names that bash, zsh and fish expect.
COMPLETIONS := $(addprefix $(B)/completions/,gemmtune _gemmtune gemmtune.fish)
FAKE_SO  := $(patsubst %.c,$(B)/%.so,$(wildcard tests/fake/lib*.c)) $(addprefix $(B)/tests/fake/,libcuda.so libopencl_ptx.so)
PTX_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/ptx/*.c))

LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/gen/templates.o $(B)/gen/schema.o \
            $(B)/gen/families.o
PROG_OBJ := $(PROG_SRC:%.c=$(B)/%.o) $(B)/gen/published.o $(B)/gen/devices.o \
            $(B)/gen/seeds.o $(B)/gen/page.o $(B)/gen/kernels.o $(B)/gen/emitted.o
TEST_OBJ := $(LIB_OBJ) $(filter-out $(B)/tuner/cmd/main.o,$(PROG_OBJ)) \
            $(B)/tools/print_family.o $(B)/tools/print_expr.o

# Texts that are compiled in (make's sort is by bytes).
TEMPLATES := $(sort $(filter-out %.md,$(wildcard templates/*/*.*)) $(wildcard runtime/kernels/*.*))
PUBLISHED := $(sort $(wildcard db/published/*.json))
DEVICES   := $(sort $(wildcard devices/*/device.json))
PAGE      := $(sort $(wildcard tuner/cmd/page/*))
SEEDS     := $(sort $(wildcard tuner/tune/seeds/*.json))
KERNELS   := $(sort $(wildcard tuner/*/kernels/*.*))
EMITTED   := $(sort $(wildcard tuner/emit/out/*)) LICENSE
SCHEMA    := $(sort $(wildcard db/schema/*.sql))

# tests/cli/lib.sh and the like are read by the tests, not run.
pick   = $(if $(T),$(foreach t,$1,$(if $(filter $(T),$(basename $(notdir $t))),$t)),$1)
bins   = $(call pick,$(patsubst %.c,$(B)/%,$(wildcard tests/$1/test_*.c)))
# Our driver declarations against the vendors' headers, where those are.
CUDA_HOME ?= /usr/local/cuda
HEADERS := $(and $(wildcard $(CUDA_HOME)/include/nvrtc.h),$(B)/tests/device/cuda_header_check) \
           $(and $(wildcard $(CUDA_HOME)/include/cublasLt.h),$(B)/tests/device/cublas_header_check $(B)/tests/device/cublas_shim_header_check) \
           $(and $(wildcard /usr/include/CL/cl.h),$(B)/tests/device/opencl_header_check)
UNIT   := $(call bins,unit) $(call pick,tests/fuzz/replay.sh)
DEVICE := $(call bins,device) $(call pick,$(HEADERS))
TUNE   := $(call bins,tune) $(call pick,$(filter-out %/lib.sh,$(wildcard tests/tune/*.sh)))
CLI    := $(call pick,$(filter-out %/lib.sh,$(wildcard tests/cli/*.sh)))
PYTHON := $(call pick,$(wildcard tests/python/*.sh))
# Apart from the others: one of them installs packages, where the system will be thrown away.
PACKAGES := $(call pick,$(wildcard tests/packages/*.sh))
# A line "check: WORD..." at the head of a test, in a comment of its own, says which lists have it:
#   long     `make check` leaves the test to `make check-long`
#   part     `make check` does a part of the test, and `make check-long` the rest
#   slow     the test takes long and tries no C: check-quick leaves it out
#   threads  the test starts threads: `make SAN=thread check-threads` runs it
#   nvrtc    the test needs a real NVRTC: check-nvrtc runs it
#   platform the test runs on a second OpenCL platform too: check-platform
MARKS := long part slow threads nvrtc platform
MARKED := $(shell awk '$$2 == "check:" && ($$1 == "/*" || length($$1) == 1) { \
    for (i = 3; i <= NF; i++) if ($$i != "*/") print $$i "=" FILENAME }' $(wildcard tests/*/test_*.c tests/*/*.sh))
ifneq ($(filter-out $(MARKS:%=%=%),$(MARKED)),)
$(error no list of tests has this name: $(filter-out $(MARKS:%=%=%),$(MARKED)))
endif
$(foreach m,$(MARKS),$(if $(filter $m=%,$(MARKED)),,$(error no test has a line "check: $m")))
# The tests that have one of these words.
marked = $(filter $(patsubst tests/%.c,$(B)/tests/%,$(foreach m,$1,$(patsubst $m=%,%,$(filter $m=%,$(MARKED))))), \
    $(DEVICE) $(TUNE) $(CLI) $(PYTHON) $(UNIT))
# GT_SHARE=I/N: every sixteenth one, so that sixteen of I in a row run them all.
ifdef GT_SHARE
ifneq ($(shell echo $$(($(lastword $(subst /, ,$(GT_SHARE))) % 16))),0)
$(error GT_SHARE=I/N: N is a multiple of 16)
endif
endif
sixteenth = $(if $(GT_SHARE),$(shell i=$(GT_SHARE); printf '%s\n' $1 | \
              sed -n $$(($${i%%/*} % 16 + 1))~16p),$1)
# These tests take their items by I / 16. By I, a test would take the same ones whenever it is run.
LONG_SHARE := $(if $(GT_SHARE),$(shell i=$(GT_SHARE); echo $$(($${i%%/*} / 16))/$$(($${i##*/} / 16))))
LONG  := $(call sixteenth,$(call marked,part long))
# The long ones first, so that no core is idle at the end.
TESTS := $(filter-out $(call marked,long),$(DEVICE) $(TUNE) $(PYTHON) $(CLI) $(UNIT))

# The tests that start threads are linked with the library and these rooms alone, so that little is compiled for
# `make SAN=thread check-threads`.
THREAD_OBJ := $(filter $(addprefix $(B)/,db/% gen/% tuner/base/% tuner/search/% tuner/study/% tuner/tune/% tuner/work/%), \
                  $(PROG_OBJ))
THREADED := $(call marked,threads)

EXAMPLES := $(patsubst %.c,$(B)/%,$(filter-out %_cuda.c,$(wildcard examples/*.c)))

# ---- how it is compiled ---------------------------------------------------------------------

CFLAGS ?= -O2 -g

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
        -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings -Wcast-qual \
        $(if $(WERROR),-Werror)

# _FORTIFY_SOURCE warns when nothing is optimised, and gets in a sanitizer's way.
optimised := $(filter-out -O0,$(filter -O%,$(CFLAGS)))
# For files with long loops. A build with -O1 is meant to compile fast.
fast      := $(if $(filter -O2 -O3,$(CFLAGS)),-O3)
HARDEN    := -fstack-protector-strong \
             $(if $(SAN),,$(if $(optimised),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
SANFLAGS  := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

pkg        = $(shell $(PKG_CONFIG) --$1 2>/dev/null)
DEP_CFLAGS := $(patsubst -I%,-isystem %,$(call pkg,cflags sqlite3 libcjson))
DEP_LIBS   := $(or $(call pkg,libs sqlite3 libcjson),-lsqlite3 -lcjson)
CMOCKA     := $(or $(call pkg,libs cmocka),-lcmocka)

ALL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -I. $(DEP_CFLAGS) $(CPPFLAGS) $(WARN) \
             -fPIC -fvisibility=hidden -pthread $(HARDEN) $(SANFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread -Wl,-z,relro -Wl,-z,now $(SANFLAGS) $(CFLAGS) $(LDFLAGS)
SO_LDFLAGS  = -shared -Wl,-soname,libgemmtune.so.$(SOVERSION) \
              -Wl,--version-script=tools/exports.map $(if $(SAN),,-Wl$(comma)-z$(comma)defs)
LIBS = $(DEP_LIBS) -ldl -lm
# The program's alone: replay reads caches that are compressed.
PROG_LIBS := $(or $(call pkg,libs zlib),-lz)

say = $(if $(V),@:,@printf '  %-6s %s\n' $1 $2)
Q   = $(if $(V),,@)

define compile
$(call say,CC,$<)
$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(FILE_CFLAGS) -MMD -MP -c -o $@ $<
endef
define link
$(call say,LD,$@)
$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $1 $(LIBS)
endef

.PHONY: all help demo check check-all check-long check-long-all check-quick check-unit \
        check-device check-tune check-cli check-python check-packages check-threads check-nvrtc check-ptx test-programs \
        examples fuzz fuzz-epilogue abi restamp figures lint format format-check install uninstall clean setup dist man deb deb-parts wheel \
        wheel-parts FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/gemmtune $(B)/libgemmtune.a $(B)/libgemmtune.so $(SHIMS) $(B)/libgemmtune_jax.so $(COMPLETIONS)

# The head of this file.
help:
	@sed -n -e '/^# SPDX/d' -e '/^#/!q' -e 's/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

$(B)/gemmtune: $(PROG_OBJ) $(B)/libgemmtune.a
	$(call link,$(PROG_LIBS))

$(B)/libgemmtune.a: $(LIB_OBJ)
$(B)/libgt-test.a: $(TEST_OBJ)
$(B)/libgt-threads.a: $(LIB_OBJ) $(THREAD_OBJ)
$(B)/libgemmtune.a $(B)/libgt-test.a $(B)/libgt-threads.a: $(B)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/libgemmtune.so.$(VERSION): $(LIB_OBJ) $(B)/sources tools/exports.map
	$(call link,$(SO_LDFLAGS))

$(B)/libgemmtune.so: $(B)/libgemmtune.so.$(VERSION)
	$(Q)ln -sf $(<F) $(B)/libgemmtune.so.$(SOVERSION) && ln -sf $(<F) $@

# The auditor reads the preloaded library's table of symbols by its old hash, which has their number.
$(B)/libgemmtune-blas.so: $(SHIM_OBJ)
$(B)/libgemmtune-audit.so: $(B)/shim/audit.o
$(SHIMS): $(B)/sources
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--hash-style=both -Wl,-z,nodelete \
	    $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(filter %.o,$^) -ldl
# ld.so's own structures. A thread's flag is found without a call, and so is a square root. gcc clears a struct of some hundred bytes by an
# instruction that takes as long as half of a call, unless it is told not to.
CLEARS := -mmemset-strategy=unrolled_loop:512:noalign$(comma)libcall:-1:noalign
CLEARS := $(shell $(CC) -Werror $(CLEARS) -x c -fsyntax-only /dev/null 2>/dev/null && echo $(CLEARS))
$(B)/shim/%.o: FILE_CFLAGS = -D_GNU_SOURCE -ftls-model=initial-exec -fno-math-errno $(CLEARS)

# Calls of JAX's compiled programs, for the Python package alone.
$(B)/libgemmtune_jax.so: $(B)/python/native/jax_call.o $(B)/libgemmtune.so
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -o $@ $< -L$(B) -lgemmtune

# Completions of shells, out of the program's tables of options.
define completion
$(B)/completions/$1: tools/packages/completions/gemmtune.$2.in $(B)/gemmtune
	$$(call generate,$(B)/gemmtune complete $2 <$$<)
endef
$(eval $(call completion,gemmtune,bash))
$(eval $(call completion,_gemmtune,zsh))
$(eval $(call completion,gemmtune.fish,fish))

$(B)/%.o: %.c $(B)/flags
	$(call compile)

# The host reference is three nested loops over data that may be large. The ranges of epilogues are made for every
# element of such data. gcc makes vectors of choices only where no operation may trap.
$(B)/tuner/lab/reference.o $(B)/core/epilogue/epilogue_range.o: FILE_CFLAGS = $(fast)
$(B)/core/epilogue/epilogue_range.o: FILE_CFLAGS += -fno-trapping-math
$(B)/tests/%.o: FILE_CFLAGS = -Wno-unused-parameter
# Unit tests have many lines that run once: to optimise them takes longer than to run them. Under sanitizers they
# are not optimised at all; else gcc needs a little of it for its warnings, and _FORTIFY_SOURCE for what it does.
$(B)/tests/unit/%.o: FILE_CFLAGS = -Wno-unused-parameter $(if $(optimised),$(if $(SAN),-O0,-O1))
# These compute much themselves.
$(patsubst %,$(B)/tests/unit/test_%.o,split proof residues): FILE_CFLAGS = -Wno-unused-parameter

# Bytes of texts, as integers from 0 to 255; nobody debugs these files.
$(B)/gen/%.o: private FILE_CFLAGS = -funsigned-char -g0
# Nobody writes to the texts of a built-in family.
$(B)/gen/families.o: private FILE_CFLAGS = -funsigned-char -g0 -Wno-cast-qual
$(B)/gen/%.o: $(B)/gen/%.c $(B)/flags
	$(call compile)

define generate
$(call say,GEN,$@)
$(Q)mkdir -p $(@D) && $1 >$@
endef
$(B)/gen/templates.c: $(TEMPLATES) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_templates $(TEMPLATES))
$(B)/gen/published.c: $(PUBLISHED) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_published $(PUBLISHED))
$(B)/gen/devices.c: $(DEVICES) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_devices $(DEVICES))
$(B)/gen/seeds.c: $(SEEDS) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_seeds $(SEEDS))
$(B)/gen/page.c: $(PAGE) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_page $(PAGE))
$(B)/gen/kernels.c: $(KERNELS) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_kernels $(KERNELS))
$(B)/gen/emitted.c: $(EMITTED) tools/embed $(B)/sources
	$(call generate,tools/embed gt_embedded_emitted $(EMITTED))
$(B)/gen/schema.c: $(SCHEMA) tools/embed-schema $(B)/sources
	$(call generate,tools/embed-schema $(SCHEMA))
# The library without its families parses them. The build runs it, so a cross build is given the
# program of another build (FAMILIES), as tools/wheel-aarch64 does.
$(B)/tools/families: $(B)/tools/families.o $(B)/tools/print_family.o $(B)/tools/print_expr.o \
    $(filter-out $(B)/gen/families.o,$(LIB_OBJ))
	$(call link)
FAMILIES ?= $(B)/tools/families
$(B)/gen/families.c: $(FAMILIES) $(TEMPLATES)
	$(call generate,$<)

# The program without the templates that are compiled in: it reads those of two folders.
RESTAMP := $(B)/tools/restamp
$(RESTAMP): $(patsubst %,$(B)/tools/%.o,restamp starts stamp made kernel cubin exported tree) \
    $(filter-out $(B)/core/embed.o $(B)/gen/templates.o $(B)/gen/families.o $(B)/tuner/cmd/main.o,\
        $(LIB_OBJ) $(PROG_OBJ))
	$(call link,$(PROG_LIBS))

# Rewritten only when what they say changes: other flags rebuild the objects, a file that came
# or went rebuilds the archives and the embedded texts. -Werror changes no object.
quote    = '$(subst ','\'',$1)'
remember = @mkdir -p $(@D) && echo $(quote) | cmp -s - $@ || echo $(quote) >$@
$(B)/flags: FORCE
	$(call remember,$(CC) $(filter-out -Werror,$(ALL_CFLAGS)) $(LDFLAGS))
$(B)/sources: FORCE
	$(call remember,$(sort $(TEST_OBJ) $(SHIM_OBJ) $(TEMPLATES) $(PUBLISHED) $(DEVICES) $(SEEDS) $(PAGE) $(KERNELS) $(EMITTED) $(SCHEMA)))
# Only this object knows it, so a commit costs one object and a link.
$(B)/revision: FORCE
	$(call remember,$(REVISION))
$(B)/tuner/cmd/main.o: $(B)/revision
$(B)/tuner/cmd/main.o: FILE_CFLAGS = $(if $(REVISION),-DGT_REVISION='"$(REVISION)"')
FORCE:

-include $(patsubst %.o,%.d,$(wildcard $(B)/*/*.o $(B)/*/*/*.o $(B)/*/*/*/*.o))

# ---- tests ----------------------------------------------------------------------------------

# These walk through every point at which memory may run out.
$(patsubst %.c,$(B)/%,$(shell grep -l '^#include "tests/unit/short_of_memory.h"' tests/unit/test_*.c)): \
    private override LDFLAGS += \
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# This one has what the device would find in memory.
$(B)/tests/unit/test_witness: private override LDFLAGS += \
    $(patsubst %,-Wl$(comma)--wrap=gt_%,checker_spoil checker_witness checker_stain fused_spoil fused_allows fused_second)

# It counts how often the source of a kernel is made.
$(B)/tests/unit/test_plan_prepare: private override LDFLAGS += -Wl,--wrap=gt_source_of

$(B)/tests/%: $(B)/tests/%.o $(B)/libgt-test.a
	$(call link,$(CMOCKA) $(PROG_LIBS))
$(THREADED): $(B)/%: $(B)/%.o $(B)/libgt-threads.a
	$(call link,$(CMOCKA) $(PROG_LIBS))

$(B)/tests/device/cu%_header_check.o: FILE_CFLAGS = -isystem $(CUDA_HOME)/include

# tests/fake/lib*.c: stand-ins for libraries that are opened at run time.
$(B)/tests/fake/lib%.so: $(B)/tests/fake/lib%.o
	$(call link,-shared)
$(B)/tests/fake/libcuda.so: $(patsubst %.c,$(B)/%.o,$(wildcard tests/fake/cuda/*.c)) $(PTX_OBJ)
	$(call link,-shared)
$(B)/tests/fake/libopencl_ptx.so: $(patsubst %.c,$(B)/%.o,$(wildcard tests/fake/opencl/*.c)) $(PTX_OBJ)
	$(call link,-shared)
$(B)/tests/fake/opencl/%.o: FILE_CFLAGS = -Wno-unused-parameter -fvisibility=default
# The interpreter of PTX has loops over large tiles, and rounds as the kernel says.
$(B)/tests/ptx/%.o: FILE_CFLAGS = $(fast) -frounding-math
# Other tests do without the interpreter, which takes long to compile.
$(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_ptx*.c)): $(PTX_OBJ)
$(addprefix $(B)/tests/unit/test_shim_,handle fork original): $(SHIM_OBJ)
$(B)/tests/unit/test_shim_original.o: FILE_CFLAGS = -D_GNU_SOURCE
$(B)/tests/unit/test_shim_original: | $(B)/tests/fake/blas13/libcublas.so.13
$(B)/tests/fake/lib%.o: FILE_CFLAGS = -Wno-unused-parameter -fvisibility=default

# The shim beside a libgemmtune that knows times of the vendor's: tests/fake/gemmtune/rival.c.
FIRST_DEFINITION := -Wl,-z,muldefs
FAKE_GEMMTUNE := $(addprefix $(B)/tests/fake/gemmtune/,libgemmtune.so.$(SOVERSION) libgemmtune-blas.so)
$(B)/tests/fake/gemmtune/libgemmtune.so.$(SOVERSION): $(B)/tests/fake/gemmtune/rival.o $(LIB_OBJ) tools/exports.map
	$(call link,$(SO_LDFLAGS) $(FIRST_DEFINITION))
$(B)/tests/fake/gemmtune/libgemmtune-blas.so: $(B)/libgemmtune-blas.so
	$(Q)ln -sf ../../../$(<F) $@

# The shim beside a libgemmtune with plans of two passes.
FAKE_PLANS := $(addprefix $(B)/tests/fake/plans/,libgemmtune.so.$(SOVERSION) libgemmtune-blas.so)
$(B)/tests/fake/plans/libgemmtune.so.$(SOVERSION): $(B)/tests/fake/plans/plans.o tools/exports.map
	$(call link,$(SO_LDFLAGS))
$(B)/tests/fake/plans/libgemmtune-blas.so: $(B)/libgemmtune-blas.so
	$(Q)ln -sf ../../../$(<F) $@

# Programs that find cuBLAS in different ways: tests/shim/scene.h.
SHIM_CLIENTS := $(addprefix $(B)/tests/shim/,linked linked12 linked_now loader plugin.so plugin.so12 early.so)
SHIM_SCENE   := $(addprefix $(B)/tests/shim/,scene.o each.o orders.o process.o calls.o cuda.o linked.o direct.o)
$(B)/tests/shim/%.o: FILE_CFLAGS = -Wno-unused-parameter -D_GNU_SOURCE
define link_client
$(call say,LD,$@)
$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) $1 -o $@ $(filter %.o,$^) $(filter %/libcublas.so.12 %/libcublas.so.13,$^) \
    $(filter %/libcublasLt.so.12 %/libcublasLt.so.13,$^) $(if $(filter %.so.12 %.so.13,$^),-Wl$(comma)--disable-new-dtags \
    -Wl$(comma)-rpath$(comma)'$(abspath $(dir $(lastword $^)))') -ldl -lm -pthread
endef
$(B)/tests/shim/linked: $(B)/tests/shim/main_linked.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas13/,libcublas.so.13 libcublasLt.so.13)
	$(call link_client,-Wl$(comma)-z$(comma)lazy)
$(B)/tests/shim/linked12: $(B)/tests/shim/main_linked.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas12/,libcublas.so.12 libcublasLt.so.12)
	$(call link_client,-Wl$(comma)-z$(comma)lazy)
$(B)/tests/shim/linked_now: $(B)/tests/shim/main_linked.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas13/,libcublas.so.13 libcublasLt.so.13)
	$(call link_client,-Wl$(comma)-z$(comma)now)
$(B)/tests/shim/plugin.so: $(B)/tests/shim/plugin.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas13/,libcublas.so.13 libcublasLt.so.13)
	$(call link_client,-shared)
$(B)/tests/shim/early.so: $(B)/tests/shim/early.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas13/,libcublas.so.13 libcublasLt.so.13)
	$(call link_client,-shared)
$(B)/tests/shim/plugin.so12: $(B)/tests/shim/plugin.o $(SHIM_SCENE) $(addprefix $(B)/tests/fake/blas12/,libcublas.so.12 libcublasLt.so.12)
	$(call link_client,-shared)
$(B)/tests/shim/loader: $(addprefix $(B)/tests/shim/,loader.o scene.o each.o orders.o process.o calls.o cuda.o)
	$(call link_client)

# Stand-ins for cuBLAS and cublasLt that programs are linked with, of two releases, in a folder of each. ld.so is
# asked for the real names, and symbols have versions.
BLAS_SO := $(foreach n,12 13,$(addprefix $(B)/tests/fake/blas$n/,libcublas.so.$n libcublasLt.so.$n))
$(B)/tests/fake/blas12/%.o $(B)/tests/fake/blas13/%.o: \
    FILE_CFLAGS = -Wno-unused-parameter -fvisibility=default -DFAKE_BLAS_VERSION=$(if $(findstring blas12,$@),120900,130100)
$(B)/tests/fake/blas12/%.o: tests/fake/blas/%.c $(B)/flags
	$(call compile)
$(B)/tests/fake/blas13/%.o: tests/fake/blas/%.c $(B)/flags
	$(call compile)
$(B)/tests/fake/blas%.map: tests/fake/blas/blas.map tests/fake/blas/lt.map
	$(Q)mkdir -p $(@D) && sed 's/@N@/$(patsubst blas%,%,$(notdir $(@D)))/' tests/fake/blas/$(@F) >$@
define link_blas
$(call say,LD,$@)
$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,--version-script=$(filter %.map,$^) \
    -o $@ $(filter %.o %/libcublasLt.so.12 %/libcublasLt.so.13,$^) -lm -Wl,-rpath,'$$ORIGIN'
endef
$(B)/tests/fake/blas12/libcublas.so.12: $(addprefix $(B)/tests/fake/blas12/,blas.o product.o blas.map libcublasLt.so.12)
	$(call link_blas)
$(B)/tests/fake/blas13/libcublas.so.13: $(addprefix $(B)/tests/fake/blas13/,blas.o product.o blas.map libcublasLt.so.13)
	$(call link_blas)
$(B)/tests/fake/blas12/libcublasLt.so.12: $(addprefix $(B)/tests/fake/blas12/,lt.o product.o lt.map)
	$(call link_blas)
$(B)/tests/fake/blas13/libcublasLt.so.13: $(addprefix $(B)/tests/fake/blas13/,lt.o product.o lt.map)
	$(call link_blas)

$(B)/examples/%.o: FILE_CFLAGS = -Iinclude
$(B)/examples/%: $(B)/examples/%.o $(B)/libgemmtune.a
	$(call link,$(if $(findstring opencl,$*),-lOpenCL)$(if $(findstring cuda,$*),-L$(B)/tests/fake -lcuda))
examples: $(EXAMPLES)
	@:
# Examples with the toolkit's cuda.h, where that is, linked with the fake driver: for their test.
CUDA_EXAMPLES := $(if $(wildcard $(CUDA_HOME)/include/cuda.h),\
                     $(patsubst %.c,$(B)/%,$(wildcard examples/*_cuda.c)))
$(B)/examples/%_cuda.o: FILE_CFLAGS = -Iinclude -isystem $(CUDA_HOME)/include
$(CUDA_EXAMPLES): $(B)/tests/fake/libcuda.so

# tests/fuzz/fuzz_*.c without a fuzzer, for what is in tests/fuzz/corpus.
REPLAY := $(if $(filter %/replay.sh,$(UNIT)),$(patsubst tests/fuzz/fuzz_%.c,$(B)/tests/fuzz/replay_%,\
              $(wildcard tests/fuzz/fuzz_*.c)))
REPLAY += $(if $(REPLAY),$(B)/tests/fuzz/mutate_epilogue)
$(B)/tests/fuzz/replay_%.o: FILE_CFLAGS = -DGT_FUZZ_STANDALONE
$(B)/tests/fuzz/replay_%.o: tests/fuzz/fuzz_%.c $(B)/flags
	$(call compile)

# Programs that tests use.
GUARD := $(B)/tests/guard
$(GUARD): $(GUARD).o
	$(call link)
# The tools of tests without a device, and of the other tests.
FEW_TOOLS := $(GUARD) $(addprefix $(B)/tests/fake/,libcblas.so libopenblas.so)
TOOLS := $(FEW_TOOLS) $(RESTAMP) $(SHIM_CLIENTS) $(BLAS_SO) $(FAKE_GEMMTUNE) $(FAKE_PLANS) $(FAKE_SO) $(addprefix $(B)/tests/device/,each_family hard_data row_order) $(CUDA_EXAMPLES)

test-programs: $(filter $(B)/%,$(TESTS) $(LONG)) $(REPLAY) $(TOOLS)

RUN := GT_BUILD=$(B) GT_SAN=$(SAN) tests/run

# A name that no test of the kind has is a mistake.
some = $(if $(T),$(if $(strip $1),,$(error no test of this kind has a name of T='$(T)')))

check-unit: $(UNIT) $(REPLAY) $(FEW_TOOLS)
	$(call some,$(UNIT))@$(RUN) $(UNIT)
check-device: $(DEVICE) $(TOOLS)
	$(call some,$(DEVICE))@$(RUN) $(DEVICE)
check-tune: $(B)/gemmtune $(filter $(B)/%,$(TUNE)) $(EXAMPLES) $(TOOLS)
	$(call some,$(TUNE))@$(RUN) $(TUNE)
check-cli: all $(FEW_TOOLS)
	$(call some,$(CLI))@$(RUN) $(CLI)
check-python: all $(TOOLS)
	@tools/fetch-python $(B)
	$(call some,$(PYTHON))@$(RUN) $(PYTHON)
# The tests that need no device and little time: for sanitizers.
check-quick: all $(UNIT) $(REPLAY) $(FEW_TOOLS)
	@$(RUN) $(filter-out $(call marked,slow),$(CLI)) $(UNIT)
check-packages:
	@tools/setup build packages
	@$(MAKE) --no-print-directory $(jobs) $(if $(shell command -v dpkg),deb-parts) all $(GUARD)
	$(call some,$(PACKAGES))@$(RUN) $(PACKAGES)
check-threads: $(THREADED) $(GUARD)
	@$(RUN) $(THREADED)

# Compiles every family with the NVRTCs that tools/fetch-nvrtc brought, and runs what else skips
# tests where there is none; needs no GPU. The older one compiles what the newer one does not
# know any more.
NVRTC_TEST := $(call marked,nvrtc)
NVRTC_DIR  ?= build
nvrtc_of    = $(firstword $(wildcard $(NVRTC_DIR)/$1/nvidia/*/lib/libnvrtc.so.*))
check-nvrtc: $(NVRTC_TEST) $(GUARD) $(RESTAMP)
	$(if $(and $(call nvrtc_of,nvrtc12),$(call nvrtc_of,nvrtc13)),,$(error check-nvrtc: run \
	    tools/fetch-nvrtc first))
	@GEMMTUNE_LIBNVRTC=$(CURDIR)/$(call nvrtc_of,nvrtc13) GT_SHARE=$(GT_SHARE) \
	    $(RUN) $(NVRTC_TEST)
	$(if $(filter-out %.sh,$(NVRTC_TEST)),@GEMMTUNE_LIBNVRTC=$(CURDIR)/$(call nvrtc_of,nvrtc12) \
	    GT_SHARE=$(GT_SHARE) GT_NVRTC_BELOW=75 $(RUN) $(filter-out %.sh,$(NVRTC_TEST)))

# Intel's OpenCL for CPUs in place of PoCL: tools/fetch-opencl brings it.
PLATFORM_TESTS := $(call marked,platform)
check-platform: $(B)/gemmtune $(PLATFORM_TESTS) $(TOOLS)
	$(if $(wildcard $(B)/intel-opencl/vendors),,$(error check-platform: run tools/fetch-opencl first))
	@OCL_ICD_VENDORS=$(CURDIR)/$(B)/intel-opencl/vendors GEMMTUNE_LIBCUDA=/nowhere $(B)/gemmtune devices
	@OCL_ICD_VENDORS=$(CURDIR)/$(B)/intel-opencl/vendors $(RUN) $(PLATFORM_TESTS)

# Runs families that need CUDA, in software; built with optimisation. Its tests are the ones
# that skip themselves where no NVRTC is. The largest text comes first: it has the most to do.
PTX_TESTS = $(call pick,$(shell ls -S $$(grep -l '^use_software_gpu$$' tests/tune/*.sh)))
check-ptx: $(B)/gemmtune $(TOOLS) $(addprefix $(B)/tests/device/test_,pack odd_pointers one_call drawn fold)
	@FAKE_NVRTC_REAL=$(CURDIR)/$(call nvrtc_of,nvrtc13) GT_SHARE=$(GT_SHARE) $(RUN) $(PTX_TESTS)

# Coverage-guided: make fuzz CC=clang SAN=fuzzer-no-link,address, then, for as long as you let it,
# build-fuzzer-no-link,address/tests/fuzz/fuzz_NAME FOLDER tests/fuzz/corpus/NAME
FUZZ := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz: $(FUZZ)
$(B)/tests/fuzz/fuzz_%: CMOCKA = -fsanitize=fuzzer

# Epilogues made of others, the same ones for a SEED: make fuzz-epilogue CC=clang SAN=address,undefined
INPUTS ?= 1000000
SEED   ?= 1
fuzz-epilogue: $(B)/tests/fuzz/mutate_epilogue
	$< -n $(INPUTS) -s $(SEED) $(sort $(wildcard tests/fuzz/corpus/epilogue/*))

# Setting up comes before this file looks for compilers and libraries, so a second make does
# the rest, on every core unless -j says otherwise.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))

check:
	@tools/setup build device check
	@tools/fetch-python $(B)
	@$(MAKE) --no-print-directory $(jobs) check-all
check-all: all test-programs examples
	$(call some,$(TESTS))@$(RUN) tools/check-arrows tools/check-text $(TESTS)
check-long:
	@tools/setup build device check
	@tools/fetch-python $(B)
	@$(MAKE) --no-print-directory $(jobs) check-long-all
check-long-all: all test-programs
	$(call some,$(LONG))@GT_LONG=1 GT_SHARE=$(LONG_SHARE) $(RUN) $(LONG)

demo:
	@tools/setup build device
	@$(MAKE) --no-print-directory $(jobs) all
	$(B)/gemmtune tune --device 0 --sizes configs/demo.json --budget 30s --db $(B)/demo.db
	$(B)/gemmtune run f32-nn-512x512x512 --device 0 --db $(B)/demo.db
	@echo
	@echo "These results: $(B)/gemmtune list --db $(B)/demo.db"
	@echo "With more time: $(B)/gemmtune tune --device 0 --sizes configs/sweep.json"

# docs/man/gemmtune.1 out of gemmtune.1.in and the tables of options and columns.
man: $(B)/gemmtune
	$(B)/gemmtune man <docs/man/gemmtune.1.in >$(B)/gemmtune.1
	cp $(B)/gemmtune.1 docs/man/gemmtune.1

# Whatever follows from the results in docs/figures; tests/cli/figures.sh asks whether it is current.
figures: $(B)/gemmtune
	GEMMTUNE=$(CURDIR)/$(B)/gemmtune tools/figures

# tests/cli/abi.sh holds the library against this: recorded with each change that adds to the public
# header, and anew for a new minor version.
abi: $(B)/libgemmtune.so
	tools/abi $< >$(B)/abi.txt
	cp $(B)/abi.txt tests/data/abi.txt

restamp: $(RESTAMP)
	$(if $(OLD),,$(error make restamp OLD=REVISION: the templates of which revision?))@GT_BUILD=$(B) \
	    tools/restamp $(OLD) $(if $(WRITE),--write)

setup:
	@tools/setup build device check lint

# ---- reading --------------------------------------------------------------------------------

C_FILES := $(wildcard $(foreach d,include core core/* db runtime/* shim tuner/* tuner/emit/out tests tests/* \
    tests/fake/* examples examples/* tools python/native,$d/*.[ch]))
SCRIPTS := .ci/run tests/run $(filter-out %.map %.cu %.c %.h %.py %/packages %/clblast-seeds %/compare-torch %/gpu-row-order %/gpu-vary %/python-docs,$(wildcard tools/*)) $(wildcard tests/*/*.sh) \
    $(wildcard configs/slurm/*)
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)

# Warnings of cppcheck that are wrong more often than right: memory that a callee fills or
# keeps, a result chosen by ?:, `sizeof list.x / sizeof *list.x`. -Wall and the sanitizers find the real ones.
# readdir_r, which it recommends, is deprecated. cppcheck reads each file once, as gcc does on x86-64, instead of
# once for every choice of the names that headers ask for.
CPPCHECK_OFF := uninitvar memleak leakReturnValNotUsed nullPointerRedundantCheck \
                arrayIndexOutOfBounds readdirCalled missingIncludeSystem unmatchedSuppression
# There a function that a pointer leads to gets the address of a local struct, and returns another one.
CPPCHECK_OFF += returnDanglingLifetime:python/native/jax_call.c

lint:
	tools/check-arrows
	tools/check-text
	cppcheck --quiet --std=c11 --library=posix -I. -D__GNUC__ -D__x86_64__ -j$(shell getconf _NPROCESSORS_ONLN) \
	    --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	    $(CPPCHECK_OFF:%=--suppress=%) \
	    $(filter-out tests/%,$(filter %.c,$(C_FILES)))
	shellcheck -x $(SCRIPTS) tools/packages/make-deb
	mandoc -Tlint -Wwarning docs/man/gemmtune.1

format:
	@$(CLANG_FORMAT) -i $(C_FILES)
format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

# ---- shipping -------------------------------------------------------------------------------

# The files by which pkg-config and CMake find the library. CMake's paths are relative to its files.
CMAKEDIR   = $(LIBDIR)/cmake/gemmtune
from_cmake = $(shell realpath -ms --relative-to=$(CMAKEDIR) $1)
FOUND_BY  := $(addprefix $(B)/,gemmtune.pc gemmtune-config.cmake gemmtune-config-version.cmake)
define fill_in
@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
     -e 's|@TO_INCLUDE@|$(call from_cmake,$(INCLUDEDIR))|' -e 's|@TO_BIN@|$(call from_cmake,$(BINDIR))|' \
     -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' $< >$@
endef
$(B)/gemmtune.pc: gemmtune.pc.in FORCE
	$(fill_in)
$(B)/%.cmake: tools/packages/cmake/%.cmake.in FORCE
	$(fill_in)

# Data and examples have the paths that they have here.
DATA := $(wildcard configs/*.json configs/slurm/* devices/*/*)
DOCS := README.md LICENSE $(wildcard docs/*.md docs/*/*.md docs/*/*.svg docs/*.svg examples/*.[ch] examples/*/*.[ch] examples/CMakeLists.txt)
SO   := libgemmtune.so
# SOURCE:FOLDER of every file that is installed, links apart.
INSTALLED = $(B)/gemmtune:$(BINDIR) include/gemmtune.h:$(INCLUDEDIR) \
    $(B)/libgemmtune.a:$(LIBDIR) $(B)/$(SO).$(VERSION):$(LIBDIR) $(SHIMS:%=%:$(LIBDIR)) \
    $(B)/libgemmtune_jax.so:$(LIBDIR) $(B)/gemmtune.pc:$(LIBDIR)/pkgconfig \
    $(patsubst %,%:$(CMAKEDIR),$(filter %.cmake,$(FOUND_BY))) $(B)/completions/gemmtune:$(BASHDIR) \
    $(B)/completions/_gemmtune:$(ZSHDIR) $(B)/completions/gemmtune.fish:$(FISHDIR) docs/man/gemmtune.1:$(MANDIR)/man1 \
    $(foreach f,$(DATA),$f:$(DATADIR)/$(patsubst %/,%,$(dir $f))) \
    $(foreach f,$(DOCS),$f:$(DOCDIR)/$(patsubst %/,%,$(dir $f)))
INSTALLED_LINKS = $(LIBDIR)/$(SO).$(SOVERSION) $(LIBDIR)/$(SO)

install: all $(FOUND_BY)
	@set -e; for each in $(INSTALLED); do \
	    file=$${each%%:*} to="$(DESTDIR)$${each#*:}"; \
	    mode=644; [ ! -x "$$file" ] || mode=755; \
	    $(INSTALL) -d "$$to" && $(INSTALL) -m $$mode "$$file" "$$to"; \
	    echo "  $$to/$${file##*/}"; \
	done; \
	for link in $(INSTALLED_LINKS); do ln -sf $(SO).$(VERSION) "$(DESTDIR)$$link"; done

# Folders of its own go when they are empty.
uninstall:
	@for each in $(INSTALLED); do \
	    file=$${each%%:*} && rm -f "$(DESTDIR)$${each#*:}/$${file##*/}"; \
	done; \
	for link in $(INSTALLED_LINKS); do rm -f "$(DESTDIR)$$link"; done
	@rmdir "$(DESTDIR)$(CMAKEDIR)" 2>/dev/null || true
	@[ ! -d "$(DESTDIR)$(DATADIR)" ] || find "$(DESTDIR)$(DATADIR)" -depth -type d -empty -delete
	@[ ! -d "$(DESTDIR)$(DOCDIR)" ] || find "$(DESTDIR)$(DOCDIR)" -depth -type d -empty -delete

# The wheel of the Python package. SQLite and zlib are in its binaries; cJSON too, or else beside them.
# The name of its library has no version: no other one lies beside it. PyPI's ziglang links for glibc
# 2.28, so the wheel runs on every system of these years.
WHEELS    ?= $(B)/wheels
ZIG       := $(wildcard $(B)/zig/ziglang/zig)
WHEEL_CC   = $(if $(ZIG),$(ZIG) cc -target $(shell uname -m)-linux-gnu.2.28,$(CC))
# CROSS_ROOT: where packages of another processor lie.
found      = $(if $(CROSS_ROOT),$(wildcard $(CROSS_ROOT)/usr/lib/*/$1),$(filter /%,$(shell $(CC) -print-file-name=$1)))
WHEEL_LIBS = $(or $(call found,libsqlite3.a),-lsqlite3) \
             $(or $(call found,libcjson.a),$(call found,libcjson.so.1)) -ldl -lm
WHEEL      = $(B)/wheel/lib/libgemmtune.so $(B)/wheel/lib/libgemmtune_jax.so $(B)/wheel/bin/gemmtune \
             $(if $(call found,libcjson.a),,$(B)/wheel/lib/libcjson.so.1)
define link_wheel
$(call say,LD,$@)
$(Q)mkdir -p $(@D) && $(WHEEL_CC) -s -pthread -Wl,-z,relro -Wl,-z,now -o $@ $(filter %.o,$^) $1 $(WHEEL_LIBS)
endef
$(B)/wheel/lib/libgemmtune.so: $(LIB_OBJ) $(B)/sources tools/exports.map
	$(call link_wheel,$(patsubst %.$(SOVERSION),%,$(SO_LDFLAGS)) -Wl$(comma)-rpath$(comma)'$$ORIGIN')
$(B)/wheel/bin/gemmtune: $(PROG_OBJ) $(LIB_OBJ) $(B)/sources
	$(call link_wheel,-Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib' $(or $(call found,libz.a),-lz))
$(B)/wheel/lib/libgemmtune_jax.so: $(B)/python/native/jax_call.o $(B)/wheel/lib/libgemmtune.so
	$(call say,LD,$@)
	$(Q)$(WHEEL_CC) -s -pthread -shared -Wl,-z,relro -Wl,-z,now \
	    -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(@D) -lgemmtune
$(B)/wheel/lib/libcjson.so.1: $(call found,libcjson.so.1)
	$(Q)mkdir -p $(@D) && cp -L $< $@
wheel-parts: $(WHEEL)
wheel:
	@tools/setup build
	@tools/fetch-zig $(B)
	@rm -rf $(B)/wheel
	@$(MAKE) --no-print-directory $(jobs) wheel-parts
	@GEMMTUNE_WHEEL_BUILT=1 BUILD=$(B) python3 python/backend/gemmtune_build.py $(WHEELS)

# The Debian packages, of what is built, in build/debs.
deb:
	@tools/setup build packages
	@$(MAKE) --no-print-directory $(jobs) deb-parts
deb-parts: all
	+@CC='$(CC)' tools/packages/make-deb $(B) $(B)/debs

dist:
	git archive --format=tar.gz --prefix=gemmtune-$(VERSION)/ -o gemmtune-$(VERSION).tar.gz HEAD

clean:
	rm -rf build build-*
