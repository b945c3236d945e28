/* Arrays of numbers that Python hands over: their kinds and lengths are checked, since they may come from a stored file. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define WIDE
#endif
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define AVX2
#endif
#define ABREAST 16
#define MOST 32
#define LANES 8
#define STRIP 64

typedef struct {
    Py_buffer held[MOST];
    int count;
} Arrays;

static void released(Arrays *all) {
    while (all->count) PyBuffer_Release(&all->held[--all->count]);
}

/* The numbers of an array of `least` items or more, of `size` bytes each; NULL with an error set if it is another. */
static void *array(Arrays *all, PyObject *given, Py_ssize_t size, Py_ssize_t least, int writable, Py_ssize_t *length) {
    Py_buffer *seen = &all->held[all->count];
    if (PyObject_GetBuffer(given, seen, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0))) return NULL;
    all->count++;
    if (seen->itemsize != size || seen->len < least * size) {
        PyErr_Format(PyExc_ValueError, "an array of %zd items of %zd bytes: %zd of %zd are needed", seen->len / seen->itemsize,
                     seen->itemsize, least, size);
        return NULL;
    }
    if (length) *length = seen->len / size;
    return seen->buf ? seen->buf : (void *)"";
}

static int number(PyObject *given, Py_ssize_t *found) {
    *found = PyLong_AsSsize_t(given);
    return !(*found == -1 && PyErr_Occurred()) && *found >= 0;
}

static PyObject *misuse(const char *what) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, what);
    return NULL;
}
