/* What the words of a request score. The lowest bit of a tool's fields is its name (`fields.Field`). */

/* What a term is matched by. */
typedef struct {
    double rarity;
    Py_ssize_t count;
    const int32_t *slots;
    const float *impacts;
    const uint8_t *fields;
} Row;

/* The arrays that the last row stands in: most rows of a request stand in the same. */
typedef struct {
    PyObject *posting;
    Arrays arrays;
    Py_ssize_t size;
    const int32_t *slots;
    const float *impacts;
    const uint8_t *fields;
} Held;

static int held_by(Held *held, PyObject *posting) {
    if (held->posting == posting) return 1;
    held->posting = NULL;
    released(&held->arrays);
    if (!PyTuple_Check(posting) || PyTuple_Size(posting) != 3) return 0;
    held->slots = array(&held->arrays, PyTuple_GetItem(posting, 0), 4, 0, 0, &held->size);
    held->impacts = held->slots ? array(&held->arrays, PyTuple_GetItem(posting, 1), 4, held->size, 0, NULL) : NULL;
    held->fields = held->impacts ? array(&held->arrays, PyTuple_GetItem(posting, 2), 1, held->size, 0, NULL) : NULL;
    held->posting = held->fields ? posting : NULL;
    return held->fields != NULL;
}

static int row_of(Held *held, PyObject *given, Row *row) {
    Py_ssize_t start, stop;
    if (!PyTuple_Check(given) || PyTuple_Size(given) != 4 || !held_by(held, PyTuple_GetItem(given, 1)) ||
        !number(PyTuple_GetItem(given, 2), &start) || !number(PyTuple_GetItem(given, 3), &stop) || start > stop || stop > held->size)
        return 0;
    row->rarity = PyFloat_AsDouble(PyTuple_GetItem(given, 0));
    row->count = stop - start;
    row->slots = held->slots + start;
    row->impacts = held->impacts + start;
    row->fields = held->fields + start;
    return !PyErr_Occurred();
}

static void added(double *into, uint8_t *names, const Row *row) {
    float rarity = (float)row->rarity;
    for (Py_ssize_t n = 0; n < row->count; n++) {
        float worth = row->impacts[n] * rarity;
        into[row->slots[n]] += worth;
        names[row->slots[n]] += row->fields[n] & 1;
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
    Held rows = {.posting = NULL};
    if (given != 6 || !PyList_Check(args[0]) || !PyList_Check(args[1]) || !number(args[2], &count) || !number(args[3], &size))
        return misuse("matched(rows, needs, count, size, scores, names)");
    parts = count < 2 ? 1 : count;
    float *scores = array(&out, args[4], 4, count < 2 ? size : (count + 1) * size, 1, NULL);
    uint8_t *names = scores ? array(&out, args[5], 1, size, 1, NULL) : NULL;
    if (!names || !(sums = calloc(parts * size + 1, sizeof(double)))) goto done;
    memset(names, 0, size);
    for (n = 0; n < PyList_Size(args[0]); n++) {
        Py_ssize_t need = 0;
        Row row;
        if (!row_of(&rows, PyList_GetItem(args[0], n), &row) || (count > 1 && (n >= PyList_Size(args[1]) ||
            !number(PyList_GetItem(args[1], n), &need) || need >= count))) { misuse("a row is no row"); goto done; }
        if (!within(row.slots, row.count, size)) { misuse("a slot that no tool has"); goto done; }
        added(sums + need * size, names, &row);
    }
    narrowed(count < 2 ? scores : scores + size, sums, parts * size);
    if (count > 1) memcpy(scores, scores + size, size * sizeof(float));
    for (k = 2; k <= count; k++) raised_by(scores, scores + k * size, size);
    found = PyLong_FromSsize_t(not_zero(scores, size));
done:
    free(sums);
    released(&rows.arrays);
    released(&out);
    if (!found && !PyErr_Occurred()) PyErr_NoMemory();
    return found;
}

/* The fields, one bit each, in which a row's term stands in the tool of a slot; -1 where the tool has it not. */
static int bits_of(const Row *row, Py_ssize_t slot) {
    Py_ssize_t low = 0, high = row->count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (row->slots[middle] < slot) low = middle + 1; else high = middle;
    }
    return low < row->count && row->slots[low] == slot ? row->fields[low] : -1;
}

/* held(rows, slot): see `plain.held`. */
static PyObject *held(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t slot, n;
    PyObject *found;
    Held rows = {.posting = NULL};
    Row row;
    if (given != 2 || !PyList_Check(args[0]) || !number(args[1], &slot)) return misuse("held(rows, slot)");
    if (!(found = PyList_New(0))) return NULL;
    for (n = 0; n < PyList_Size(args[0]); n++) {
        PyObject *pair = NULL;
        int sound = row_of(&rows, PyList_GetItem(args[0], n), &row), bits = sound ? bits_of(&row, slot) : -1;
        if (!sound || (bits >= 0 && (!(pair = Py_BuildValue("(ni)", n, bits)) || PyList_Append(found, pair)))) {
            misuse("a row is no row");
            Py_CLEAR(found);
        }
        Py_XDECREF(pair);
        if (!found) break;
    }
    released(&rows.arrays);
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
