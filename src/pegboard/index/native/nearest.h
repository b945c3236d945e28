/* The tools worth ranking. */

#define COUNTS 128

/* Of each of `lanes` numbers, those that stand so far apart, the greatest. */
WIDE static void tops(float *into, const float *row, Py_ssize_t size, Py_ssize_t lanes) {
    memcpy(into, row, lanes * sizeof(float));
    for (row += lanes, size -= lanes; size >= lanes; row += lanes, size -= lanes)
        for (Py_ssize_t n = 0; n < lanes; n++) into[n] = row[n] > into[n] ? row[n] : into[n];
}

/* The number that is greater than all but `wanted` - 1, of a few (Hoare's selection). */
static float kth(float *all, Py_ssize_t count, Py_ssize_t wanted) {
    Py_ssize_t low = 0, high = count - 1, at = wanted - 1;
    while (low < high) {
        float a = all[low], b = all[(low + high) / 2], c = all[high];
        float middle = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        Py_ssize_t left = low, right = high;
        while (left <= right) {
            while (all[left] > middle) left++;
            while (all[right] < middle) right--;
            if (left <= right) {
                float kept = all[left];
                all[left++] = all[right];
                all[right--] = kept;
            }
        }
        if (at <= right) high = right; else if (at >= left) low = left; else break;
    }
    return all[at];
}

/* Which count a number belongs to; the lowest where it is none. */
static inline unsigned count_of(float value, float least, float scale) {
    unsigned found = (unsigned)(int)((value - least) * scale);
    return found < COUNTS ? found : 0;
}

/* The number that is greater than all but `wanted` - 1; the order of all is changed. Numbers are counted by how great
   they are, then those of one count are sorted: unlike a selection by comparing it branches on none. */
static float selected(float *all, Py_ssize_t count, Py_ssize_t wanted) {
    float least = all[0], most = all[0];
    for (Py_ssize_t n = 1; n < count; n++) {
        least = all[n] < least ? all[n] : least;
        most = all[n] > most ? all[n] : most;
    }
    float scale = (COUNTS - 1) / (most - least);
    if (!(scale < 1e30f)) return least;
    int32_t counts[COUNTS] = {0};
    for (Py_ssize_t n = 0; n < count; n++) counts[count_of(all[n], least, scale)]++;
    unsigned at = COUNTS - 1;
    for (; counts[at] < wanted; at--) wanted -= counts[at];
    Py_ssize_t kept = 0;
    for (Py_ssize_t n = 0; n < count; n++) {
        float value = all[n];
        all[kept] = value;
        kept += count_of(value, least, scale) == at;
    }
    return kth(all, kept, wanted);
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

/* What of a row is kept while its best are told from the rest: `size` of each. */
typedef struct {
    float *scores, *room;
    Py_ssize_t *places;
} Kept;

/* Mark the `count` greatest of those that reach `least`, and all that tie with the last of them. */
static void marked(uint8_t *marks, const float *row, Py_ssize_t size, Py_ssize_t count, float least, const Kept *all) {
    Py_ssize_t n = 0, kept = 0, lanes = 4 * count;
    float reach = least;
    if (count && size >= 2 * lanes) {
        tops(all->room, row, size, lanes);
        float most = selected(all->room, lanes, count);
        reach = most > least ? most : least;
    }
    while ((n = strip_with(row, n, size, reach)) < size)
        for (Py_ssize_t stop = n + STRIP < size ? n + STRIP : size; n < stop; n++) {
            all->scores[kept] = row[n];
            all->places[kept] = n;
            kept += row[n] >= reach;
        }
    if (count && kept > count) {
        memcpy(all->room, all->scores, kept * sizeof(float));
        reach = selected(all->room, kept, count);
    }
    for (n = 0; n < kept; n++) marks[all->places[n]] |= all->scores[n] >= reach;
}

/* nearest(scores, size, counts, least, named, found): see `plain.nearest`. */
static PyObject *nearest(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    Py_ssize_t size, rows, count, slot, n, kept = 0;
    PyObject *answer = NULL;
    uint8_t *marks = NULL;
    static const uint8_t none[STRIP];
    Kept room = {NULL, NULL, NULL};
    Arrays all = {.count = 0};
    if (given != 6 || !number(args[1], &size) || !PyTuple_Check(args[2]) || !PyList_Check(args[4]))
        return misuse("nearest(scores, size, counts, least, named, found)");
    rows = PyTuple_Size(args[2]);
    float *scores = array(&all, args[0], 4, rows * size, 0, NULL);
    float *least = scores ? array(&all, args[3], 4, rows, 0, NULL) : NULL;
    Py_ssize_t *found = least ? array(&all, args[5], sizeof(Py_ssize_t), size, 1, NULL) : NULL;
    if (!found || !(marks = calloc(size + 1, 1)) || !(room.scores = malloc((size + 1) * 2 * sizeof(float))) ||
        !(room.places = malloc((size + 1) * sizeof(Py_ssize_t)))) goto done;
    room.room = room.scores + size + 1;
    for (n = 0; n < rows; n++) {
        if (!number(PyTuple_GetItem(args[2], n), &count)) { misuse("a count is no number"); goto done; }
        marked(marks, scores + n * size, size, count, least[n], &room);
    }
    for (n = 0; n < PyList_Size(args[4]); n++) {
        if (!number(PyList_GetItem(args[4], n), &slot) || slot >= size) { misuse("a slot that no tool has"); goto done; }
        marks[slot] = 1;
    }
    for (n = 0; n < size; n += STRIP) {
        Py_ssize_t width = size - n < STRIP ? size - n : STRIP;
        if (memcmp(marks + n, none, width))
            for (slot = n; slot < n + width; slot++) {
                found[kept] = slot;
                kept += marks[slot];
            }
    }
    answer = PyLong_FromSsize_t(kept);
done:
    free(marks);
    free(room.scores);
    free(room.places);
    released(&all);
    if (!answer && !PyErr_Occurred()) PyErr_NoMemory();
    return answer;
}
