/* What tells how sure a search is. */

/* A number so that falling ones rise, what is no number last, and below it the place, which keeps equal ones in order. */
static inline uint64_t key_of(float value, Py_ssize_t place) {
    uint32_t bits;
    value += 0.0f;  /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    bits = value != value ? UINT32_MAX : bits >> 31 ? bits : ~(bits | 0x80000000u);
    return (uint64_t)bits << 32 | (uint32_t)place;
}

/* Sort by merging runs; which of the two holds them in the end. */
static uint64_t *sorted(uint64_t *from, uint64_t *into, Py_ssize_t count) {
    for (Py_ssize_t run = 1; run < count; run *= 2) {
        for (Py_ssize_t start = 0; start < count; start += 2 * run) {
            Py_ssize_t middle = start + run < count ? start + run : count, stop = middle + run < count ? middle + run : count;
            Py_ssize_t a = start, b = middle, n = start;
            while (a < middle && b < stop) {
                int second = from[b] < from[a];
                into[n++] = second ? from[b] : from[a];
                a += !second;
                b += second;
            }
            while (a < middle) into[n++] = from[a++];
            while (b < stop) into[n++] = from[b++];
        }
        uint64_t *other = from;
        from = into;
        into = other;
    }
    return from;
}

/* ordered(values, rows): see `plain.ordered`. */
static PyObject *ordered(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    float *row[MOST], least[MOST], *values;
    Py_ssize_t count, rows, n, k;
    uint64_t *keys = NULL;
    PyObject *shown = NULL, *rest = NULL, *answer = NULL;
    Arrays all = {.count = 0};
    if (given != 2 || !PyList_Check(args[1]) || (rows = PyList_Size(args[1])) >= MOST) return misuse("ordered(values, rows)");
    if (!(values = array(&all, args[0], 4, 0, 0, &count))) goto done;
    for (k = 0; k < rows; k++) {
        PyObject *pair = PyList_GetItem(args[1], k);
        row[k] = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? array(&all, PyTuple_GetItem(pair, 0), 4, count, 0, NULL) : NULL;
        if (!row[k]) { misuse("a row is no row"); goto done; }
        least[k] = (float)PyFloat_AsDouble(PyTuple_GetItem(pair, 1));
    }
    shown = PyList_New(0);
    rest = PyList_New(0);
    if (!shown || !rest || !(keys = malloc((2 * count + 1) * sizeof(uint64_t)))) goto done;
    for (n = 0; n < count; n++) keys[n] = key_of(values[n], n);
    uint64_t *found = sorted(keys, keys + count, count);
    for (n = 0; n < count; n++) {
        Py_ssize_t place = (Py_ssize_t)(found[n] & UINT32_MAX);
        int low = rows > 0;
        for (k = 0; k < rows; k++) low &= row[k][place] < least[k];
        PyObject *at = PyLong_FromSsize_t(place);
        int failed = !at || PyList_Append(low ? rest : shown, at);
        Py_XDECREF(at);
        if (failed) goto done;
    }
    answer = Py_BuildValue("(OO)", shown, rest);
done:
    free(keys);
    Py_XDECREF(shown);
    Py_XDECREF(rest);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}

/* standing(row, part, order): see `plain.standing`. */
static PyObject *standing(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, wanted, place, n, at = 0;
    float top[5];
    double sum = 0;
    Arrays all = {.count = 0};
    if (given != 3 || !PyList_Check(args[2]) || !(wanted = PyList_Size(args[2]))) return misuse("standing(row, part, order)");
    float part = (float)PyFloat_AsDouble(args[1]);
    float *row = array(&all, args[0], 4, 1, 0, &count);
    for (n = 0; row && n < wanted; n++) {
        if (!number(PyList_GetItem(args[2], n), &place) || place >= count) { released(&all); return misuse("a place that no candidate has"); }
        sum += row[place] * part;
    }
    if (!row) { released(&all); return NULL; }
    for (n = 0; n < 5; n++) top[n] = -INFINITY;
    for (n = 0; n < count; n++) {
        Py_ssize_t k = 5;
        float value = row[n] * part;
        if (value > top[0]) at = n;
        while (k && value > top[k - 1]) k--;
        if (k < 5) {
            memmove(top + k + 1, top + k, (4 - k) * sizeof(float));
            top[k] = value;
        }
    }
    number(PyList_GetItem(args[2], 0), &place);
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
