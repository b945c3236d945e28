/* What is worked out for every tool at each request, compiled: the same numbers as `plain/`, to the last bit; what each
   function does stands there.

   Sums are added in the same order as in numpy, products of whole numbers below 2^24 are exact in any order, and the
   compiler may not fuse a multiplication with an addition (see `hatch_build.py`). */

#include "arrays.h"
#include "words.h"
#include "meaning.h"
#include "nearest.h"
#include "weighed.h"
#include "sure.h"

#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef functions[] = {
    {"close", (PyCFunction)(void (*)(void))close_words, METH_FASTCALL, NULL}, FAST(matched), FAST(held), FAST(summed), FAST(whole), FAST(compared), FAST(exact),
    {"spread", spread, METH_O, NULL}, FAST(nearest), FAST(weighed), FAST(fused),
    FAST(ordered), FAST(told), FAST(evidence), FAST(odds), FAST(chances), {NULL, NULL, 0, NULL},
};

/* What the sources were when this was compiled (`hatch_build.py`): of others, these are other functions. */
static int sources(PyObject *module) { return PyModule_AddIntConstant(module, "SOURCES", SOURCES); }

static PyModuleDef_Slot slots_of_module[] = {{Py_mod_exec, sources}, {0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, functions, slots_of_module, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&module); }
