/* The tools worth ranking. */

/* A heap whose first is the least: `value` takes its place. */
static void replaced(float *heap, Py_ssize_t count, float value) {
    Py_ssize_t at = 0, next;
    while ((next = 2 * at + 1) < count) {
        if (next + 1 < count && heap[next + 1] < heap[next]) next++;
        if (heap[next] >= value) break;
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = value;
}

/* The first strip from `from` on with a number that reaches `least`. */
WIDE static Py_ssize_t strip_with(const float *row, Py_ssize_t from, Py_ssize_t size, float least) {
    for (; from + STRIP <= size; from += STRIP) {
        int found = 0;
        for (int k = 0; k < STRIP; k++) found |= row[from + k] >= least;
        if (found) break;
    }
    return from;
}

/* The last of the `count` greatest of those that reach `least`; `least` where there are fewer. */
static float floor_of(const float *row, Py_ssize_t size, Py_ssize_t count, float least, float *heap) {
    Py_ssize_t n = 0, filled = 0;
    float reach = least;
    while (count && (n = strip_with(row, n, size, reach)) < size)
        for (Py_ssize_t stop = n + STRIP < size ? n + STRIP : size; n < stop; n++) {
            if (row[n] < reach) continue;
            if (filled < count) {
                Py_ssize_t at = filled++;
                for (; at && heap[(at - 1) / 2] > row[n]; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
                heap[at] = row[n];
            } else replaced(heap, count, row[n]);
            if (filled == count) reach = heap[0];
        }
    return reach;
}

static void marked(uint8_t *marks, const float *row, float least, Py_ssize_t size) {
    Py_ssize_t n = 0;
    while ((n = strip_with(row, n, size, least)) < size)
        for (Py_ssize_t stop = n + STRIP < size ? n + STRIP : size; n < stop; n++) marks[n] |= row[n] >= least;
}

/* nearest(scores, size, counts, least, named, found): see `plain.nearest`. */
static PyObject *nearest(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t size, rows, count, slot, n, most = 1, kept = 0;
    PyObject *answer = NULL;
    uint8_t *marks = NULL;
    static const uint8_t none[STRIP];
    float *heap = NULL;
    Arrays all = {.count = 0};
    if (given != 6 || !number(args[1], &size) || !PyTuple_Check(args[2]) || !PyList_Check(args[4]))
        return misuse("nearest(scores, size, counts, least, named, found)");
    rows = PyTuple_Size(args[2]);
    float *scores = array(&all, args[0], 4, rows * size, 0, NULL);
    float *least = scores ? array(&all, args[3], 4, rows, 0, NULL) : NULL;
    Py_ssize_t *found = least ? array(&all, args[5], sizeof(Py_ssize_t), size, 1, NULL) : NULL;
    for (n = 0; n < rows; n++) {
        if (!number(PyTuple_GetItem(args[2], n), &count)) { misuse("a count is no number"); goto done; }
        most = count > most ? count : most;
    }
    if (!found || !(marks = calloc(size + 1, 1)) || !(heap = malloc(most * sizeof(float)))) goto done;
    for (n = 0; n < rows; n++) {
        number(PyTuple_GetItem(args[2], n), &count);
        marked(marks, scores + n * size, floor_of(scores + n * size, size, count, least[n], heap), size);
    }
    for (n = 0; n < PyList_Size(args[4]); n++) {
        if (!number(PyList_GetItem(args[4], n), &slot) || slot >= size) { misuse("a slot that no tool has"); goto done; }
        marks[slot] = 1;
    }
    for (n = 0; n < size; n += STRIP) {
        Py_ssize_t width = size - n < STRIP ? size - n : STRIP;
        if (memcmp(marks + n, none, width))
            for (slot = n; slot < n + width; slot++)
                if (marks[slot]) found[kept++] = slot;
    }
    answer = PyLong_FromSsize_t(kept);
done:
    free(marks);
    free(heap);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}
