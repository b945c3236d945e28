/* What the words of a request score. The lowest bit of a tool's fields is its name (`fields.Field`). */

static void added(double *into, uint8_t *names, const int32_t *slots, const float *impacts, const uint8_t *fields,
                  Py_ssize_t count, float rarity) {
    for (Py_ssize_t n = 0; n < count; n++) {
        float worth = impacts[n] * rarity;
        into[slots[n]] += worth;
        names[slots[n]] += fields[n] & 1;
    }
}

static int within(const int32_t *slots, Py_ssize_t count, Py_ssize_t size) {
    uint32_t most = 0;
    for (Py_ssize_t n = 0; n < count; n++) most = (uint32_t)slots[n] > most ? (uint32_t)slots[n] : most;
    return !count || most < (size_t)size;
}

WIDE static void narrowed(float *into, const double *sums, Py_ssize_t count) {
    for (Py_ssize_t n = 0; n < count; n++) into[n] = (float)sums[n];
}

WIDE static void raised_by(float *into, const float *more, Py_ssize_t count) {
    for (Py_ssize_t n = 0; n < count; n++) into[n] += more[n];
}

WIDE static Py_ssize_t not_zero(const float *row, Py_ssize_t count) {
    uint32_t found = 0;
    for (Py_ssize_t n = 0; n < count; n++) found += row[n] != 0;
    return found;
}

/* matched(rows, needs, count, size, scores, names): see `plain.matched`. */
static PyObject *matched(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, size, parts, n, k;
    PyObject *found = NULL;
    double *sums = NULL;
    Arrays out = {.count = 0};
    if (given != 6 || !PyList_Check(args[0]) || !PyList_Check(args[1]) || !number(args[2], &count) || !number(args[3], &size))
        return misuse("matched(rows, needs, count, size, scores, names)");
    parts = count < 2 ? 1 : count;
    float *scores = array(&out, args[4], 4, count < 2 ? size : (count + 1) * size, 1, NULL);
    uint8_t *names = scores ? array(&out, args[5], 1, size, 1, NULL) : NULL;
    if (!names || !(sums = calloc(parts * size + 1, sizeof(double)))) goto done;
    memset(names, 0, size);
    for (n = 0; n < PyList_Size(args[0]); n++) {
        PyObject *row = PyList_GetItem(args[0], n);
        Py_ssize_t held, need = 0;
        Arrays part = {.count = 0};
        if (!PyTuple_Check(row) || PyTuple_Size(row) != 4 || (count > 1 && (n >= PyList_Size(args[1]) ||
            !number(PyList_GetItem(args[1], n), &need) || need >= count))) { misuse("a row is no row"); goto done; }
        float rarity = (float)PyFloat_AsDouble(PyTuple_GetItem(row, 0));
        int32_t *slots = array(&part, PyTuple_GetItem(row, 1), 4, 0, 0, &held);
        float *impacts = slots ? array(&part, PyTuple_GetItem(row, 2), 4, held, 0, NULL) : NULL;
        uint8_t *fields = impacts ? array(&part, PyTuple_GetItem(row, 3), 1, held, 0, NULL) : NULL;
        int sound = fields && within(slots, held, size);
        if (sound) added(sums + need * size, names, slots, impacts, fields, held, rarity);
        released(&part);
        if (!sound) { misuse("a slot that no tool has"); goto done; }
    }
    narrowed(count < 2 ? scores : scores + size, sums, parts * size);
    if (count > 1) memcpy(scores, scores + size, size * sizeof(float));
    for (k = 2; k <= count; k++) raised_by(scores, scores + k * size, size);
    found = PyLong_FromSsize_t(not_zero(scores, size));
done:
    free(sums);
    released(&out);
    if (!found && !PyErr_Occurred()) PyErr_NoMemory();
    return found;
}

#define NO_ROW -2

/* The fields, one bit each, in which a row's term stands in the tool of a slot; -1 where the tool has it not. */
static int bits_of(PyObject *row, Py_ssize_t slot, double *rarity) {
    Py_ssize_t count;
    Arrays part = {.count = 0};
    int32_t *slots = PyTuple_Check(row) && PyTuple_Size(row) == 4 ? array(&part, PyTuple_GetItem(row, 1), 4, 0, 0, &count) : NULL;
    uint8_t *fields = slots ? array(&part, PyTuple_GetItem(row, 3), 1, count, 0, NULL) : NULL;
    Py_ssize_t low = 0, high = fields ? count : 0;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (slots[middle] < slot) low = middle + 1; else high = middle;
    }
    int bits = !fields ? NO_ROW : low < count && slots[low] == slot ? fields[low] : -1;
    if (fields) *rarity = PyFloat_AsDouble(PyTuple_GetItem(row, 0));
    released(&part);
    return bits;
}

/* held(rows, slot): see `plain.held`. */
static PyObject *held(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t slot, n;
    double rarity;
    PyObject *found;
    if (given != 2 || !PyList_Check(args[0]) || !number(args[1], &slot)) return misuse("held(rows, slot)");
    if (!(found = PyList_New(0))) return NULL;
    for (n = 0; n < PyList_Size(args[0]); n++) {
        PyObject *pair = NULL;
        int bits = bits_of(PyList_GetItem(args[0], n), slot, &rarity);
        if (bits == NO_ROW || (bits >= 0 && (!(pair = Py_BuildValue("(ni)", n, bits)) || PyList_Append(found, pair)))) {
            Py_XDECREF(pair);
            Py_DECREF(found);
            return misuse("a row is no row");
        }
        Py_XDECREF(pair);
    }
    return found;
}

/* Nothing where at most two letters are other ones. */
static inline uint64_t more_than_two(uint64_t apart) {
    apart &= apart - 1;
    return apart & (apart - 1);
}

/* The first strip from `from` on with a word that has the letters asked for, but for two. */
WIDE static Py_ssize_t strip_of(const uint64_t *letters, Py_ssize_t from, Py_ssize_t count, uint64_t asked) {
    for (; from + STRIP <= count; from += STRIP) {
        uint64_t found = 0;
        for (int k = 0; k < STRIP; k++) found |= more_than_two(letters[from + k] ^ asked) == 0;
        if (found) break;
    }
    return from;
}

/* Whether all letters of a word from `at` on are those of another from `there` on. */
static int same_from(PyObject *word, Py_ssize_t at, PyObject *other, Py_ssize_t there, Py_ssize_t length) {
    for (; at < length; at++, there++)
        if (PyUnicode_ReadChar(word, at) != PyUnicode_ReadChar(other, there)) return 0;
    return 1;
}

/* Whether one word becomes another by one letter more, less or other, or by two neighbours swapped. */
static int one_error(PyObject *word, PyObject *other) {
    Py_ssize_t mine = PyUnicode_GetLength(word), others = PyUnicode_GetLength(other), at = 0;
    while (at < mine && at < others && PyUnicode_ReadChar(word, at) == PyUnicode_ReadChar(other, at)) at++;
    if (at == mine || at == others) return mine - others <= 1 && others - mine <= 1;
    if (mine == others + 1) return same_from(word, at + 1, other, at, mine);
    if (mine + 1 == others) return same_from(word, at, other, at + 1, mine);
    return mine == others && (same_from(word, at + 1, other, at + 1, mine) ||
                              (at + 1 < mine && PyUnicode_ReadChar(word, at) == PyUnicode_ReadChar(other, at + 1) &&
                               PyUnicode_ReadChar(word, at + 1) == PyUnicode_ReadChar(other, at) &&
                               same_from(word, at + 2, other, at + 2, mine)));
}

/* close(words, letters, word, asked): see `plain.close`. */
static PyObject *close_words(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t count, n = 0;
    Arrays all = {.count = 0};
    if (given != 4 || !PyList_Check(args[0]) || !PyUnicode_Check(args[2])) return misuse("close(words, letters, word, asked)");
    uint64_t asked = PyLong_AsUnsignedLongLong(args[3]);
    uint64_t *letters = PyErr_Occurred() ? NULL : array(&all, args[1], 8, 0, 0, &count);
    PyObject *found = letters && PyList_Size(args[0]) >= count ? PyList_New(0) : misuse("there are fewer words than letters");
    while (found && (n = strip_of(letters, n, count, asked)) < count)
        for (Py_ssize_t stop = n + STRIP < count ? n + STRIP : count; found && n < stop; n++) {
            if (more_than_two(letters[n] ^ asked)) continue;
            PyObject *word = PyList_GetItem(args[0], n), *place;
            if (!PyUnicode_Check(word) || !one_error(args[2], word)) continue;
            place = PyLong_FromSsize_t(n);
            if (!place || PyList_Append(found, place)) Py_CLEAR(found);
            Py_XDECREF(place);
        }
    released(&all);
    return found;
}
