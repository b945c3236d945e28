/* What tells how sure a search is. */

/* below(rows): see `plain.below`. */
static PyObject *below(PyObject *self, PyObject *rows) {
    float *row[MOST], least[MOST];
    Py_ssize_t count = 0, length, n, k;
    PyObject *found = NULL;
    Arrays all = {.count = 0};
    if (!PyList_Check(rows) || PyList_Size(rows) > MOST) return misuse("below(rows)");
    for (k = 0; k < PyList_Size(rows); k++) {
        PyObject *pair = PyList_GetItem(rows, k);
        row[k] = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? array(&all, PyTuple_GetItem(pair, 0), 4, count, 0, &length) : NULL;
        if (!row[k]) { released(&all); return misuse("a row is no row"); }
        least[k] = (float)PyFloat_AsDouble(PyTuple_GetItem(pair, 1));
        count = k ? count : length;
    }
    if ((found = PyList_New(count)))
        for (n = 0; n < count; n++) {
            int is = 1;
            for (k = 0; k < PyList_Size(rows); k++) is &= row[k][n] < least[k];
            PyList_SetItem(found, n, PyBool_FromLong(is));
        }
    released(&all);
    return found;
}

/* standing(row, order): see `plain.standing`. */
static PyObject *standing(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, wanted, place, n, at = 0;
    float top[5];
    double sum = 0;
    Arrays all = {.count = 0};
    if (given != 2 || !PyList_Check(args[1]) || !(wanted = PyList_Size(args[1]))) return misuse("standing(row, order)");
    float *row = array(&all, args[0], 4, 1, 0, &count);
    for (n = 0; row && n < wanted; n++) {
        if (!number(PyList_GetItem(args[1], n), &place) || place >= count) { released(&all); return misuse("a place that no candidate has"); }
        sum += row[place];
    }
    if (!row) { released(&all); return NULL; }
    for (n = 0; n < 5; n++) top[n] = -INFINITY;
    for (n = 0; n < count; n++) {
        Py_ssize_t k = 5;
        if (row[n] > top[0]) at = n;
        while (k && row[n] > top[k - 1]) k--;
        if (k < 5) {
            memmove(top + k + 1, top + k, (4 - k) * sizeof(float));
            top[k] = row[n];
        }
    }
    number(PyList_GetItem(args[1], 0), &place);
    released(&all);
    return Py_BuildValue("(ddddd)", sum / wanted, (double)top[0], (double)top[0] - top[count > 1 ? 1 : 0],
                         (double)top[0] - top[count < 5 ? count - 1 : 4], (double)(at == place));
}

/* odds(evidence, means, scales, weights, far): see `plain.odds`. */
static PyObject *odds(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, n;
    double sum = 0;
    Arrays all = {.count = 0};
    if (given != 5 || !PyList_Check(args[0])) return misuse("odds(evidence, means, scales, weights, far)");
    count = PyList_Size(args[0]);
    float *means = array(&all, args[1], 4, count, 0, NULL), *scales = means ? array(&all, args[2], 4, count, 0, NULL) : NULL;
    float *weights = scales ? array(&all, args[3], 4, count + 1, 0, NULL) : NULL, far = (float)PyFloat_AsDouble(args[4]);
    for (n = 0; weights && n < count; n++) {
        float one = ((float)PyFloat_AsDouble(PyList_GetItem(args[0], n)) - means[n]) * scales[n];
        sum += (double)(one > far ? far : one < -far ? -far : one) * weights[n];
    }
    if (weights) sum += weights[count];
    released(&all);
    return weights && !PyErr_Occurred() ? PyFloat_FromDouble(sum) : NULL;
}
