/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_images.S - the compressed images of the kernels, as the file has them. */
    .section .rodata
    .globl gk_image_bytes
    .balign 16
gk_image_bytes:
    .incbin "gemmkit_images.bin"
    .byte 0
    .section .note.GNU-stack, "", %progbits
