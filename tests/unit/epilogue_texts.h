/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_texts.h - right texts of epilogues for problems of f32, and their canonical
 * texts. */
#ifndef GT_TESTS_UNIT_EPILOGUE_TEXTS_H
#define GT_TESTS_UNIT_EPILOGUE_TEXTS_H

static const struct {
    const char *text, *canonical;
} epilogue_texts[] = {
    {"d=x", "d=x"},
    {"d=((x))", "d=x"},
    {"d=x+(acc*c)", "d=x+acc*c"},
    {"d=(x+acc)+c", "d=x+acc+c"},
    {"d=x+(acc+c)", "d=x+(acc+c)"},
    {"d=x-(acc-c)", "d=x-(acc-c)"},
    {"d=(x*acc)/c", "d=x*acc/c"},
    {"d=x*(acc/c)", "d=x*(acc/c)"},
    {"d=-(x*acc)", "d=-(x*acc)"},
    {"d=(-x)*acc", "d=-x*acc"},
    {"d=x-(-acc)", "d=x--acc"},
    {"d=x--acc", "d=x--acc"},
    {"d=-(-x)", "d=--x"},
    {"d=((x>0)?(x):((0.10*x)))", "d=x>0?x:0.1*x"},
    {"d=x>0?x:(x<-1?-1:x)", "d=x>0?x:x<-1?-1:x"},
    {"d=(x>0?x:1)*2", "d=(x>0?x:1)*2"},
    {"d=x>=0?(x!=1?x:c):acc", "d=x>=0?x!=1?x:c:acc"},
    {"d=max((min(x,6.0)),00)", "d=max(min(x,6),0)"},
    {"d=x*1.50e1+1e-9", "d=x*15+1e-9"},
    {"d=x*1e+20", "d=x*1e20"},
    {"t=x*2;d=t/(1+exp(-t))", "t=x*2;d=t/(1+exp(-t))"},
    {"s:f32;d=f16(x*s)", "s:f32;d=f16(x*s)"},
    {"d2[i,j]:e4m3;d2=x;d=relu(x)", "d2[i,j]:e4m3;d2=x;d=relu(x)"},
    {"d2[i,j]:f32;d2=x;d=relu(x)", "d2=x;d=relu(x)"},
    {"relu", "relu"},
    {"d=relu(x)", "relu"},
    {"d=relu(acc)", "d=relu(acc)"},
    {"bias[j]:f32;d=relu(x+bias[j])", "bias_relu"},
    {"bias[j]:f32;bias_relu", "bias_relu"},
    {"bias[j]:bf16;bias_relu", "bias[j]:bf16;bias_relu"},
    {"b[j]:f32;d=relu(x+b[j])", "b[j]:f32;d=relu(x+b[j])"},
    {"bias[i]:f32;d=x+bias[i]", "row_bias"},
    {"scale_rows_scale_cols", "dequantise"},
    {"dequantise_bias_gelu_tanh_residual", "dequantise_bias_gelu_tanh_residual"},
    {"bias[j]:f32;dequantise_bias", "bias[j]:f32;sa[i]:f32;sb[j]:f32;dequantise_bias"},
    {"up[i,j]:f32;d=silu(x)*up[i,j]", "swiglu"},
    {"up[i,j]:f32;d=up[i,j]*silu(x)", "up[i,j]:f32;d=up[i,j]*silu(x)"},
    {"d=relu(x+bias[j])", "bias_relu"},
    {"d=silu(x)*up[i,j]", "swiglu"},
    {"s:f32;d=s*r[i,j]+b[j]*x+r[i,j]",
     "s:f32;r[i,j]:f32;b[j]:f32;d=s*r[i,j]+b[j]*x+r[i,j]"},
};

enum { EPILOGUE_TEXTS = sizeof epilogue_texts / sizeof *epilogue_texts };

#endif
